// Follows what a loop does, for `loop:metrics` and `moonloop simulate`: sums and percentiles for
// each item; for a picture, counts in columns of equal time and each event of a window.

internal import LuaEmbed
internal import MoonloopCore

/// What is called, as far as its figures are one row: a word for its kind, and its name. Those that
/// were made at different places have a row each.
struct RecordedSubject: Hashable {
  let word: String
  let name: String
  var place = LuaPosition.nowhere
}

/// Takes the events of one loop. Loop thread only.
final class LoopRecorder {
  /// The figures of a row.
  struct Item {
    let kind: CalloutKind
    let subject: RecordedSubject
    var calls = 0
    var missed: Int64 = 0
    /// How late timers were called.
    var lateness = Histogram()
    /// Sleeps that ended for it.
    var wakeUps = 0
    /// Real time in its handler, without what that called through a nested run, or slept in one.
    var durations = Histogram()
    /// The last call that something else made late.
    var late: LateCall?
    /// Calls in each column.
    var columns: [Int32]
  }

  /// A call that was late, and what had the thread meanwhile.
  struct LateCall {
    let late: Int64
    let culprit: Int
    /// How long the call of that took.
    let duration: Int64
    let at: Int64
  }

  /// One run; runs of equal mode and depth that a picture could not tell apart are one.
  struct Run {
    let mode: String
    let depth: Int
    let begin: Int64
    var end: Int64
    var count = 1
  }

  /// An event of the window.
  struct Detail {
    enum What { case pass, sleep, callout, run }
    let what: What
    let item: Int
    let depth: Int
    let begin: Int64
    let end: Int64
    var late: Int64 = 0
    /// That of a nested run.
    var mode = ""
  }

  struct Options {
    var span: Int64
    var columns: Int
    var from: Int64
    var to: Int64
    var details: Int
  }

  private struct Frame {
    let mode: String
    let begin: Int64
    /// When the sleep that comes or goes on began.
    var sleep: Int64?
  }

  /// A call under way.
  struct Call {
    let kind: CalloutKind
    /// Its row; -1: not known yet.
    var item: Int
    let begin: Int64
    let late: Int64
    let missed: Int64
    let wakes: Bool
    let real: Int64
    /// Real time of the calls and sleeps inside.
    var inner: Int64 = 0
  }

  /// So many passes at one moment of virtual time mean that it stands still.
  private static let standingLimit = 200_000
  /// The most runs that are kept for the picture.
  private static let runLimit = 4000
  /// The most rows; all else is in one more.
  static let itemLimit = 1000
  /// A call that takes so long may be what makes others late.
  private static let longCall: Int64 = 1_000_000
  private static let longCallLimit = 32

  let options: Options
  private unowned let loop: Loop
  private let origin: Int64
  /// Says which row a call belongs to, by its kind and what is called; nil: its kind and name do.
  private let identify: ((CalloutKind, UInt64) -> Int?)?
  private(set) var items: [Item] = []
  private var indices: [RecordedSubject: Int] = [:]
  private(set) var runs: [Run] = []
  private(set) var details: [Detail] = []
  private(set) var passes = 0
  private(set) var wakeUps = 0
  /// What was called first after a sleep; the last: nothing was.
  private(set) var wakeUpCauses = [Int](repeating: 0, count: CalloutKind.allCases.count + 1)
  private(set) var slept: Int64 = 0
  private(set) var sleepColumns: [Int64]
  private(set) var passColumns: [Int32]
  /// Where the window ended because it was full.
  private(set) var detailsEnd: Int64?
  private(set) var standsStill = false

  private var frames: [Frame] = []
  private(set) var calls: [Call] = []
  /// A call that was under way when this began, until the pass goes on: its row, since when, less
  /// the calls inside, and how many runs were under way.
  private var early: (item: Int, real: Int64, depth: Int)?
  /// The last calls that took long; the next one takes the place at `longCallNext`.
  private var longCalls: [(item: Int, begin: Int64, end: Int64)] = []
  private var longCallNext = 0
  private var wasWoken = false
  private var standing = 0
  private var lastPass: Int64 = -1

  /// - Parameter identify: Gives the row of what is called, made by `row(of:_:)`.
  init(
    _ loop: Loop, _ options: Options, identify: ((CalloutKind, UInt64) -> Int?)? = nil
  ) {
    self.loop = loop
    self.options = options
    self.identify = identify
    origin = loop.clock.now()
    sleepColumns = Array(repeating: 0, count: options.columns)
    passColumns = Array(repeating: 0, count: options.columns)
    // The runs under way.
    let modes = [loop.currentMode].compactMap { $0 } + loop.outerModes
    frames = modes.reversed().map { Frame(mode: $0.rawValue, begin: 0) }
  }

