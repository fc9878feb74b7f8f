// Follows a loop, for `loop:metrics` and `moonloop simulate`: sums and percentiles for
// each item; for a picture, counts in columns of equal time and each event of a window.

internal import LuaEmbed
internal import MoonloopCore

/// The things whose figures form one row: kind and name. Things made at different places have
/// separate rows.
struct RecordedSubject: Hashable {
  let word: String
  let name: String
  var place = LuaPosition.nowhere
}

/// Takes the events of one loop. Loop thread only.
final class LoopRecorder {
  /// One run; runs of equal mode and depth that a picture could not separate count as one.
  struct Run {
    let mode: String
    let depth: Int
    let begin: Int64
    var end: Int64
    var count = 1
  }

  /// An event of the window.
  struct Detail {
    enum What { case pass, sleep, callout, run, held }
    let what: What
    let item: Int
    let depth: Int
    let begin: Int64
    let end: Int64
    var late: Int64 = 0
    /// The row of a nested run.
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
    /// When the next or current sleep began.
    var sleep: Int64?
  }

  /// A call under way.
  struct Call {
    let kind: CalloutKind
    /// Its row; -1: not known yet.
    var item: Int
    let subject: UInt64
    let begin: Int64
    /// Nanoseconds after its date, held back or not.
    let delay: Int64
    let wait: TimerWait<Int>
    let wakes: Bool
    let real: Int64
    /// Real time of finished runs and calls inside.
    var inner: Int64 = 0
    /// In real time, since when a run or a call inside has occupied the thread.
    var away: Int64?
    /// How many runs contain it.
    let depth: Int
  }

  /// This many passes at one moment of virtual time mean that it stands still.
  private static let standingLimit = 200_000
  /// The maximum number of runs that are kept for the picture.
  private static let runLimit = 4000
  /// The maximum number of rows; everything else is in one more.
  static let itemLimit = 1000
  /// Shorter calls make no timer late, and are not reported for timers that were held back.
  static let longCall: Int64 = 1_000_000

  let options: Options
  private let loop: Loop
  private let origin: Int64
  /// Decides which row a call belongs to, by its kind and what is called; nil: by kind and name.
  private let identify: ((CalloutKind, UInt64) -> Int?)?
  private(set) var items: [Item] = []
  private var indices: [RecordedSubject: Int] = [:]
  private(set) var runs: [Run] = []
  private(set) var details: [Detail] = []
  private(set) var passes = 0
  private(set) var wakeUps = 0
  /// What was called first after a sleep; the last one: nothing was.
  private(set) var wakeUpCauses = [Int](repeating: 0, count: CalloutKind.allCases.count + 1)
  private(set) var slept: Int64 = 0
  private(set) var sleepColumns: [Int64]
  private(set) var passColumns: [Int32]
  /// Where the window ended because it was full.
  private(set) var detailsEnd: Int64?
  private(set) var standsStill = false

  private var frames: [Frame] = []
  private(set) var calls: [Call] = []
  /// A call that was under way at the start, until the pass goes on: its row, its start minus the
  /// runs inside, when such a run went on, and how many runs were under way.
  private var early: (item: Int, real: Int64, away: Int64?, depth: Int)?
  private let log: WaitLog<Int>
  private var wasWoken = false
  private var standing = 0
  private var lastPass: Int64 = -1

