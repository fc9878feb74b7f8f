// When a timer fires next: pure arithmetic on dates.

/// The dates of a repeating timer lie on a grid; this finds the next one (R71, R72).
package enum TimerSchedule {
  /// The first grid point later than a moment, and how many grid points were passed over.
  ///
  /// - Parameters:
  ///   - date: A point of the grid, the date of the fire that is over.
  ///   - interval: The distance of the points, > 0.
  ///   - moment: The time that the result must be later than.
  /// - Returns: The next date, and how many points lie after `date` up to `moment`.
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
    let (late, overflow) = moment.subtractingReportingOverflow(next)
    if overflow || next == .max { return (.max, 0) }
    let missed = late / interval + 1
    let (distance, tooFar) = missed.multipliedReportingOverflow(by: interval)
    return (tooFar ? .max : saturatingDate(next, after: distance), missed)
  }

  /// How many grid points lie after a due date up to now: the fires that are coalesced into one.
  @inline(__always)
  package static func missed(since date: Int64, interval: Int64, at moment: Int64) -> Int64 {
    if interval <= 0 { return 0 }
    let (late, overflow) = moment.subtractingReportingOverflow(date)
    if overflow || late < interval { return 0 }
    return late / interval
  }
}
