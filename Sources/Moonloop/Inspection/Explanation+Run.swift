// Why a run does not finish, as text.

internal import LuaEmbed
internal import MoonloopCore

extension Explanation {
  /// What keeps the run from finishing, in the mode that runs or the default mode.
  func whyItRuns() -> String {
    let mode = scriptRun?.mode.name ?? .default
    let verb = scriptRun?.mode.name == nil ? "would keep" : "keeps"
    var holders: [String] = []
    for item in handles.items where item.holds && loop.contains(item, mode: mode) {
      if type(of: itemKinds[item]).holdsRuns { holders.append(runtime.label(of: .item(item))) }
    }
    for id in handles.timers(of: loop, madeBy: runtime.context) where loop.contains(id, mode) {
      let record = loop.timers.records[id.slot]
      if record.flags.contains(.idle) || tasks.isOfWait(record.callout) { continue }
      holders.append(runtime.label(of: .timer(id)) + firingNote(record))
    }
    for (id, failed) in tasks.unawaited where loop.contains(id, mode) {
      holders.append("the failure of \(runtime.label(of: failed.subject)), to be reported now")
    }
    for task in tasks.all where task.wait.map({ loop.contains($0.timer, mode) }) ?? false {
      holders.append("\(runtime.label(of: .task(task))), which waits \(tasks.forWhat(task))")
    }
    for request in requests.waiting.values where request.modes.contains(where: { covers($0, mode) })
    {
      holders.append(runtime.label(of: .request(request)))
    }
    if holders.isEmpty {
      if loop.contents(of: mode)?.isEmpty == false {
        return "mode '\(mode)': what \(verb) it running was not made by this script"
      }
      return "mode '\(mode)': nothing \(verb) it running"
    }
    let verbs = holders.count > 1 && scriptRun != nil ? "keep" : verb
    return "mode '\(mode)': \(holders.count) \(verbs) it running:\n  "
      + holders.sorted().joined(separator: "\n  ")
  }

  /// What is in a mode and has `keep_alive(false)`, in order.
  func idle(in mode: ModeName) -> [String] {
    let items = handles.items.filter {
      let kind = type(of: itemKinds[$0])
      return !$0.holds && kind.holdsRuns && !kind.holdsAtTimes && loop.contains($0, mode: mode)
    }
    let timers = handles.timers(of: loop, madeBy: runtime.context).filter {
      let record = loop.timers.records[$0.slot]
      return record.flags.contains(.idle) && loop.contains($0, mode)
        && !tasks.isOfWait(record.callout)
    }
    return
      (items.map { runtime.label(of: .item($0)) }
      + timers.map { runtime.label(of: .timer($0)) }).sorted()
  }

  /// A one-shot timer stays in its modes until its handler has returned, as with CFRunLoop.
  private func firingNote(_ record: TimerRecord) -> String {
    if !record.flags.contains(.firing) || record.interval > 0 { return "" }
    let verb = scriptRuns.count > 1 ? "does" : "would"
    return ", whose handler is running: it cannot fire again, but stays in the mode until the "
      + "handler returns, so a run started there \(verb) not finish by itself; set a timeout, stop "
      + "it, or run another mode"
  }

  private func covers(_ name: ModeName, _ mode: ModeName) -> Bool {
    name == mode || (name == .common && loop.isCommonMode(mode))
  }
}
