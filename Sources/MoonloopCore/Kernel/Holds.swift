// Holds keep an idle loop from jumping ahead while input is on its way to it.

internal import Synchronization

/// The holds of one clock. Any thread.
///
/// A clock that jumps when idle cannot see what is still in flight: a child process that computes,
/// a reply of another thread. The code that knows about it holds the clock; the loop then really
/// waits. What no run serves now does not count: the running mode would wait for it in vain.
package final class Holds: Sendable {
  /// Whether a run serves what is in flight.
  // Unchecked Sendable: called on the loop's thread alone; what it captures is weak.
  private final class Condition: @unchecked Sendable {
    let isServed: () -> Bool
    init(_ isServed: @escaping () -> Bool) { self.isServed = isServed }
  }

  private struct Entry {
    let name: String
    let condition: Condition?
    var counts = true
  }

  private struct State {
    var entries: [UInt64: Entry] = [:]
    var nextID: UInt64 = 0
    var whenReleased: (@Sendable () -> Void)?
  }

  private let state = Guarded(State())
  /// The number of open holds that count, to be read without the lock.
  private let count = Atomic<Int>(0)
  /// The number of those with a condition.
  private let conditions = Atomic<Int>(0)

  package init() {}

  /// Whether any hold is open that counts.
  package var areOpen: Bool { count.load(ordering: .acquiring) != 0 }

  /// The names of the open holds that count, oldest first: what an idle loop is waiting for.
  package var names: [String] {
    state.withLock { state in
      state.entries.filter(\.value.counts).sorted { $0.key < $1.key }.map(\.value.name)
    }
  }

  /// Opens a hold.
  /// - Parameters:
  ///   - name: What is in flight, for `names`.
  ///   - isServed: Whether the loop can serve it in its present run; nil: it always can. Called on
  ///     the loop's thread before each sleep; captures weakly.
  package func open(_ name: String, while isServed: (() -> Bool)? = nil) -> Hold {
    let condition = isServed.map(Condition.init)
    if condition != nil { conditions.add(1, ordering: .relaxed) }
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      state.entries[state.nextID] = Entry(name: name, condition: condition)
      count.add(1, ordering: .acquiringAndReleasing)
      return state.nextID
    }
    return Hold(id: id, holds: self)
  }

  /// Looks which holds count in the present run. Loop thread only.
  package func look() {
    if conditions.load(ordering: .relaxed) == 0 { return }
    // Asked without the lock: the answers are the loop's.
    let asked = state.withLock { state in state.entries.compactMapValues(\.condition) }
    let answers = asked.mapValues { $0.isServed() }
    state.withLock { state in
      for (id, isServed) in answers where state.entries[id].map({ $0.counts != isServed }) ?? false
      {
        state.entries[id]?.counts = isServed
        count.add(isServed ? 1 : -1, ordering: .acquiringAndReleasing)
      }
    }
  }

  /// Sets what happens when the last hold is released: the kernel looks at its wait again.
  package func whenReleased(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.whenReleased = action }
  }

  fileprivate func release(_ id: UInt64) {
    let action = state.withLock { state -> (@Sendable () -> Void)? in
      guard let entry = state.entries.removeValue(forKey: id) else { return nil }
      if entry.condition != nil { conditions.subtract(1, ordering: .relaxed) }
      if !entry.counts { return nil }
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