  /// - Parameter identify: Returns the row of what is called, made by `row(of:_:)`.
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
    log = WaitLog(loop)
  }

  /// Nanoseconds since the start.
  var now: Int64 { loop.clock.now() - origin }
  /// Real time, when the loop's time is `now`.
  private func real(_ now: Int64) -> Int64 {
    loop.clock.runsByItself ? now + origin : RealTime.monotonic
  }

  func take(_ event: TraceEvent) {
    if case .run(true, let mode, _) = event { return beginRun(mode) }
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

  private func beginRun(_ mode: ModeName) {
    let now = now
    if let last = calls.indices.last {
      if calls[last].away == nil { calls[last].away = real(now) }
    } else if early?.depth == frames.count {
      early?.away = real(now)
    }
    frames.append(Frame(mode: mode.rawValue, begin: now))
    log.beginRun(at: now + origin)
  }

  private func endRun() {
    guard let frame = frames.popLast() else { return }
    noteWakeUp(nil)
    let end = now
    comeBack(end)
    log.endRun(at: end + origin)
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

  /// A nested run has ended: its time does not count for the call that began it.
  private func comeBack(_ now: Int64) {
    if let last = calls.indices.last {
      guard calls[last].depth == frames.count, let away = calls[last].away else { return }
      calls[last].away = nil
      calls[last].inner += real(now) - away
    } else if let away = early?.away, early?.depth == frames.count {
      early?.away = nil
      early?.real += real(now) - away
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
    if frames.isEmpty { return }
    let now = now
    frames[frames.count - 1].sleep = now
    log.beginSleep(at: now + origin)
  }

  private func endSleep() {
    guard let last = frames.indices.last, let begin = frames[last].sleep else { return }
    frames[last].sleep = nil
    let now = now
    log.endSleep(at: now + origin)
    if now == begin { return }
    wakeUps += 1
    wasWoken = true
    slept += now - begin
    note(.sleep, begin: begin, now)
    add(begin, now, to: &sleepColumns)
  }

  /// Adds a time to the columns that it overlaps.
  private func add(_ begin: Int64, _ end: Int64, to columns: inout [Int64]) {
    if options.columns == 0 { return }
    let width = max(1, options.span / Int64(options.columns))
    for index in column(begin)...column(end) {
      let from = max(begin, Int64(index) * width)
      columns[index] += max(0, min(end, Int64(index + 1) * width) - from)
    }
  }

  /// Counts the cause that ended the last sleep.
  private func noteWakeUp(_ kind: CalloutKind?) {
    if !wasWoken { return }
    wasWoken = false
    wakeUpCauses[kind.map(Self.place) ?? CalloutKind.allCases.count] += 1
  }

  private static func place(of kind: CalloutKind) -> Int {
    CalloutKind.allCases.firstIndex(of: kind)!
  }

  // MARK: Call-outs

  /// Recording starts in the middle of a call.
  func begin(in subject: RecordedSubject, _ kind: CalloutKind, depth: Int) {
    let real = real(now)
    early = (row(of: subject, kind), real, frames.count > depth ? real : nil, depth)
  }

  private func endEarly(_ item: Int, _ begin: Int64) {
    early = nil
    items[item].calls += 1
    items[item].durations.add(real(now) - begin)
  }

  /// The time of the calls that have not ended yet.
  func timeUnderWay(_ now: Int64) -> Int64 {
    let real = real(now)
    let first = early.map { ($0.away ?? real) - $0.real } ?? 0
    return calls.reduce(first) { $0 + ($1.away ?? real) - $1.real - $1.inner }
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
    let real = real(now)
    let wait =
      kind == .timer
      ? wait(TimerID(rawValue: subject), item, now, late, missed) : TimerWait()
    if let outer = calls.indices.last, calls[outer].away == nil { calls[outer].away = real }
    calls.append(
      Call(
        kind: kind, item: item, subject: subject, begin: now, delay: late, wait: wait,
        wakes: wakes, real: real, depth: frames.count))
    log.beginCall(item >= 0 ? item : nil, at: now + origin)
  }

  @inline(__always)
  private func wait(
    _ id: TimerID, _ item: Int, _ now: Int64, _ late: Int64, _ missed: Int64
  ) -> TimerWait<Int> {
    let wait = log.wait(of: id, at: now + origin, late: late, missed: missed)
    if missed > 0 && item >= 0 {
      items[item].ownMissed += wait.ownMissed(
        of: item, interval: loop.timers.records[id.slot].interval)
    }
    for culprit in wait.culprits where item >= 0 {
      items[item].blame(
        LateCall(
          late: wait.late, culprit: culprit.caller, calls: culprit.calls, duration: culprit.took,
          at: now, missed: culprit.missed))
    }
    return wait
  }

  /// How long a call has been under way, in real time, including other calls and sleeps inside.
  func time(of call: Call) -> Int64 { real(now) - call.real }

  /// The call under way turns out to belong to a row.
  func nameCall(_ subject: @autoclosure () -> RecordedSubject) {
    guard let last = calls.indices.last, calls[last].item < 0 else { return }
    calls[last].item = row(of: subject(), calls[last].kind)
    log.nameCall(calls[last].item)
  }

  private func endCall(_ nanoseconds: Int64) {
    guard var call = calls.popLast() else { return }
    let end = call.begin + nanoseconds
    let real = real(end)
    if let outer = calls.indices.last, calls[outer].depth == call.depth,
      let away = calls[outer].away
    {
      calls[outer].away = nil
      calls[outer].inner += real - away
    }
    if call.item < 0 {
      call.item = row(of: RecordedSubject(word: call.kind.rawValue, name: ""), call.kind)
      log.nameCall(call.item)
    }
    log.endCall(at: end + origin)
    if call.kind == .timer {
      let begin = call.begin + origin
      log.endTimer(
        TimerID(rawValue: call.subject), date: begin - call.delay, begin: begin, end: end + origin)
    }
    count(call, real - call.real - call.inner)
    if options.columns > 0, nanoseconds > options.span / Int64(options.columns) {
      add(call.begin, end, to: &items[call.item].busyColumns)
    }
    if options.details > 0 {
      note(.callout, item: call.item, begin: call.begin, end, late: call.wait.late)
    }
    // An observer of the sleep has returned: only now does the sleep begin.
    if call.kind == .observer, let last = frames.indices.last, frames[last].sleep != nil {
      frames[last].sleep = end
    }
  }

  private func count(_ call: Call, _ own: Int64) {
    items[call.item].calls += 1
    items[call.item].missed += call.wait.missed
    if call.wakes { items[call.item].wakeUps += 1 }
    items[call.item].durations.add(own)
    if call.kind == .timer { items[call.item].lateness.add(call.wait.late) }
    if let held = call.wait.held { count(held, call) }
    if options.columns > 0 { items[call.item].columns[column(call.begin)] += 1 }
  }

  private func count(_ held: HeldBack<Int>, _ call: Call) {
    items[call.item].held.add(held, at: call.begin)
    for span in held.spans {
      let (begin, end) = (max(0, span.lowerBound - origin), span.upperBound - origin)
      if begin >= end { continue }
      add(begin, end, to: &items[call.item].heldColumns)
      if options.details > 0 { note(.held, item: call.item, begin: begin, end) }
    }
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
      Item(
        kind: kind, subject: subject, columns: Array(repeating: 0, count: options.columns),
        busyColumns: Array(repeating: 0, count: options.columns),
        heldColumns: Array(repeating: 0, count: options.columns)))
    return items.count - 1
  }

  /// The figures of a row, if there is one.
  func item(_ subject: RecordedSubject) -> Item? { indices[subject].map { items[$0] } }

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
