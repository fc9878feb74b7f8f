// When a timer fires next: pure arithmetic on dates.

/// The dates of a repeating timer are on a grid; this finds the next one (R71, R72).
package enum TimerSchedule {
  /// The first grid point later than a moment, and how many grid points were passed over.
  /// - Parameters:
  ///   - date: A point of the grid, the date of the fire that is over.
  ///   - interval: The distance of the points, > 0.
  ///   - moment: The time that the result must be later than.
  /// - Returns: The next date, and how many points there are after `date` up to `moment`.
  @inline(__always)
  package static func next(
    after date: Int64, interval: Int64, laterThan moment: Int64
  ) -> (date: Int64, missed: Int64) {
    let next = saturatingDate(date, after: interval)
    if next > moment { return (next, 0) }
    return skip(from: next, interval: interval, laterThan: moment)
  }

  @inline(never)
  private static func skip(
    from next: Int64, interval: Int64, laterThan moment: Int64
  ) -> (date: Int64, missed: Int64) {
    if next == .max { return (.max, 0) }
    // Unsigned: the distance of two dates may be more than a signed number holds.
    let late = UInt64(bitPattern: moment &- next)
    let missed = late / UInt64(interval) + 1
    let (distance, isTooFar) = missed.multipliedReportingOverflow(by: UInt64(interval))
    let room = UInt64(bitPattern: Int64.max &- next)
    let date = isTooFar || distance > room ? Int64.max : next &+ Int64(bitPattern: distance)
    return (date, Int64(clamping: missed))
  }

  /// How many grid points there are after a due date up to now: the fires that are coalesced into
  /// one.
  @inline(__always)
  package static func missed(since date: Int64, interval: Int64, at moment: Int64) -> Int64 {
    if interval <= 0 || moment < date { return 0 }
    let late = UInt64(bitPattern: moment &- date)
    return late < UInt64(interval) ? 0 : Int64(clamping: late / UInt64(interval))
  }
}
