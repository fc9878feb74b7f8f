// What waits until scripts have memory for the messages of other processes.

internal import MoonloopCore

/// Attempts that are made again and again, in the order in which they began to wait: memory becomes
/// free without notice. One timer serves all. Hub thread only, hence unchecked.
final class RoomQueue: @unchecked Sendable {
  static let shared = RoomQueue()

  /// The time between two attempts.
  private static let patience = Duration.milliseconds(20)

  private var attempts: [() -> Bool] = []
  private var isScheduled = false

  /// - Parameter attempt: Whether it need not be made again.
  func wait(_ hub: Loop, for attempt: @escaping () -> Bool) {
    attempts.append(attempt)
    if !isScheduled { schedule(hub) }
  }

  private func schedule(_ hub: Loop) {
    isScheduled = true
    hub.schedule(after: Self.patience) { [self, weak hub] _ in
      let tried = attempts
      attempts = []
      let left = tried.filter { !$0() }
      attempts = left + attempts
      isScheduled = false
      if let hub, !attempts.isEmpty { schedule(hub) }
    }
  }
}
