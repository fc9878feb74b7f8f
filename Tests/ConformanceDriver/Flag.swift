// How a thread of a scenario blocks: until a time or until another thread sets a flag.

import MoonloopCore
import Synchronization

/// A mark that one thread sets and others wait for.
final class Flag: Sendable {
  private struct State {
    var isSet = false
    /// The loops of the threads that wait.
    var waiting: [Loop] = []
  }
  private let state = Mutex(State())

  var isSet: Bool { state.withLock { $0.isSet } }

  func set() {
    let waiting = state.withLock { state in
      state.isSet = true
      return state.waiting
    }
    // An empty change: the loop looks again, and `block` finds the flag set.
    for loop in waiting { loop.change { _ in } }
  }

  func wait(on loop: Loop) { state.withLock { $0.waiting.append(loop) } }
}

extension Loop {
  /// Blocks the loop's thread until the time has come or the flag is set, whichever is first; nil
  /// means no time limit.
  ///
  /// Meanwhile changes that other threads make to the items of the loop take effect, as they do in
  /// Core Foundation; nothing else does.
  func block(until time: Int64?, _ flag: Flag? = nil) {
    flag?.wait(on: self)
    applyChanges(until: time ?? .max, or: { flag?.isSet ?? false })
  }
}
