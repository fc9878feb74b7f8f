// `--trace`: writes a line to standard error for each stage and call-out of the loop.

internal import Glibc
internal import Moonloop

/// Writes lines such as
///
///       0.500021  default  after_waiting
///       0.500160  default    timer 'beat'  0.131 ms
final class TraceWriter {
  private let loop: Loop
  /// In a replay no time is known before the script asks for it.
  private lazy var begin = Intake.aside { loop.now }
  private let hasColours: Bool

  init(_ loop: Loop) {
    self.loop = loop
    hasColours = Self.wantsColours
  }

  var watcher: TraceWatcher {
    TraceWatcher(wantsNames: true, looksOn: true) { self.write($0) }
  }

  private static var wantsColours: Bool {
    if let noColour = getenv("NO_COLOR"), noColour[0] != 0 { return false }
    if let terminal = getenv("TERM"), strcmp(terminal, "dumb") == 0 { return false }
    return isatty(2) == 1
  }

  private func write(_ event: TraceEvent) {
    switch event {
    case .run(let begins, let mode, let depth):
      let nested = depth > 1 ? " (depth \(depth))" : ""
      line(mode, coloured("run \(begins ? "begins" : "ends")\(nested)", 1))
    case .activity(let activity, let mode):
      line(mode, coloured(name(of: activity), 2))
    case .calloutBegins: break  // written when its duration is known
    case .callout(let kind, let name, let mode, let nanoseconds):
      let named = name.isEmpty ? kind.rawValue : "\(kind.rawValue) '\(name)'"
      line(mode, "  \(coloured(named, 36))  \(fixed(nanoseconds, 1_000_000, 3)) ms")
    }
  }

  /// The activity's name in scripts.
  private func name(of activity: Activity) -> String {
    switch activity {
    case .entry: "entry"
    case .beforeTimers: "before_timers"
    case .beforeSources: "before_sources"
    case .beforeWaiting: "before_waiting"
    case .afterWaiting: "after_waiting"
    default: "exit"
    }
  }

  private func line(_ mode: ModeName, _ text: String) {
    let time = fixed(
      begin.duration(to: Intake.aside { loop.now }).loopNanoseconds, 1_000_000_000, 6)
    let gap = String(repeating: " ", count: max(0, 12 - time.utf8.count))
    writeToStandardError("\(gap)\(time)  \(mode)  \(text)")
  }

  private func coloured(_ text: String, _ code: Int) -> String {
    hasColours ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }

  /// Nanoseconds in another unit with this many decimals, truncated.
  private func fixed(_ nanoseconds: Int64, _ unit: Int64, _ decimals: Int) -> String {
    var fraction = "\(nanoseconds % unit)"
    let width = "\(unit)".utf8.count - 1
    fraction = String(repeating: "0", count: width - fraction.utf8.count) + fraction
    return "\(nanoseconds / unit).\(fraction.prefix(decimals))"
  }
}
