// Instants on a loop's clock, and the checked conversions between them and durations.

/// An instant on the clock of a loop.
///
/// The clock is monotonic, starts at an arbitrary value, and may run faster than the world's when
/// it is virtual. Instants of different loops on the system's clock compare well.
public struct LoopTime: Comparable, Hashable, Sendable, CustomStringConvertible {
  /// Nanoseconds on the loop's clock; `Int64.max` means never.
  public var nanoseconds: Int64

  /// An instant on the clock of a loop, in nanoseconds.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// An instant that never comes.
  public static let distantFuture = LoopTime(nanoseconds: .max)

  public static func < (left: LoopTime, right: LoopTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The instant that much later; never overflows, and the distant future stays as it is.
  public func advanced(by duration: Duration) -> LoopTime {
    LoopTime(nanoseconds: saturatingDate(nanoseconds, after: duration.loopNanoseconds))
  }

  /// How long it is from this instant to the other; negative if that is earlier.
  public func duration(to other: LoopTime) -> Duration {
    let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    if overflow { return .nanoseconds(other.nanoseconds > nanoseconds ? Int64.max : Int64.min) }
    return .nanoseconds(difference)
  }

  public var description: String {
    self == .distantFuture ? "never" : "\(Double(nanoseconds) / 1e9) s"
  }
}

extension Duration {
  /// The whole nanoseconds of a duration, clamped to what 64 bits hold.
  package var loopNanoseconds: Int64 {
    Int64(clamping: attoseconds / 1_000_000_000)  // `components` stops where the seconds are many
  }
}

/// The earliest date of a timer, 146 years before the clock began: no difference between two dates
/// leaves 64 bits.
private let earliestDate = Int64.min / 2

/// A date that is no earlier, on the same grid.
@inline(__always)
func notTooEarly(_ date: Int64, interval: Int64) -> Int64 {
  date >= earliestDate ? date : firstOfGrid(date, interval)
}

@inline(never)
private func firstOfGrid(_ date: Int64, _ interval: Int64) -> Int64 {
  let rest = interval > 0 ? (earliestDate - date) % interval : 0
  // A grid of 146 years and more has no other point before now.
  return rest == 0 || interval - rest > -earliestDate
    ? earliestDate
    : earliestDate + interval - rest
}

/// The date this many nanoseconds after another; stays within 64 bits, and never stays never.
@inline(__always)
package func saturatingDate(_ date: Int64, after nanoseconds: Int64) -> Int64 {
  if date == .max { return .max }
  let (sum, overflow) = date.addingReportingOverflow(nanoseconds)
  return overflow ? (nanoseconds > 0 ? .max : .min) : sum
}
