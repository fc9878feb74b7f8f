// Why something does not happen, as text: the obstacles, the first one first. Each sentence names
// the thing, where it was made, what is in its way, and what to do.

internal import LuaEmbed
internal import MoonloopCore

/// What is on the loop of a runtime's scripts, and why: reads everything, changes nothing. Loop
/// thread only.
package struct Explanation {
  unowned(unsafe) let runtime: Runtime  // valid during one question

  init(_ runtime: Runtime) { self.runtime = runtime }

  var state: LuaState { runtime.state }
  var loop: Loop { runtime.loop }
  var handles: Handles { runtime.handles }
  var tasks: Tasks { runtime.tasks }
  var runs: Runs { runtime.runs }
  var requests: Requests { runtime.requests }
  var errors: ErrorPolicy { runtime.errors }
  var measuring: Measuring? { runtime.measuring }
  var current: Subject { runtime.current }
  var console: Console { runtime.console }
  var generations: Generations { runtime.generations }
  var itemKinds: ItemKinds { runtime.itemKinds }
  var kinds: Kinds { runtime.kinds }
  var bed: TestBed? { runtime.bed }
}

extension Explanation {
  /// The suspended handler of an item, if it has one (D59).
  func waitingHandler(of item: Loop.Item) -> ScriptTask? {
    guard item.isSuspended else { return nil }
    return tasks.all.first {
      if case .item(let other) = $0.subject { other === item } else { false }
    }
  }

  private func waitingHandler(of id: TimerID) -> ScriptTask? {
    guard loop.timers.records[id.slot].flags.contains(.suspended) else { return nil }
    return tasks.all.first { if case .timer(id) = $0.subject { true } else { false } }
  }

  // MARK: Timers

  func why(timer id: TimerID, endedAt: LuaPosition?) -> String {
    guard loop.timers.slot(of: id) != nil else { return whyEnded(id, endedAt) }
    return "\(runtime.label(of: .timer(id))): \(obstacle(timer: id))\(history(recorded(timer: id)))"
  }

  /// What is known about a timer that is gone: its record stays until another timer takes the slot.
  private func whyEnded(_ id: TimerID, _ endedAt: LuaPosition?) -> String {
    if let ended = generations.endedTimers[id], let load = loadThatEnded(-ended.generation) {
      return "\(ended.label): \(load)"
    }
    let records = loop.timers.records
    let record = id.slot < records.count ? records[id.slot] : nil
    let isLast = record.map { $0.generation == id.generation &+ 1 && $0.flags.isEmpty } ?? false
    let label = isLast ? runtime.label(of: .timer(id)) : "timer"
    if let endedAt, endedAt.source < 0 {
      return
        "\(label): it was invalidated (the place is known only for named items); make a new one"
    }
    if let endedAt {
      return "\(label): it was invalidated at \(state.text(of: endedAt)); make a new one"
    }
    guard isLast, let record else {
      return
        "\(label): it has ended: it fired for the last time, or ended with its loop; make a new one"
    }
    if record.interval == 0 && record.fires > 0 {
      return
        "\(label): one-shot timer; it has already fired; use loop:every to repeat, or call "
        + "again(delay) in its handler"
    }
    return "\(label): it has ended with its loop or its last handle; make a new one"
  }

  private func obstacle(timer id: TimerID) -> String {
    let record = loop.timers.records[id.slot]
    let due = dueText(record)
    if let obstacle = obstacle(
      modes: loop.modeNames(of: id), isCommon: record.flags.contains(.common), doing: "fire",
      state: due)
    {
      let handler = waitingHandler(of: id).map { "; and its handler waits \(tasks.forWhat($0))" }
      return obstacle + (handler ?? "")
    }
    if let task = waitingHandler(of: id) {
      let missed = record.missed > 0 ? " (\(record.missed) so far)" : ""
      return
        "its handler waits \(tasks.forWhat(task)); fires are coalesced until it returns\(missed)"
    }
    if record.flags.contains(.firing) {
      return "its handler is running; it does not fire from within itself"
    }
    let wait = record.date.subtractingReportingOverflow(loop.clock.now())
    if record.date == .max { return "it has no date; set next_fire, or call again(delay)" }
    if wait.overflow || wait.partialValue > 10 * 31_557_600 * 1_000_000_000 {
      return "its date is far in the future: \(due); times are seconds, and next_fire counts as "
        + "ml.now() does"
    }
    if wait.partialValue > 0 { return due + untilThen(record, wait.partialValue) }
    let tolerance = loop.timers.tolerance(id.slot)
    if tolerance > -wait.partialValue {
      return "\(due); its tolerance lets it be \(seconds(tolerance)) late, to share a wake-up"
    }
    return "\(due); \(blocker()), then it fires"
  }

  /// What may come before the date of a timer that is served.
  private func untilThen(_ record: TimerRecord, _ wait: Int64) -> String {
    guard let run = scriptRun else { return "" }
    if run.isStopped {
      return "; but this run was stopped, and ends before that: run the loop again"
    }
    if record.flags.contains(.idle), loop.contents(of: run.mode.name)?.isEmpty == true {
      return "; but it does not hold the run (keep_alive(false)), and no other item does: the run "
        + "is finished before"
    }
    if run.deadline < record.date {
      let rest = max(0, run.deadline - loop.clock.now())
      return "; but this run ends before that, in \(seconds(rest)), by its timeout"
    }
    if record.flags.contains(.wallClock) { return ", by the wall clock" }
    return clockNote()
  }

