// The modes of a loop: made at their first use, and never forgotten.

/// The modes in order of making, which is that of their indices. Loop thread only.
struct ModeList: Sequence {
  private var all: [Mode]
  /// The common ones, in the same order.
  private(set) var common: [Mode]
  /// Where each is, once they are too many to look through.
  private var indices: [ModeName: Int] = [:]
  private static let few = 8

  init(_ first: Mode) {
    all = [first]
    common = []
    noteCommon(first)
  }

  @inline(__always) var count: Int { all.count }

  @inline(__always)
  subscript(index: Int) -> Mode { all[index] }

  func makeIterator() -> IndexingIterator<[Mode]> { all.makeIterator() }

  func find(_ name: ModeName) -> Mode? {
    if indices.isEmpty { return all.first { $0.name == name } }
    return indices[name].map { all[$0] }
  }

  mutating func make(_ name: ModeName) -> Mode {
    let mode = Mode(name: name, index: all.count)
    all.append(mode)
    if all.count > Self.few {
      if indices.isEmpty { for mode in all { indices[mode.name] = mode.index } }
      indices[name] = mode.index
    }
    return mode
  }

  mutating func noteCommon(_ mode: Mode) {
    mode.isCommon = true
    var (low, high) = (0, common.count)
    while low < high {
      let middle = (low + high) / 2
      if common[middle].index < mode.index { low = middle + 1 } else { high = middle }
    }
    common.insert(mode, at: low)
  }

  /// The loop has ended: only the default mode can still be asked for.
  mutating func removeOthers() {
    all.removeLast(all.count - 1)
    indices = [:]
  }
}
