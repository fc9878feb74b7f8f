// The trace of one scenario: entries in the order in which any thread made them.

import Synchronization

package final class Trace: Sendable {
  private struct State {
    var entries: [String] = []
    var isClosed = false
  }
  private let state = Mutex(State())

  package init() {}

  package func add(_ entry: String) {
    state.withLock { state in
      if !state.isClosed { state.entries.append(entry) }
    }
  }

  /// Ends the trace: threads that are still at work add no more entries.
  /// - Returns: All entries; nil if the trace was closed before.
  package func close(adding last: String? = nil) -> [String]? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.isClosed = true
      if let last { state.entries.append(last) }
      return state.entries
    }
  }
}

extension Trace {
  /// A time as entries show it: in milliseconds, rounded down to a whole 100, with 5 ms of grace.
  package static func slot(nanoseconds: Int64) -> Int64 {
    let shifted = nanoseconds + 5_000_000
    let slot: Int64 = 100_000_000
    // Rounds towards minus infinity, for dates before time 0.
    return (shifted >= 0 ? shifted / slot : -((-shifted + slot - 1) / slot)) * 100
  }
}
