// Looking inside: `loop:dump()` lists every handle, `loop:why()` says why something does not happen
// (D37, D38).

internal import LuaEmbed
internal import MoonloopCore

/// `loop:dump()`: a text with a line for each handle, task and request.
let loopDump: LuaRawFunction = { L, context in
  host(L, context, "dump") { call in
    try call.requireLoop()
    call.stack.push(call.runtime.dump())
    return 1
  }
}

/// `loop:why(handle)`: why it is not called; `loop:why()`: what keeps the loop from finishing.
let loopWhy: LuaRawFunction = { L, context in
  host(L, context, "why") { call in
    try call.requireLoop()
    let runtime = call.runtime
    switch call.stack.type(2) {
    case .none, .nil: call.stack.push(runtime.whyItRuns())
    default:
      if let handle = runtime.kinds.timer.handle(call.stack.L, 2), let id = call.timerID(2) {
        call.stack.push(runtime.why(timer: id, endedAt: handle.timerEndedAt))
      } else if let process = call.process(2) {
        call.stack.push(runtime.why(process.source, endedAt: nil))
      } else if let handle = call.itemHandle(2) {
        call.stack.push(runtime.why(handle))
      } else if let handle = runtime.kinds.request.handle(call.stack.L, 2) {
        let request = Unmanaged<ScriptRequest>.fromOpaque(handle.pointer!).takeUnretainedValue()
        call.stack.push(runtime.why(request))
      } else if let text = runtime.whyOther(call) {
        call.stack.push(text)
      } else {
        throw call.mistake("takes a handle, such as a timer or a task, got \(call.given(2))")
      }
    }
    return 1
  }
}

/// One line of `loop:dump()`.
private struct DumpRow {
  var kind: String
  var name: String
  var modes: String
  var madeAt: String
  var fires: String
  var state: String

  static let titles = DumpRow(
    kind: "kind", name: "name", modes: "modes", madeAt: "made at", fires: "fires", state: "state")

  var columns: [String] { [kind, name, modes, madeAt, fires, state] }
}

extension Runtime {
  fileprivate func dump() -> String {
    let place = { (position: LuaPosition) in (position.source, position.line) }
    var rows = handles.items.sorted { place(handles.place(of: $0)) < place(handles.place(of: $1)) }
      .map(row)
    rows += handles.timers(of: loop, madeBy: context).filter { !isOwn($0) }.map(row)
    rows += tasks.all.map(row)
    rows += requests.values.sorted { place($0.madeAt) < place($1.madeAt) }.map(row)
    let mode =
      loop.currentMode.map { "runs in mode '\($0)', depth \(loop.depth)" } ?? "does not run"
    let head = "\(loop.name) \(mode), \(loop.passes) passes"
    return rows.isEmpty ? head + "; no handles" : head + "\n" + table([DumpRow.titles] + rows)
  }

  /// Columns of equal width, but for the last.
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
    isTurn(loop.timers.records[id.slot].callout) || unawaited[id] != nil
  }

  private func row(_ item: Loop.Item) -> DumpRow {
    DumpRow(
      kind: word(for: item), name: item.name.isEmpty ? "-" : item.name,
      modes: list(loop.contains(item, mode: .common), loop.modes(of: item)),
      madeAt: state.text(of: handles.place(of: item)), fires: "\(item.callouts)",
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
      state: dueText(record) + every
        + (record.flags.contains(.idle) ? ", keep_alive(false)" : ""))
  }

  private func row(_ task: ScriptTask) -> DumpRow {
    DumpRow(
      kind: "task", name: task.name.isEmpty ? "-" : task.name,
      modes: servingModes(of: task).map(\.rawValue).joined(separator: ","),
      madeAt: task.madeAt.source < 0 ? "-" : state.text(of: task.madeAt), fires: "-",
      state: "waits \(forWhat(task))")
  }

  private func row(_ request: ScriptRequest) -> DumpRow {
    DumpRow(
      kind: "\(request.kind)", name: "-",
      modes: request.modes.map(\.rawValue).joined(separator: ","),
      madeAt: state.text(of: request.madeAt), fires: "-", state: "pending")
  }

  private func list(_ isCommon: Bool, _ modes: [ModeName]) -> String {
    let names = modes.map(\.rawValue).joined(separator: ",")
    if isCommon { return "common(\(names))" }
    return names.isEmpty ? "-" : names
  }

  /// What an item does now, in a few words.
  private func stateText(_ item: Loop.Item) -> String {
    if let task = waitingHandler(of: item) { return "its handler waits \(forWhat(task))" }
    if let nature = item.nature { return nature.stateText(item) }
    switch item {
    case let source as Loop.Source: return source.isSignalled ? "signalled" : "idle"
    case let port as Loop.Port:
      return port.isSuspended ? "no handler, \(port.waiting) waiting" : "\(port.waiting) waiting"
    case let source as Loop.DescriptorSource:
      let events = source.enabled.isEmpty ? "nothing" : source.enabled.description
      return "descriptor \(source.fd), enabled: \(events)"
    case let observer as Loop.Observer: return "on \(names(of: observer.activities))"
    default: return ""
    }
  }

  func names(of activities: Activity) -> String {
    activityNames.filter { activities.contains($0.value) }.map(\.name).joined(separator: ",")
  }

  func dueText(_ record: TimerRecord) -> String {
    if record.date == .max { return "no date" }
    let wait = record.date.subtractingReportingOverflow(loop.clock.now())
    if wait.overflow { return "no date" }
    return wait.partialValue > 0
      ? "due in \(seconds(wait.partialValue))" : "due since \(seconds(-wait.partialValue))"
  }

  /// A time for people: "2.5 s", "3 days".
  func seconds(_ nanoseconds: Int64) -> String {
    let seconds = Double(nanoseconds) / 1e9
    if seconds >= 2 * 31_557_600 { return "\(Int(seconds / 31_557_600)) years" }
    if seconds >= 2 * 86_400 { return "\(Int(seconds / 86_400)) days" }
    return "\(LuaText.short((seconds * 1000).rounded() / 1000)) s"
  }
}
