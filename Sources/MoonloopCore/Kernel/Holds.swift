// Holds keep an idle loop from jumping ahead while input is on its way to it.

internal import Synchronization

/// The holds of one clock. Any thread.
///
/// A clock that jumps when idle cannot see what is still in flight: a child process that computes,
/// a reply of another thread. The code that knows about it holds the clock; the loop then really
/// waits.
package final class Holds: Sendable {
  private struct State {
    var names: [UInt64: String] = [:]
    var nextID: UInt64 = 0
    var whenReleased: (@Sendable () -> Void)?
  }

  private let state = Guarded(State())
  /// The number of open holds, to be read without the lock.
  private let count = Atomic<Int>(0)

  package init() {}

  /// Whether any hold is open.
  package var areOpen: Bool { count.load(ordering: .acquiring) != 0 }

  /// The names of the open holds, oldest first: what an idle loop is waiting for.
  package var names: [String] {
    state.withLock { state in state.names.sorted { $0.key < $1.key }.map(\.value) }
  }

  /// Opens a hold.
  /// - Parameter name: What is in flight, for `names`.
  package func open(_ name: String) -> Hold {
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      state.names[state.nextID] = name
      count.add(1, ordering: .acquiringAndReleasing)
      return state.nextID
    }
    return Hold(id: id, holds: self)
  }

  /// Sets what happens when the last hold is released: the kernel looks at its wait again.
  package func whenReleased(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.whenReleased = action }
  }

  fileprivate func release(_ id: UInt64) {
    let action = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.names.removeValue(forKey: id) != nil else { return nil }
      let left = count.subtract(1, ordering: .acquiringAndReleasing).newValue
      return left == 0 ? state.whenReleased : nil
    }
    action?()
  }
}

/// One hold on a clock; released by hand or with its last reference. Any thread.
package final class Hold: Sendable {
  private let id: UInt64
  private let holds: Holds

  fileprivate init(id: UInt64, holds: Holds) {
    self.id = id
    self.holds = holds
  }

  deinit { release() }

  /// Lets the clock jump again, if this was its last hold. Idempotent.
  package func release() { holds.release(id) }
}