  /// Nanoseconds since the beginning.
  var now: Int64 { loop.clock.now() - origin }
  /// Real time, when the loop's is `now`.
  private func real(_ now: Int64) -> Int64 {
    loop.clock.runsByItself ? now + origin : RealTime.monotonic
  }

  func take(_ event: TraceEvent) {
    if case .run(true, let mode, _) = event {
      frames.append(Frame(mode: mode.rawValue, begin: now))
      return
    }
    if let early, frames.count == early.depth { endEarly(early.item, early.real) }
    switch event {
    case .run(true, _, _): break
    case .run(false, _, _): endRun()
    case .activity(.beforeTimers, _): beginPass()
    case .activity(.beforeWaiting, _): beginSleep()
    case .activity(.afterWaiting, _): endSleep()
    case .activity: break
    case .calloutBegins(let kind, let name, _, let lateness, let missed, let subject, let at):
      beginCall(kind, name, subject, at - origin, lateness, missed)
    case .callout(_, _, _, let nanoseconds): endCall(nanoseconds)
    }
  }

  // MARK: Runs and passes

  private func endRun() {
    guard let frame = frames.popLast() else { return }
    noteWakeUp(nil)
    let end = now
    let depth = frames.count + 1
    let gap = options.span / 2000
    if depth > 1 { note(.run, begin: frame.begin, end, mode: frame.mode) }
    if let last = runs.lastIndex(where: { $0.depth <= depth }), runs[last].depth == depth,
      runs[last].mode == frame.mode, frame.begin - runs[last].end <= gap
    {
      runs[last].end = end
      runs[last].count += 1
    } else if runs.count < Self.runLimit {
      runs.append(Run(mode: frame.mode, depth: depth, begin: frame.begin, end: end))
    }
  }

  private func beginPass() {
    let now = now
    passes += 1
    if options.columns > 0 { passColumns[column(now)] += 1 }
    note(.pass, begin: now, now)
    standing = now == lastPass ? standing + 1 : 0
    lastPass = now
    if standing > Self.standingLimit {
      standsStill = true
      loop.stop()
    }
  }

  private func beginSleep() {
    noteWakeUp(nil)
    if !frames.isEmpty { frames[frames.count - 1].sleep = now }
  }

  private func endSleep() {
    guard let last = frames.indices.last, let begin = frames[last].sleep else { return }
    frames[last].sleep = nil
    let now = now
    if now == begin { return }
    wakeUps += 1
    wasWoken = true
    slept += now - begin
    // What is slept inside of a handler is not its own time; a jump takes none.
    if let outer = calls.indices.last, loop.clock.runsByItself { calls[outer].inner += now - begin }
    note(.sleep, begin: begin, now)
    if options.columns == 0 { return }
    let width = max(1, options.span / Int64(options.columns))
    for index in column(begin)...column(now) {
      let from = max(begin, Int64(index) * width)
      sleepColumns[index] += max(0, min(now, Int64(index + 1) * width) - from)
    }
  }

  /// Counts what the last sleep ended for.
  private func noteWakeUp(_ kind: CalloutKind?) {
    if !wasWoken { return }
    wasWoken = false
    wakeUpCauses[kind.map(Self.place) ?? CalloutKind.allCases.count] += 1
  }

  private static func place(of kind: CalloutKind) -> Int {
    CalloutKind.allCases.firstIndex(of: kind)!
  }

  // MARK: Call-outs

  /// This begins in the middle of a call.
  func begin(in subject: RecordedSubject, _ kind: CalloutKind, depth: Int) {
    early = (row(of: subject, kind), real(now), depth)
  }

  private func endEarly(_ item: Int, _ begin: Int64) {
    early = nil
    items[item].calls += 1
    items[item].durations.add(real(now) - begin)
  }

  /// The time of the calls that have not ended yet.
  func timeUnderWay(_ now: Int64) -> Int64 {
    let real = real(now)
    if let early { return real - early.real }
    return calls.first.map { first in calls.reduce(real - first.real) { $0 - $1.inner } } ?? 0
  }

