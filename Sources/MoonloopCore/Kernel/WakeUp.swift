// The wake-up of a loop: a word of state, and a descriptor that is written only if the loop sleeps.

internal import CLinuxShims
internal import Synchronization

/// Ends the sleep of one loop. Any thread, unless marked otherwise.
///
/// Only a sleeper costs a system call. The descriptor is registered edge-triggered in every poll
/// set and never read: one write is one event in each of them. A write that comes late, or that
/// another set has answered already, therefore shows once more in a later wait; `isNotified` tells
/// it apart. Order that makes a loss impossible: `wake` changes the state before it looks whether
/// to write, and the sleeper announces itself before it sleeps.
final class WakeUp: Sendable {
  private enum State {
    static let awake: UInt8 = 0
    static let notified: UInt8 = 1
    static let asleep: UInt8 = 2
  }

  let descriptor: Descriptor
  private let state = Atomic<UInt8>(State.awake)

  init() throws(SystemError) {
    descriptor = try SystemCall.eventfd.descriptor(cmx_eventfd())
  }

  /// Ends the present or next sleep; several are one.
  func wake() {
    let before = state.exchange(State.notified, ordering: .acquiringAndReleasing)
    if before == State.asleep { signal() }
  }

  /// Makes a sleeper look again, without ending its wait.
  func nudge() { signal() }

  /// Announces the sleep. Loop thread only.
  /// - Returns: false if there was a wake-up before; it is then used up.
  func beginSleep() -> Bool {
    let (isAsleep, _) = state.compareExchange(
      expected: State.awake, desired: State.asleep, ordering: .acquiringAndReleasing)
    if !isAsleep { state.store(State.awake, ordering: .releasing) }
    return isAsleep
  }

  /// Announces a sleep on behalf of a host, whatever there was before. Loop thread only.
  func announceSleep() { state.store(State.asleep, ordering: .sequentiallyConsistent) }

  /// Ends the announced sleep and uses up the wake-up, if there was one. Loop thread only.
  func endSleep() { _ = state.exchange(State.awake, ordering: .acquiringAndReleasing) }

  /// Whether there was a wake-up since the sleep was announced. Any thread.
  var isNotified: Bool { state.load(ordering: .acquiring) == State.notified }

  /// Uses up a wake-up without sleeping. Loop thread only.
  func forget() {
    if isNotified { _ = state.exchange(State.awake, ordering: .acquiringAndReleasing) }
  }

  private func signal() { cmx_eventfd_signal(descriptor.number) }
}
