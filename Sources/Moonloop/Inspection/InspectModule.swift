// Looking inside: `loop:dump()` lists every handle, `loop:why()` says why something does not happen
// (D37, D38).

internal import LuaEmbed
internal import MoonloopCore

/// `loop:dump()`: a text with a line for each handle, task and request.
func loopDump(_ call: HostCall) throws -> some LuaPushable {
  try call.requireLoop()
  return call.runtime.explanation.dump()
}

/// `loop:why(handle)`: why it is not called; `loop:why()`: what keeps the loop from finishing.
func loopWhy(_ call: HostCall) throws -> Int32 {
  let runtime = call.runtime
  switch call.stack.type(2) {
  case .none, .nil: call.stack.push(runtime.explanation.whyItRuns())
  default:
    if let handle = runtime.kinds.timer.handle(call.stack.L, 2), let id = call.timerID(2) {
      call.stack.push(runtime.explanation.why(timer: id, endedAt: handle.timerEndedAt))
    } else if let process = call.process(2) {
      call.stack.push(runtime.explanation.why(process.source, endedAt: nil))
    } else if let handle = call.itemHandle(2) {
      call.stack.push(runtime.explanation.why(handle))
    } else if let handle = runtime.kinds.programItem.handle(call.stack.L, 2) {
      call.stack.push(runtime.explanation.why(programItem: handle.item))
    } else if let handle = runtime.kinds.request.handle(call.stack.L, 2) {
      let request = handle.object(as: ScriptRequest.self)!
      call.stack.push(runtime.explanation.why(request))
    } else if let text = runtime.explanation.whyOther(call) {
      call.stack.push(text)
    } else {
      throw call.mistake("takes a handle, such as a timer or a task, got \(call.given(2))")
    }
  }
  return 1
}

/// One line of `loop:dump()`.
private struct DumpRow {
  var kind: String
  var name: String
  var modes: String
  var madeAt: String
  var fires: String
  /// Time in the handler, the longest call, how late and how long held back at worst; nil: not
  /// measured.
  var figures: (total: String, max: String, late: String, held: String)?
  var state: String

  static func titles(isMeasured: Bool) -> DumpRow {
    DumpRow(
      kind: "kind", name: "name", modes: "modes", madeAt: "made at", fires: "fires",
      figures: isMeasured ? ("total", "max", "late", "held") : nil, state: "state")
  }

  var columns: [String] {
    let measured = figures.map { [$0.total, $0.max, $0.late, $0.held] } ?? []
    return ([kind, name, modes, madeAt, fires] + measured + [state]).map(Self.shortened)
  }

  /// Names, modes and descriptions come from scripts: a long one would make all rows long.
  private static let longestCell = 200

  private static func shortened(_ text: String) -> String {
    text.utf8.count <= longestCell ? text : String(text.prefix(longestCell - 1)) + "…"
  }
}

extension Explanation {
  fileprivate func dump() -> String {
    let place = { (position: LuaPosition) in (position.source, position.line) }
    var rows = handles.items.sorted { place(handles.place(of: $0)) < place(handles.place(of: $1)) }
      .map(row)
    rows += handles.timers(of: loop, madeBy: runtime.context).filter { !isOwn($0) }.map(row)
    rows += tasks.all.map(row)
    rows += requests.waiting.values.sorted { place($0.madeAt) < place($1.madeAt) }.map(row)
    let mode =
      loop.currentMode.map { "runs in mode '\($0)', depth \(loop.depth)" } ?? "does not run"
    let note = measuring == nil ? "; not measured: loop:metrics() begins" : ""
    let head = "\(loop.name) \(mode), \(loop.passes) passes"
    if rows.isEmpty { return head + "; no handles" }
    let titles = DumpRow.titles(isMeasured: measuring != nil)
    return ([head + note] + runLines + modeLines + [table([titles] + rows)])
      .joined(separator: "\n")
  }

  /// The nested runs, and what began them.
  private var runLines: [String] {
    let modes = [loop.currentMode].compactMap { $0 } + loop.outerModes
    if modes.count < 2 { return [] }
    let last = console.visit != nil || loop.clockIsStopped ? [blocker()] : []
    return last
      + modes.reversed().enumerated().map { place, mode in
        guard let nester = runs.nesters.last(where: { $0.depth == place + 1 }) else {
          return "run \(place + 1): mode '\(mode)'"
        }
        let time = seconds(loop.clock.now() - nester.began)
        if mode == consoleMode {
          return "run \(place + 1): mode '\(mode)', for consoles, \(time) ago"
        }
        let who = runtime.label(of: nester.who.subject)
        return "run \(place + 1): mode '\(mode)', begun by \(who) \(time) ago"
      }
  }

  /// What is in each mode that has been used.
  private var modeLines: [String] {
    loop.modeNames.compactMap { name in
      guard let mode = loop.contents(of: name) else { return nil }
      let counts = [
        ("timer", mode.timers), ("source", mode.sources), ("descriptor", mode.descriptors),
        ("port", mode.ports), ("observer", mode.observers), ("request", mode.blocks),
      ].filter { $0.1 > 0 }.map { "\($0.1) \($0.0)\($0.1 == 1 ? "" : "s")" }
      let next = loop.nextUnservedDate(mode: name).map { date in
        let wait = date.nanoseconds - loop.clock.now()
        return wait > 0 ? ", the next date in \(seconds(wait))" : ", a timer is due"
      }
      return "mode '\(name)'\(mode.isCommon ? " (common)" : ""): "
        + (counts.isEmpty ? "nothing" : counts.joined(separator: ", ")) + (next ?? "")
        + (mode.isEmpty ? "; a run is finished at once" : "")
    }
  }