  private func beginCall(
    _ kind: CalloutKind, _ name: String, _ subject: UInt64, _ now: Int64, _ late: Int64,
    _ missed: Int64
  ) {
    let wakes = wasWoken && kind != .observer
    if wakes { noteWakeUp(kind) }
    let item: Int
    if let identify {
      item = identify(kind, subject) ?? -1
    } else {
      item = row(of: RecordedSubject(word: kind.rawValue, name: name), kind)
    }
    if late >= Self.longCall && item >= 0 { findCulprit(item, late, now) }
    calls.append(
      Call(
        kind: kind, item: item, begin: now, late: late, missed: missed, wakes: wakes,
        real: real(now)))
  }

  /// For how long a call is under way, in real time, other calls and sleeps inside included.
  func time(of call: Call) -> Int64 { real(now) - call.real }

  /// The call under way turns out to be of a row.
  func nameCall(_ subject: @autoclosure () -> RecordedSubject) {
    guard let last = calls.indices.last, calls[last].item < 0 else { return }
    calls[last].item = row(of: subject(), calls[last].kind)
  }

  private func endCall(_ nanoseconds: Int64) {
    guard var call = calls.popLast() else { return }
    let end = call.begin + nanoseconds
    let real = real(end) - call.real
    if let outer = calls.indices.last { calls[outer].inner += real } else { early?.real += real }
    if call.item < 0 {
      call.item = row(of: RecordedSubject(word: call.kind.rawValue, name: ""), call.kind)
    }
    count(call, real - call.inner)
    if nanoseconds >= Self.longCall { noteLongCall(call.item, call.begin, end) }
    if options.details > 0 {
      note(.callout, item: call.item, begin: call.begin, end, late: call.late)
    }
    // An observer of the sleep has returned: only now does it begin.
    if call.kind == .observer, let last = frames.indices.last, frames[last].sleep != nil {
      frames[last].sleep = end
    }
  }

  private func count(_ call: Call, _ own: Int64) {
    items[call.item].calls += 1
    items[call.item].missed += call.missed
    if call.wakes { items[call.item].wakeUps += 1 }
    items[call.item].durations.add(own)
    if call.kind == .timer { items[call.item].lateness.add(call.late) }
    if options.columns > 0 { items[call.item].columns[column(call.begin)] += 1 }
  }

  /// The row of what is called.
  func row(of subject: RecordedSubject, _ kind: CalloutKind) -> Int {
    if let index = indices[subject] { return index }
    if identify != nil && items.count >= Self.itemLimit {
      let rest = RecordedSubject(word: "all others", name: "")
      if subject != rest { return row(of: rest, kind) }
    }
    indices[subject] = items.count
    items.append(
      Item(kind: kind, subject: subject, columns: Array(repeating: 0, count: options.columns)))
    return items.count - 1
  }

  /// The figures of a row, if there is one.
  func item(_ subject: RecordedSubject) -> Item? { indices[subject].map { items[$0] } }

  // MARK: What is late, and why

  private func noteLongCall(_ item: Int, _ begin: Int64, _ end: Int64) {
    if longCalls.count < Self.longCallLimit {
      longCalls.append((item, begin, end))
    } else {
      longCalls[longCallNext] = (item, begin, end)
      longCallNext = (longCallNext + 1) % Self.longCallLimit
    }
  }

  /// Finds the call that had the thread for most of the time that a timer was due.
  private func findCulprit(_ item: Int, _ late: Int64, _ now: Int64) {
    let due = now - late
    var most = late / 4
    for call in longCalls where call.end > due {
      let overlap = call.end - max(call.begin, due)
      if overlap <= most { continue }
      most = overlap
      items[item].late = LateCall(
        late: late, culprit: call.item, duration: call.end - call.begin, at: now)
    }
  }

  // MARK: The picture

  private func column(_ time: Int64) -> Int {
    let count = Int64(options.columns)
    let (product, overflows) = time.multipliedReportingOverflow(by: count)
    let index = overflows ? time / max(1, options.span / count) : product / max(1, options.span)
    return Int(min(count - 1, max(0, index)))
  }

  private func note(
    _ what: Detail.What, item: Int = -1, begin: Int64, _ end: Int64, late: Int64 = 0,
    mode: String = ""
  ) {
    guard end >= options.from, begin <= options.to, detailsEnd == nil else { return }
    if details.count >= options.details {
      if options.details > 0 { detailsEnd = end }
      return
    }
    details.append(
      Detail(
        what: what, item: item, depth: frames.count, begin: begin, end: end, late: late, mode: mode)
    )
  }
}
