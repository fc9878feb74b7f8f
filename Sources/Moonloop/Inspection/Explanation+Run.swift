// Why a run does not finish, in words.

internal import LuaEmbed
internal import MoonloopCore

extension Explanation {
  /// What keeps the run from finishing, in the mode that runs or the default mode.
  func whyItRuns() -> String {
    let mode = scriptRun?.mode.name ?? .default
    let verb = scriptRun?.mode.name == nil ? "would keep" : "keeps"
    var holders: [String] = []
    var isOwnTurn = false
    for item in handles.items where item.holds && loop.contains(item, mode: mode) {
      if type(of: itemKinds[item]).holdsRuns { holders.append(runtime.label(of: .item(item))) }
    }
    for id in handles.timers(of: loop, madeBy: runtime.context) where loop.contains(id, mode) {
      let record = loop.timers.records[id.slot]
      if record.flags.contains(.idle) { continue }
      if tasks.isTurn(record.callout) {
        // That of the task which runs now ends when a run begins.
        guard let task = tasks[record.callout.payload], task.wait?.timer == id else {
          isOwnTurn = true
          continue
        }
        holders.append("\(runtime.label(of: .task(task))), which waits \(tasks.forWhat(task))")
      } else if let failed = tasks.unawaited[id] {
        holders.append(
          "the failure of \(runtime.label(of: .task(failed.task))), to be reported now")
      } else {
        holders.append(runtime.label(of: .timer(id)) + firingNote(record))
      }
    }
    for request in requests.waiting.values where request.modes.contains(where: { covers($0, mode) })
    {
      holders.append(runtime.label(of: .request(request)))
    }
    if holders.isEmpty {
      if !isOwnTurn && loop.contents(of: mode)?.isEmpty == false {
        return "mode '\(mode)': what \(verb) it running was not made by this script"
      }
      return "mode '\(mode)': nothing \(verb) it running"
    }
    let verbs = holders.count > 1 && scriptRun != nil ? "keep" : verb
    return "mode '\(mode)': \(holders.count) \(verbs) it running:\n  "
      + holders.sorted().joined(separator: "\n  ")
  }

  /// A one-shot timer stays in its modes until its handler has returned, as with CFRunLoop.
  private func firingNote(_ record: TimerRecord) -> String {
    if !record.flags.contains(.firing) || record.interval > 0 { return "" }
    let verb = scriptRuns.count > 1 ? "does" : "would"
    return ", whose handler runs now: it cannot fire, yet it is in the mode until that returns, so "
      + "a run begun in there \(verb) not finish by itself; give it a timeout, stop it, or run "
      + "another mode"
  }

  private func covers(_ name: ModeName, _ mode: ModeName) -> Bool {
    name == mode || (name == .common && loop.isCommonMode(mode))
  }
}