  /// The times for a place and name, if they are measured.
  private func figures(
    _ subject: RecordedSubject
  ) -> (total: String, max: String, late: String, held: String)? {
    guard let measuring else { return nil }
    guard let row = measuring.figures(subject), row.calls > 0 else { return ("-", "-", "-", "-") }
    let late = row.lateness.count == 0 ? "-" : short(row.lateness.max)
    let held = row.held.count == 0 ? "-" : short(row.held.max)
    return (short(row.durations.sum), short(row.durations.max), late, held)
  }

  /// A measured time: "1.25 ms".
  private func short(_ nanoseconds: Int64) -> String {
    if nanoseconds < 1000 { return "\(nanoseconds) ns" }
    if nanoseconds < 1_000_000 { return "\(LuaText.short(Double(nanoseconds / 100) / 10)) us" }
    if nanoseconds < 1_000_000_000 {
      return "\(LuaText.short(Double(nanoseconds / 10_000) / 100)) ms"
    }
    return seconds(nanoseconds)
  }

  /// Columns of equal width, except the last.
  private func table(_ rows: [DumpRow]) -> String {
    let columns = rows.map(\.columns)
    let widths = columns[0].indices.map { column in columns.map { $0[column].count }.max() ?? 0 }
    return columns.map { cells in
      cells.indices.map { column in
        let cell = cells[column]
        if column == cells.count - 1 { return cell }
        return cell + String(repeating: " ", count: widths[column] - cell.count + 2)
      }.joined()
    }.joined(separator: "\n")
  }

  /// A timer of ours: one that resumes a task is shown with that.
  func isOwn(_ id: TimerID) -> Bool {
    tasks.isOfWait(loop.timers.records[id.slot].callout)
  }

  private func row(_ item: Loop.Item) -> DumpRow {
    DumpRow(
      kind: itemKinds.word(for: item), name: item.name.isEmpty ? "-" : item.name,
      modes: list(loop.contains(item, mode: .common), loop.modes(of: item)),
      madeAt: state.text(of: handles.place(of: item)), fires: "\(item.callouts)",
      figures: figures(recorded(item)),
      state: stateText(item) + (item.holds ? "" : ", keep_alive(false)"))
  }

  private func row(_ id: TimerID) -> DumpRow {
    let record = loop.timers.records[id.slot]
    let name = handles.name(ofTimer: id)
    let every = record.interval > 0 ? ", every \(seconds(record.interval))" : ""
    return DumpRow(
      kind: "timer", name: name.isEmpty ? "-" : name,
      modes: list(record.flags.contains(.common), loop.modeNames(of: id)),
      madeAt: state.text(of: handles.place(ofTimer: id)), fires: "\(record.fires)",
      figures: figures(recorded(timer: id)),
      state: dueText(record) + every
        + (record.flags.contains(.idle) ? ", keep_alive(false)" : ""))
  }

  private func row(_ task: ScriptTask) -> DumpRow {
    DumpRow(
      kind: "task", name: task.name.isEmpty ? "-" : task.name,
      modes: task.servingModes.map(\.rawValue).joined(separator: ","),
      madeAt: task.madeAt.source < 0 ? "-" : state.text(of: task.madeAt), fires: "-",
      figures: figures(recorded(.task(task))),
      state: "waits \(tasks.forWhat(task))")
  }

  private func row(_ request: ScriptRequest) -> DumpRow {
    DumpRow(
      kind: "\(request.kind)", name: "-",
      modes: request.modes.map(\.rawValue).joined(separator: ","),
      madeAt: state.text(of: request.madeAt), fires: "-",
      figures: measuring == nil ? nil : ("-", "-", "-", "-"), state: "pending")
  }

  private func list(_ isCommon: Bool, _ modes: [ModeName]) -> String {
    let names = modes.map(\.rawValue).joined(separator: ",")
    if isCommon { return "common(\(names))" }
    return names.isEmpty ? "-" : names
  }

  /// What an item is doing now, in a few words.
  private func stateText(_ item: Loop.Item) -> String {
    if let task = waitingHandler(of: item) { return "its handler waits \(tasks.forWhat(task))" }
    return itemKinds[item].stateText(of: item)
  }

  func dueText(_ record: TimerRecord) -> String {
    if record.date == .max { return "no date" }
    let wait = record.date.subtractingReportingOverflow(loop.clock.now())
    if wait.overflow { return "no date" }
    return wait.partialValue > 0
      ? "due in \(seconds(wait.partialValue))" : "due \(seconds(-wait.partialValue)) ago"
  }

  /// A readable time: "2.5 s", "3 days".
  func seconds(_ nanoseconds: Int64) -> String {
    let seconds = Double(nanoseconds) / 1e9
    if seconds >= 2 * 31_557_600 { return "\(Int(seconds / 31_557_600)) years" }
    if seconds >= 2 * 86_400 { return "\(Int(seconds / 86_400)) days" }
    return "\(LuaText.short((seconds * 1000).rounded() / 1000)) s"
  }
}
