// `loop:metrics`: what the loop did since measuring began, as a table.

internal import LuaEmbed
internal import MoonloopCore

private let metricsOptions: [StaticString] = ["on", "reset"]

/// `loop:metrics { on, reset }`: the figures since the first call, which starts measuring.
func loopMetrics(_ call: HostCall) throws -> Int32 {
  var isOn = true
  var resets = false
  if call.stack.type(2) != .none && call.stack.type(2) != .nil {
    let options = try call.options(2, metricsOptions, example: "{ reset = true }")
    isOn = try options.boolean("on") ?? true
    resets = try options.boolean("reset") ?? false
  }
  let runtime = call.runtime
  if isOn { runtime.loopContext.measure() }
  runtime.explanation.pushMetrics(on: call.stack)
  if resets || !isOn {
    runtime.measuring?.end()
    runtime.measuring = nil
    if isOn { runtime.loopContext.measure() }
  }
  return 1
}

extension Explanation {
  /// Pushes the table of figures; nil if nothing is measured. [-0, +1]
  fileprivate func pushMetrics(on stack: LuaStack) {
    guard let recorder = measuring?.recorder else { return stack.pushNil() }
    let now = recorder.now
    let busy =
      recorder.items.reduce(0) { $0 + $1.durations.sum }
      + (console.visit == nil ? 0 : recorder.timeUnderWay(now))
    stack.newTable(fields: 12)
    stack.setField("loop", loop.name)
    stack.setField("clock", "\(loop.clock.mode.word)")
    if let run = scriptRun { stack.setField("mode", run.mode.name.rawValue) }
    stack.setField("depth", scriptRuns.count)
    stack.setSeconds("measured", now)
    stack.setField("passes", recorder.passes)
    stack.setField("wake_ups", recorder.wakeUps)
    stack.push("causes")
    stack.newTable(fields: 8)
    for (place, count) in recorder.wakeUpCauses.enumerated() {
      stack.setField(causeNames[place], count)
    }
    stack.rawSet(-3)
    stack.setSeconds("idle", recorder.slept)
    stack.setSeconds("busy", busy)
    if let visit = console.visit { push(visit, on: stack) }
    pushLive(on: stack)
    let rows = recorder.items.filter { $0.calls > 0 }
      .sorted { $0.durations.sum > $1.durations.sum }
    let guests = guestUsage
    stack.setList("handles", rows) { item in
      push(item, recorder, on: stack)
      guard let usage = guests[item.subject] else { return }
      stack.setField("usage") { usage.push(on: stack) }
    }
  }

  /// What the guests of each row use.
  private var guestUsage: [RecordedSubject: GuestUsage] {
    var usages: [RecordedSubject: GuestUsage] = [:]
    for guest in guests {
      usages[recorded(guest.source), default: GuestUsage()].add(guest.usage)
    }
    return usages
  }

  /// Sets the field for the call-out that a console interrupts to ask. [-0, +0]
  private func push(_ visit: Visit, on stack: LuaStack) {
    stack.push("under_way")
    stack.newTable(fields: 2)
    stack.setField("by", runtime.label(of: visit.who.subject))
    stack.setSeconds("took", max(0, loop.clock.now() - visit.began))
    stack.rawSet(-3)
  }

  /// Sets the field that counts what exists now. [-0, +0]
  private func pushLive(on stack: LuaStack) {
    stack.push("live")
    stack.newTable(fields: 4)
    let timers = handles.timers(of: loop, madeBy: runtime.context).filter { !isOwn($0) }
    stack.setField("timers", timers.count)
    stack.setField("items", handles.itemCount)
    stack.setField("tasks", tasks.count)
    stack.setField("requests", requests.count)
    stack.rawSet(-3)
  }

  private func push(_ item: LoopRecorder.Item, _ recorder: LoopRecorder, on stack: LuaStack) {
    stack.newTable(fields: 12)
    stack.setField("kind", item.subject.word)
    stack.setField("name", item.subject.name)
    let place = item.subject.place
    stack.setField("made_at", place.source < 0 ? "" : state.text(of: place))
    stack.setField("calls", item.calls)
    stack.setField("missed", Int(item.missed))
    stack.setField("own_missed", Int(item.ownMissed))
    stack.setField("wake_ups", item.wakeUps)
    stack.setSeconds("busy", item.durations.sum)
    push("duration", item.durations, on: stack)
    if item.lateness.count > 0 { push("late", item.lateness, on: stack) }
    if !item.late.isEmpty {
      stack.setList(
        "made_late", item.late.sorted { ($0.late, $0.duration) > ($1.late, $1.duration) }
      ) { late in
        stack.newTable(fields: 5)
        stack.setField("by", label(of: recorder.items[late.culprit].subject))
        stack.setField("calls", late.calls)
        stack.setSeconds("took", late.duration)
        stack.setSeconds("late", late.late)
        stack.setField("missed", Int(late.missed))
      }
    }
    if item.held.count > 0 { push(item.held, recorder, on: stack) }
  }

  /// Sets the field that says how timers were held back. [-0, +0]
  private func push(
    _ held: LoopRecorder.HeldFigures, _ recorder: LoopRecorder, on stack: LuaStack
  ) {
    stack.push("held")
    stack.newTable(fields: 13)
    stack.setField("count", held.count)
    stack.setField("missed", Int(held.missed))
    stack.setSeconds("total", held.total)
    stack.setSeconds("max", held.max)
    for cause in HeldCause.allCases {
      stack.setSeconds(cause.field, held.times[cause.rawValue])
    }
    stack.push("missed_by")
    stack.newTable(fields: 6)
    for cause in HeldCause.allCases {
      stack.setField(cause.field, Int(held.missedBy[cause.rawValue]))
    }
    stack.rawSet(-3)
    if let (wait, _) = held.longest { stack.setField("by", words(of: wait, recorder)) }
    if !held.nests.isEmpty {
      stack.setList("nests", held.nests) { nest in
        stack.newTable(fields: 4)
        stack.setField("by", label(of: recorder.items[nest.nester].subject))
        stack.setField("mode", nest.mode.rawValue)
        stack.setSeconds("time", nest.time)
        stack.setField("missed", Int(nest.missed))
      }
    }
    stack.rawSet(-3)
  }

  private func push(_ name: StaticString, _ values: Histogram, on stack: LuaStack) {
    stack.push(name)
    stack.newTable(fields: 5)
    stack.setSeconds("p50", values.percentile(50))
    stack.setSeconds("p90", values.percentile(90))
    stack.setSeconds("p99", values.percentile(99))
    stack.setSeconds("max", values.max)
    stack.setSeconds("mean", values.count > 0 ? values.sum / Int64(values.count) : 0)
    stack.rawSet(-3)
  }
}

/// In the order of `CalloutKind`, then the sleeps after which nothing was called.
private let causeNames: [StaticString] = [
  "timer", "source", "port", "fd", "observer", "perform", "main_queue", "nothing",
]

extension ClockMode {
  /// Its name in scripts and on command lines.
  var word: StaticString {
    switch self {
    case .real: "real"
    case .virtual: "virtual"
    case .skipIdle: "skip_idle"
    }
  }
}
