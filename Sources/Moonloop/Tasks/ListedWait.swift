// A wait in a queue, first come first served: for channels and semaphores.

internal import LuaEmbed

/// A wait of one task in a list.
final class ListedWait: OtherWait {
  private let makePurpose: () -> String
  private let leaveList: () -> Void

  /// - Parameters:
  ///   - purpose: The text after "waits"; made on demand.
  ///   - leave: Removes it from its list, when it is given up.
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
  /// What a task in a list waits for has happened, and it was removed from the list: it goes on in
  /// the next pass.
  func answer(_ wait: ListedWait, _ values: TaskValues) {
    wait.values = values
    answer(wait)
  }
}
