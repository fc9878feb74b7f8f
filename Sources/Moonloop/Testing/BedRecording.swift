// What a simulation asks of its loop: to be recorded, and the record as tables.

internal import LuaEmbed
internal import MoonloopCore

/// The entries of `moonloop.testing.host` that record a loop.
let bedRecordingEntries: [LuaEntry] = [
  .function("record") { hostAction($0, $1, "record", bedRecord) },
  .function("recorded") { host($0, $1, "recorded", bedRecorded) },
]

private let recordOptions: [StaticString] = [
  "span", "columns", "from", "window", "details", "progress",
]

/// `record { span, columns, from, window, details, progress }`: from now on the present loop is
/// recorded; `progress` says whether standard error is to show how far it is.
private func bedRecord(_ call: HostCall) throws {
  let options = try call.options(1, recordOptions, example: "{ span = 3600, columns = 600 }")
  let span = try options.seconds("span", .positive) ?? 1_000_000_000
  let from = try options.seconds("from", .notNegative) ?? 0
  let window = try options.seconds("window", .positive) ?? .max
  let (to, overflows) = from.addingReportingOverflow(window)
  let recorder = LoopRecorder(
    call.loop,
    LoopRecorder.Options(
      span: span, columns: try options.integer("columns", in: 0...10_000) ?? 0, from: from,
      to: overflows ? .max : to,
      details: try options.integer("details", in: 0...1_000_000) ?? 0))
  let progress = try options.boolean("progress") == true ? SimulationProgress() : nil
  let loop = call.loop
  let end = loop.clock.now() + span
  var isOver = false
  let watcher = TraceWatcher(wantsNames: true) { [weak loop] event in
    // A nested run ends with the simulation. Later ones are left to end as they would: a handler
    // may repeat them until something has happened.
    if case .run(true, _, 2...) = event, let loop, !isOver {
      isOver = loop.clock.now() >= end
      loop.runs.frames.last?.deadline = end
    }
    recorder.take(event)
    progress?.note(recorder)
  }
  call.runtime.bed?.recorder = (recorder, watcher)
  call.runtime.bed?.progress = progress
  call.loop.add(watcher: watcher)
}

/// `recorded()`: ends the recording; returns its contents, with times in seconds since its
/// beginning.
private func bedRecorded(_ call: HostCall) throws -> Int32 {
  guard let (recorder, watcher) = call.runtime.bed?.recorder else {
    throw call.mistake("nothing is recorded")
  }
  call.loop.remove(watcher: watcher)
  call.runtime.bed?.recorder = nil
  call.runtime.bed?.progress?.end()
  call.runtime.bed?.progress = nil
  try call.requireBed().push(recorder, on: call.stack)
  return 1
}

extension TestBed {
  /// Pushes the table that describes a recording. [-0, +1]
  fileprivate func push(_ recorder: LoopRecorder, on stack: LuaStack) {
    stack.newTable(fields: 16)
    stack.setSeconds("time", recorder.now)
    stack.setField("passes", recorder.passes)
    stack.setField("wake_ups", recorder.wakeUps)
    stack.setSeconds("slept", recorder.slept)
    stack.setField("stands_still", recorder.standsStill)
    stack.setField("was_interrupted", Ending.isAskedFor)
    stack.setField("reports") { pushReports(on: stack) }
    if let end = recorder.detailsEnd { stack.setSeconds("details_end", end) }
    stack.setList("items", recorder.items) { item in
      stack.newTable(fields: 20)
      stack.setField("kind", item.kind.rawValue)
      stack.setField("name", item.subject.name)
      stack.setField("fires", item.calls)
      stack.setField("missed", Int(item.missed))
      stack.setSeconds("late_max", item.lateness.max)
      stack.setSeconds("late_sum", item.lateness.sum)
      stack.setList("made_late_by", item.late) { stack.push($0.culprit + 1) }
      stack.setSeconds("held_max", item.held.max)
      stack.setField("held_missed", Int(item.held.missed))
      stack.setField("own_missed", Int(item.ownMissed))
      stack.push("held")
      stack.newTable(fields: 6)
      for cause in HeldCause.allCases {
        stack.push(cause.field)
        stack.newTable(fields: 2)
        stack.setSeconds("time", item.held.times[cause.rawValue])
        stack.setField("missed", Int(item.held.missedBy[cause.rawValue]))
        stack.rawSet(-3)
      }
      stack.rawSet(-3)
      stack.setList("nests", item.held.nests) { nest in
        stack.newTable(fields: 4)
        stack.setField("item", nest.nester + 1)
        stack.setField("mode", nest.mode.rawValue)
        stack.setSeconds("time", nest.time)
        stack.setField("missed", Int(nest.missed))
      }
      stack.setField("wake_ups", item.wakeUps)
      stack.setSeconds("busy", item.durations.sum)
      stack.setSeconds("busy_max", item.durations.max)
      stack.setList("columns", item.columns) { stack.push(Int($0)) }
      stack.setList("busy_columns", item.busyColumns) { stack.push(Double($0) / 1e9) }
      stack.setList("held_columns", item.heldColumns) { stack.push(Double($0) / 1e9) }
    }
    stack.setList("sleep_columns", recorder.sleepColumns) { stack.push(Double($0) / 1e9) }
    stack.setList("pass_columns", recorder.passColumns) { stack.push(Int($0)) }
    stack.setList("runs", recorder.runs) { run in
      stack.newTable(fields: 8)
      stack.setField("mode", run.mode)
      stack.setField("depth", run.depth)
      stack.setSeconds("from", run.begin)
      stack.setSeconds("to", run.end)
      stack.setField("count", run.count)
    }
    stack.setList("details", recorder.details) { detail in
      stack.newTable(fields: 8)
      stack.setField("what", "\(detail.what)")
      stack.setField("item", detail.item + 1)
      stack.setField("depth", detail.depth)
      stack.setField("mode", detail.mode)
      stack.setSeconds("from", detail.begin)
      stack.setSeconds("to", detail.end)
      stack.setSeconds("late", detail.late)
    }
  }
}

extension LuaStack {
  /// Sets a field of the table on top to a time in seconds. [-0, +0]
  func setSeconds(_ name: StaticString, _ nanoseconds: Int64) {
    setField(name, Double(nanoseconds) / 1e9)
  }
}
