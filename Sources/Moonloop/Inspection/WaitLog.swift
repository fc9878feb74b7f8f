// Splits the time between a timer's date and its call: late while it was served, or held back. This
// is the only place that decides, for metrics, `why`, simulations and traces.

package import MoonloopCore

/// What a due timer waited for, in nanoseconds.
package struct TimerWait<Caller> {
  /// While the innermost run was in one of its modes: others had the thread, or it was tolerant.
  package var late: Int64
  /// Missed fires whose dates are in that time.
  package var missed: Int64
  /// Fires whose dates passed in the timer's own call, if that took longer than its interval, or
  /// while its handler was suspended.
  var ownMissed: Int64 = 0
  package var held: HeldBack<Caller>?
  /// What had the thread for at least a quarter of the time that it was late, the longest first;
  /// and for the first, the fires missed then.
  package var culprits: [Culprit<Caller>] = []

  package init(late: Int64 = 0, missed: Int64 = 0) { (self.late, self.missed) = (late, missed) }
}

extension TimerWait where Caller: Equatable {
  /// Fires that were missed because the timer's own handler had not returned.
  package func ownMissed(of caller: Caller, interval: Int64) -> Int64 {
    culprits.reduce(ownMissed) { sum, culprit in
      sum + (culprit.caller == caller && culprit.took >= interval ? culprit.missed : 0)
    }
  }
}

/// What made a timer late.
package struct Culprit<Caller> {
  package let caller: Caller
  /// How many calls of it, and how long they took without nested runs.
  package var calls = 0
  package var took: Int64 = 0
  package var missed: Int64 = 0
  /// While the timer was due.
  fileprivate var time: Int64 = 0
}

/// The time in which a due timer was kept from firing on purpose: it is not late, and no call-out
/// is to blame.
package struct HeldBack<Caller> {
  package var times = [Int64](repeating: 0, count: HeldCause.allCases.count)
  /// The fires missed meanwhile, by cause.
  package var missedBy = [Int64](repeating: 0, count: HeldCause.allCases.count)
  /// What began the nested run that held it back longest, and the mode of that run.
  package var nester: Caller?
  package var mode: ModeName?
  /// When it was held back, on the loop's clock, latest first.
  var spans: [Range<Int64>] = []
  /// For how long.
  private var nested: Int64 = 0
  /// The last nested run examined, and for how long it held the timer back.
  private var run: (number: Int, time: Int64) = (0, 0)

  package var total: Int64 { times.reduce(0, +) }
  package var missed: Int64 { missedBy.reduce(0, +) }

  /// The times of one run are consecutive.
  fileprivate mutating func add(
    _ holder: Holder<Caller>, _ begin: Int64, _ end: Int64, missed: Int64 = 0
  ) {
    missedBy[holder.cause.rawValue] += missed
    guard end > begin else { return }
    if let next = spans.last, next.lowerBound == end {
      spans[spans.count - 1] = begin..<next.upperBound
    } else {
      spans.append(begin..<end)
    }
    switch holder {
    case .cause(let cause): times[cause.rawValue] += end - begin
    case .run(let number, let caller, let mode):
      times[HeldCause.nestedRun.rawValue] += end - begin
      run = (number, end - begin + (run.number == number ? run.time : 0))
      if run.time > nested { (nester, self.mode, nested) = (caller, mode, run.time) }
    }
  }

  fileprivate mutating func addHold(_ time: Int64) { times[HeldCause.clock.rawValue] += time }
}

/// What holds a timer back: a nested run that something began, or another cause.
private enum Holder<Caller> {
  case run(Int, by: Caller?, in: ModeName)
  case cause(HeldCause)

  var cause: HeldCause {
    switch self {
    case .run: .nestedRun
    case .cause(let cause): cause
    }
  }
}

/// Why a due timer is held back.
package enum HeldCause: Int, CaseIterable {
  /// It was in no mode; the loop was not running; no run was in a mode of it.
  case noMode, notRunning, mode
  case nestedRun, handler, clock

  /// Its field in `loop:metrics` and in traces.
  package var field: StaticString {
    switch self {
    case .noMode: "no_mode"
    case .notRunning: "not_running"
    case .mode: "mode"
    case .nestedRun: "nested_run"
    case .handler: "handler"
    case .clock: "clock"
    }
  }
}

