// The six moments of a run at which observers can be called.

/// Moments of a run. Counterpart: `CFRunLoopActivity`, with the same values.
public struct Activity: OptionSet, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The run begins; once for each run (R23).
  public static let entry = Activity(rawValue: 1 << 0)
  /// A pass begins; in every pass, also without timers (R25).
  public static let beforeTimers = Activity(rawValue: 1 << 1)
  /// Sources are about to be looked at; in every pass (R25).
  public static let beforeSources = Activity(rawValue: 1 << 2)
  /// The loop is about to sleep; only in passes that may sleep (R26).
  public static let beforeWaiting = Activity(rawValue: 1 << 5)
  /// The sleep has ended, and what ended it has not been served yet.
  public static let afterWaiting = Activity(rawValue: 1 << 6)
  /// The run ends; once for each run (R23).
  public static let exit = Activity(rawValue: 1 << 7)
  /// All six activities.
  public static let all: Activity = [
    .entry, .beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting, .exit,
  ]

  /// The activities with their names, in the order of a run.
  public static let named: [(name: String, activity: Activity)] = [
    ("entry", .entry), ("beforeTimers", .beforeTimers), ("beforeSources", .beforeSources),
    ("beforeWaiting", .beforeWaiting), ("afterWaiting", .afterWaiting), ("exit", .exit),
  ]

  public var description: String {
    Activity.named.filter { contains($0.activity) }.map(\.name).joined(separator: "|")
  }
}
