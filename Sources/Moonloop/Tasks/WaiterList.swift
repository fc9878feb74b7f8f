// Who waits for a thing, first come first served: for channels and semaphores.

internal import LuaEmbed

/// A wait of one task in a list.
final class ListedWait: OtherWait {
  private let makePurpose: () -> String
  private let leaveList: () -> Void

  /// - Parameters:
  ///   - purpose: What follows "waits"; made when somebody asks.
  ///   - leave: Takes it out of its list, when it is given up.
  init(_ purpose: @escaping () -> String, leave: @escaping () -> Void) {
    makePurpose = purpose
    leaveList = leave
    super.init(what: "", abandon: {})
  }

  /// The same in the words of others. (The compiler's own stub for it would be a warning.)
  override init(what: String, abandon: @escaping () -> Void) {
    makePurpose = { "for \(what)" }
    leaveList = abandon
    super.init(what: what, abandon: abandon)
  }

  override var purpose: String { makePurpose() }
  override var isFinal: Bool { true }
  override func abandon() { leaveList() }
}

extension Tasks {
  /// What a task waits for in a list, out of which it was taken, has come: it goes on in the next
  /// pass.
  func answer(_ wait: ListedWait, _ values: TaskValues) {
    wait.values = values
    guard let task = wait.waiter else { return }
    wait.waiter = nil
    makeReady(task, .answer)
  }
}

/// Waits in the order in which they began; those that were given up leave a gap. Loop thread only.
struct WaiterList<Waiter> {
  private var waits: [(number: Int64, waiter: Waiter?)] = []
  private var first = 0
  private var nextNumber: Int64 = 1
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// - Returns: The number of the wait, which is never used again.
  mutating func append(_ waiter: Waiter) -> Int64 {
    let number = nextNumber
    nextNumber += 1
    waits.append((number, waiter))
    count += 1
    return number
  }

  /// Takes out who has waited longest.
  mutating func takeFirst() -> Waiter? {
    while first < waits.count {
      let waiter = waits[first].waiter
      waits[first].waiter = nil
      first += 1
      guard let waiter else { continue }
      count -= 1
      compact()
      return waiter
    }
    return nil
  }

  /// Takes out one that was given up; the numbers are in order.
  mutating func remove(_ number: Int64) {
    var (low, high) = (first, waits.count)
    while low < high {
      let middle = (low + high) / 2
      if waits[middle].number < number { low = middle + 1 } else { high = middle }
    }
    guard low < waits.count, waits[low].number == number, waits[low].waiter != nil else { return }
    waits[low].waiter = nil
    count -= 1
    compact()
  }

  private mutating func compact() {
    if count == 0 {
      waits = []
      first = 0
    } else if waits.count > 32 && count * 2 < waits.count {
      waits = waits[first...].filter { $0.waiter != nil }
      first = 0
    }
  }
}