/// Follows which run is innermost and which call has the thread. Loop thread only.
package final class WaitLog<Caller: Hashable> {
  private struct Frame {
    let mode: Mode
    let number: Int
    /// What began the run.
    let nester: Caller?

    var holder: Holder<Caller> { .run(number, by: nester, in: mode.name) }
  }

  /// The runs that were under way from a moment on, outermost first.
  private struct Span {
    let begin: Int64
    let runs: [Frame]
  }

  /// A call under way.
  private struct Call {
    let serial: Int
    /// How many runs contain it.
    let depth: Int
    var caller: Caller?
    /// Since when it has had the thread; nil while a run or call inside has it.
    var since: Int64?
    var own: Int64 = 0
  }

  /// A time in which a call had the thread.
  private struct Piece {
    let serial: Int
    var caller: Caller?
    let begin: Int64
    let end: Int64
    var own: Int64
  }

  /// What is remembered: changes of runs, and calls that may make others late.
  private let spanLimit = 2048
  private let pieceLimit = 32
  /// A call that has the thread for this long may make others late.
  private let longPiece: Int64 = 1_000_000

  private let loop: Loop
  private var runs: [Frame] = []
  private var spans: [Span] = []
  private var calls: [Call] = []
  private var lastSerial = 0
  private var lastRun = 0
  private var pieces: [Piece] = []
  private var nextPiece = 0
  /// The last call of each repeating timer during which dates of its own passed, by slot.
  private var ownCalls: [Int: (id: TimerID, depth: Int, begin: Int64, end: Int64)] = [:]
  /// The sleep under way, if a hold keeps the clock from jumping, and since when.
  private var sleep: (begin: Int64, heldSince: Int64?)?
  /// Real time during which the clock was held since it last moved, and the dates it then moved
  /// past.
  private var heldTime: Int64 = 0
  private var jump: (from: Int64, to: Int64, held: Int64)?

  /// Begins to follow a loop; assumes that its present state has lasted, as far as is known.
  package init(_ loop: Loop) {
    self.loop = loop
    runs = loop.runs.frames.map { Frame(mode: $0.mode, number: 0, nester: nil) }
    spans = [Span(begin: .min, runs: runs)]
  }

  // MARK: Runs and sleeps

  package func beginRun(at now: Int64) {
    guard let frame = loop.runs.frames.last else { return }
    pause(at: now)
    lastRun += 1
    runs.append(Frame(mode: frame.mode, number: lastRun, nester: calls.last?.caller))
    note(at: now)
  }

  package func endRun(at now: Int64) {
    runs.removeLast()
    note(at: now)
    goOn(at: now)
  }

  private func note(at now: Int64) {
    if let last = spans.last, last.begin == now { spans.removeLast() }
    if spans.count >= spanLimit { spans.removeFirst(spanLimit / 2) }
    spans.append(Span(begin: now, runs: runs))
  }

  package func beginSleep(at now: Int64) {
    guard loop.clock.jumpsWhenIdle else { return }
    sleep = (now, loop.clock.holds.areOpen ? RealTime.monotonic : nil)
  }

  package func endSleep(at now: Int64) {
    guard let (begin, heldSince) = sleep else { return }
    sleep = nil
    if let heldSince { heldTime += RealTime.monotonic - heldSince }
    if now == begin { return }
    jump = heldTime > 0 ? (begin, now, heldTime) : nil
    heldTime = 0
  }

  // MARK: Calls

  package func beginCall(_ caller: Caller?, at now: Int64) {
    pause(at: now)
    lastSerial += 1
    calls.append(Call(serial: lastSerial, depth: runs.count, caller: caller, since: now))
  }

  /// The call under way turns out to belong to a row.
  package func nameCall(_ caller: Caller) {
    if let last = calls.indices.last { calls[last].caller = caller }
  }

  package func endCall(at now: Int64) {
    pause(at: now)
    calls.removeLast()
    goOn(at: now)
  }

  /// A timer's call is over: remembers it if dates of the timer passed during it.
  package func endTimer(_ id: TimerID, date: Int64, begin: Int64, end: Int64) {
    guard id.slot < loop.timers.records.count else { return }
    let interval = loop.timers.records[id.slot].interval
    if interval == 0 || end - date < interval { return }
    ownCalls[id.slot] = (id, runs.count, begin, end)
  }

  /// The call that has the thread loses it.
  private func pause(at now: Int64) {
    guard let last = calls.indices.last, let since = calls[last].since else { return }
    calls[last].since = nil
    calls[last].own += now - since
    let call = calls[last]
    for place in pieces.indices where pieces[place].serial == call.serial {
      (pieces[place].own, pieces[place].caller) = (call.own, call.caller)
    }
    if now - since < longPiece { return }
    let piece = Piece(
      serial: call.serial, caller: call.caller, begin: since, end: now, own: call.own)
    if pieces.count < pieceLimit { return pieces.append(piece) }
    pieces[nextPiece] = piece
    nextPiece = (nextPiece + 1) % pieceLimit
  }

  private func goOn(at now: Int64) {
    guard let last = calls.indices.last, calls[last].depth == runs.count else { return }
    calls[last].since = now
  }

  // MARK: Timers

  /// Splits the time that a timer waits when it is called, and the fires that it missed.
  @inline(__always)
  package func wait(
    of id: TimerID, at now: Int64, late: Int64, missed: Int64
  ) -> TimerWait<Caller> {
    let date = now - late
    if missed == 0 && late < longPiece && jump == nil && spans[spans.count - 1].begin <= date {
      return TimerWait(late: late, missed: 0)
    }
    return split(id, date, now, missed)
  }

  @inline(never)
  private func split(
    _ id: TimerID, _ date: Int64, _ now: Int64, _ missed: Int64
  ) -> TimerWait<Caller> {
    let interval = missed > 0 ? loop.timers.records[id.slot].interval : 0
    let merged = min(missed, TimerSchedule.missed(since: date, interval: interval, at: now))
    let points = { (end: Int64) -> Int64 in interval > 0 ? (end - date) / interval : 0 }
    var wait = TimerWait<Caller>()
    var held = HeldBack<Caller>()
    var served: [Range<Int64>] = []
    var end = now
    let history = loop.history(of: id)
    let first = max(date, min(now, history?.nowhereUntil ?? date))
    for span in spans.reversed() where end > first {
      // A mode that it joined meanwhile did not serve it before.
      let joined = history?.joined.values.filter { $0 < end && $0 > max(first, span.begin) } ?? []
      for begin in joined.sorted(by: >) + [max(first, span.begin)] {
        let passed = points(end) - points(begin)
        if let holder = holder(of: id, in: span, from: begin, history) {
          held.add(holder, begin, end, missed: passed)
        } else {
          if end > begin { served.append(begin..<end) }
          wait.late += end - begin
          wait.missed += passed
        }
        end = begin
      }
    }
    // A timer whose mode ran before everything remembered would have fired.
    held.add(first > date ? .cause(.noMode) : .cause(.mode), date, end, missed: points(end))
    var blamed = wait.missed
    if missed > merged {
      blamed += splitEarlier(id, date, interval, missed - merged, &wait, &held, &served)
    }
    wait.culprits = culprits(served, wait.late, blamed)
    if let jump, date > jump.from, date <= jump.to { held.addHold(jump.held) }
    if held.total > 0 || held.missed > 0 { wait.held = held }
    return wait
  }

  /// What held a timer back in a span, or in the part of it that begins at a date; nil: it was
  /// served.
  private func holder(
    of id: TimerID, in span: Span, from begin: Int64, _ history: TimerHistory? = nil
  ) -> Holder<Caller>? {
    if span.runs.isEmpty { return .cause(.notRunning) }
    let place = span.runs.lastIndex {
      loop.serves(id, in: $0.mode) && history?.joined[$0.mode.index] ?? .min <= begin
    }
    guard let place else { return .cause(.mode) }
    if place == span.runs.count - 1 { return nil }
    return span.runs[place + 1].holder
  }

  /// Dates before the one that is served now passed in the timer's own call, or while its handler
  /// was suspended after that.
  private func splitEarlier(
    _ id: TimerID, _ date: Int64, _ interval: Int64, _ count: Int64,
    _ wait: inout TimerWait<Caller>, _ held: inout HeldBack<Caller>,
    _ served: inout [Range<Int64>]
  ) -> Int64 {
    let (time, overflows) = count.multipliedReportingOverflow(by: interval)
    let (first, isTooEarly) = date.subtractingReportingOverflow(time)
    if overflows || isTooEarly {  // its interval became longer by that much meanwhile
      wait.missed += count
      return 0
    }
    var rest = first
    let own = ownCalls[id.slot].flatMap { $0.id == id ? $0 : nil }
    if let own, first <= own.begin {
      // They had passed when the call before came, less than a tick of the coarse clock too late.
      let passed = min(count, (own.begin - first) / interval + 1)
      wait.missed += passed
      if passed == count { return 0 }
      return splitEarlier(id, date, interval, count - passed, &wait, &held, &served)
    }
    if let own, first <= own.end {
      var end = own.end
      rest = first + ((own.end - first) / interval + 1) * interval
      for span in spans.reversed() where span.begin < own.end && end > first {
        let begin = max(first, span.begin)
        // For the first date the beginning counts, for the others the end.
        let passed =
          (end - first) / interval - (begin - first) / interval + (begin == first ? 1 : 0)
        if span.runs.count > own.depth {
          held.add(span.runs[own.depth].holder, begin, end, missed: passed)
        } else {
          wait.missed += passed
          if own.end - own.begin >= interval { wait.ownMissed += passed }
        }
        end = begin
      }
    }
    if rest >= date { return 0 }
    let history = loop.history(of: id)
    let points = { (end: Int64) -> Int64 in (end - rest + interval - 1) / interval }
    // A suspended handler does not go on in a nested run that does not serve its timer.
    var end = max(rest, min(date, history?.handlerEnd ?? date))
    let ready = max(rest, min(end, history?.handlerReady ?? end))
    held.add(.cause(.handler), end, date)
    var (blamed, nested): (Int64, Int64) = (0, 0)
    for span in spans.reversed() where span.begin < end && end > rest {
      for begin in [max(ready, span.begin), max(rest, span.begin)] where begin < end {
        let passed = points(end) - points(begin)
        if let run = holder(of: id, in: span, from: begin), run.cause == .nestedRun {
          held.add(run, begin, end, missed: passed)
          nested += passed
        } else if begin >= ready {
          served.append(begin..<end)
          wait.late += end - begin
          wait.missed += passed
          blamed += passed
        } else {
          held.add(.cause(.handler), begin, end)
        }
        end = begin
      }
    }
    let missed = (date - rest) / interval - blamed - nested
    held.add(.cause(.handler), rest, end, missed: missed)
    if history?.handlerEnd != nil { wait.ownMissed += missed }
    return blamed
  }

  private func culprits(
    _ served: [Range<Int64>], _ late: Int64, _ missed: Int64
  ) -> [Culprit<Caller>] {
    if late < longPiece { return [] }
    var calls: [Int: (caller: Caller, took: Int64, time: Int64)] = [:]
    for piece in pieces {
      guard let caller = piece.caller else { continue }
      for range in served {
        let overlap = min(piece.end, range.upperBound) - max(piece.begin, range.lowerBound)
        if overlap > 0 { calls[piece.serial, default: (caller, piece.own, 0)].time += overlap }
      }
    }
    var found: [Caller: Culprit<Caller>] = [:]
    for call in calls.values {
      var culprit = found[call.caller] ?? Culprit(caller: call.caller)
      culprit.calls += 1
      culprit.took += call.took
      culprit.time += call.time
      found[call.caller] = culprit
    }
    var culprits = found.values.filter { $0.time > late / 4 }.sorted { $0.time > $1.time }
    if !culprits.isEmpty { culprits[0].missed = missed }
    return culprits
  }
}