  /// Why time does not pass on a clock that jumps.
  private func clockNote() -> String {
    if loop.clockIsStopped {
      return "; the loop's clock is stopped, because the program is at a breakpoint"
    }
    if !loop.clock.jumpsWhenIdle { return "" }
    let holds = loop.clock.holds.names
    if !holds.isEmpty {
      return "; the clock is held by \(holds.joined(separator: ", ")), and will not jump until "
        + (holds.count == 1 ? "it ends" : "they end")
    }
    if loop.clock.mode != .virtual { return "" }
    return "; virtual time stands still while the loop is busy, and jumps ahead when it is idle"
  }

  // MARK: Items

  func why(_ handle: LuaHandle) -> String { why(handle.item, endedAt: handle.endedAt) }

  /// The program's own items may be on other loops, about which this one knows nothing.
  func why(programItem item: Loop.Item) -> String {
    let label = "\(item.label) of the program"
    guard item.isValid else { return "\(label): it has ended" }
    if item.isOwned(by: loop) { return "\(label): \(itemKinds[item].reason(for: item))" }
    let modes = loop.modes(of: item)
    if modes.isEmpty && item.hasOwner { return "\(label): it is on another loop, not on this one" }
    let words = obstacle(
      modes: modes, isCommon: loop.contains(item, mode: .common), doing: "be called", state: nil)
    return "\(label): \(words ?? "it is in the mode that runs, and its time has not come")"
  }

  func why(_ item: Loop.Item, endedAt: LuaPosition?) -> String {
    let label = runtime.label(of: .item(item))
    guard item.isValid else {
      if let load = loadThatEnded(item.maker.generation) { return "\(label): \(load)" }
      let end =
        endedAt.map { "it was invalidated at \(state.text(of: $0))" }
        ?? itemKinds[item].endText(of: item)
      return "\(label): \(end); make a new one\(endedAt == nil ? history(recorded(item)) : "")"
    }
    return "\(label): \(itemKinds[item].reason(for: item))\(history(recorded(item)))"
  }

  /// What to say about a handle that the file's next generation has not made again (D36).
  private func loadThatEnded(_ stamp: Int32) -> String? {
    guard stamp < 0, let load = generations.loads[-stamp] else { return nil }
    let asked = load.asked.map { ", asked for at \(state.text(of: $0))" } ?? ""
    let time = seconds(loop.clock.now() - load.at)
    return
      "it was invalidated by the reload to generation \(-stamp), \(time) ago\(asked): the file "
      + "as it is now does not make it, or not under this name; make it again"
  }

  // MARK: The past

  /// The failures of a handler, and what made it latest.
  func history(_ subject: RecordedSubject) -> String {
    var text = ""
    if let failures = errors.failures(of: subject) {
      let times = failures.count == 1 ? "failed once" : "failed \(failures.count) times, the last"
      text +=
        failures.isStop
        ? "; its handler was stopped by a limit: \(failures.last)"
        : "; its handler \(times): \(failures.last)"
    }
    guard let measuring, let figures = measuring.figures(subject) else { return text }
    let recorder = measuring.recorder
    if let late = figures.latest {
      let culprit = label(of: recorder.items[late.culprit].subject)
      text +=
        "; it came \(seconds(late.late)) late \(seconds(recorder.now - late.at)) ago, "
        + "because \(late.calls == 1 ? "a call" : "\(late.calls) calls") of \(culprit) took "
        + "\(seconds(late.duration))"
      if let also = figures.alsoLatest {
        let other = label(of: recorder.items[also.culprit].subject)
        text += ", and \(also.calls == 1 ? "one" : "\(also.calls)") of \(other) "
        text += seconds(also.duration)
        text += ": make those wait, or move them to workers"
      } else {
        text +=
          late.calls == 1
          ? ": make that wait, or move it to a worker"
          : ": make those wait, or move them to a worker"
      }
    }
    if let (wait, at) = figures.held.longest {
      let words = words(of: wait, recorder)
      text +=
        "; it was held back \(seconds(wait.total)), until \(seconds(recorder.now - at)) ago"
        + "\(words.first!.isNumber ? ":" : ",") \(words)"
    }
    return text
  }

  /// Why a timer was held back, and by what for how long if there are several causes.
  func words(of wait: HeldBack<Int>, _ recorder: LoopRecorder) -> String {
    words(of: wait) { label(of: recorder.items[$0].subject) }
  }

  package func words<Caller>(of wait: HeldBack<Caller>, label: (Caller) -> String) -> String {
    var causes = HeldCause.allCases.filter { wait.times[$0.rawValue] > 0 }
    // A moment beside a second cause is no news.
    let long = causes.filter { wait.times[$0.rawValue] >= wait.total / 100 }
    if !long.isEmpty { causes = long }
    return causes.map { cause in
      let words =
        switch cause {
        case .noMode: "because it was in no mode"
        case .notRunning: "because the loop was not running"
        case .mode: "because its mode did not run"
        case .nestedRun: wait.nester.map { "by a nested run of \(label($0))" } ?? "by a nested run"
        case .handler: "by its own suspended handler"
        case .clock: "by a clock hold"
        }
      return causes.count == 1 ? words : "\(seconds(wait.times[cause.rawValue])) \(words)"
    }.joined(separator: ", ")
  }

  // MARK: Requests

  func why(_ request: ScriptRequest) -> String {
    let label = runtime.label(of: .request(request))
    if request.ref == 0 { return "\(label): it was performed or cancelled" }
    let isCommon = request.modes.contains(.common)
    let modes = request.modes.filter { $0 != .common }
    let obstacle = obstacle(
      modes: modes + (isCommon ? loop.modeNames.filter(loop.isCommonMode) : []),
      isCommon: isCommon, doing: "be performed", state: nil)
    return "\(label): \(obstacle ?? "it waits for the next pass: \(blocker())")"
  }
}
