// The modes of a loop: made at their first use, and never forgotten.

/// The modes in order of making, which is that of their indices. Loop thread only.
struct ModeList: Sequence {
  private var all: [Mode]
  /// The common ones, in the same order.
  private(set) var common: [Mode]
  private var indices: [ModeName: Int]

  init(_ first: Mode) {
    all = [first]
    common = []
    indices = [first.name: 0]
    noteCommon(first)
  }

  @inline(__always) var count: Int { all.count }

  @inline(__always)
  subscript(index: Int) -> Mode { all[index] }

  func makeIterator() -> IndexingIterator<[Mode]> { all.makeIterator() }

  func find(_ name: ModeName) -> Mode? { indices[name].map { all[$0] } }

  mutating func make(_ name: ModeName) -> Mode {
    let mode = Mode(name: name, index: all.count)
    indices[name] = mode.index
    all.append(mode)
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
  mutating func removeOthers() { all.removeLast(all.count - 1) }
}
