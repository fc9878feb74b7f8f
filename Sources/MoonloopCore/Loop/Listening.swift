// A loop that gets many posts from other threads listens a few microseconds before it sleeps: to
// fall asleep and be woken costs both threads more than that.

internal import CLinuxShims
internal import Synchronization

/// Whether listening has paid lately. Loop thread only.
struct Listening {
  /// The longest that a loop listens, in nanoseconds: about what a sleep and a wake-up cost.
  static let longest: Int64 = 5000

  /// Grows when something came in time, shrinks when nothing did.
  private var credit = 0
  /// Sleeps without listening since the last that listened.
  private var sleeps = 0

  /// Whether to listen before this sleep: if it has paid off lately; otherwise now and then, to
  /// find out.
  mutating func begins() -> Bool {
    if credit > 0 { return true }
    sleeps &+= 1
    return sleeps & 15 == 0
  }

  mutating func ended(hearing: Bool) { credit = hearing ? min(credit + 2, 16) : max(credit - 1, 0) }

  /// The last sleep was ended by another thread's post.
  var hasHeard = false
}

extension Loop {
  /// Waits a moment for posts of other threads, where that has been worth it lately: only on the
  /// machine's clock, with another processor, and after a sleep that such a post ended.
  /// - Returns: Whether something has come, so that the loop need not sleep.
  func hearsBeforeSleep(until date: Int64) -> Bool {
    guard listening.hasHeard, clock.mode == .real, clock.runsByItself, !arrivals.hasIntake,
      cmx_has_processors(), clock.now() < date &- Listening.longest, listening.begins()
    else { return false }
    let end = cmx_monotonic() + Listening.longest
    var isHeard = !shared.inbox.isEmpty
    while !isHeard && cmx_monotonic() < end {
      cmx_relax()
      isHeard = !shared.inbox.isEmpty
    }
    listening.ended(hearing: isHeard)
    return isHeard
  }
}
