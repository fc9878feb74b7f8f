// What a program says at its end of items that nothing could serve, and of runs that had nothing to
// serve: both do nothing, and would do it silently.

internal import LuaEmbed
internal import MoonloopCore

extension MainChunk {
  /// Reports, after the run of the default mode has finished, items that are only in modes that
  /// were never run, and signalled sources that are in no mode.
  package func reportUnserved() {
    var found: [String] = []
    for item in runtime.handles.items where item.isValid && item.holds {
      let modes = runtime.loop.modes(of: item)
      if modes.isEmpty && !item.isPending { continue }
      if let why = whyUnserved(in: modes) { found.append(runtime.label(of: .item(item)) + why) }
    }
    for id in runtime.handles.timers(of: runtime.loop, madeBy: runtime.context) {
      let record = runtime.loop.timers.records[id.slot]
      let modes = runtime.loop.modeNames(of: id)
      if record.flags.contains(.idle) || runtime.tasks.isOfWait(record.callout) { continue }
      if modes.isEmpty { continue }
      if let why = whyUnserved(in: modes) { found.append(runtime.label(of: .timer(id)) + why) }
    }
    guard let first = found.min() else { return }
    runtime.errors.write(
      "moonloop: \(first)\(found.count > 1 ? " (and \(found.count - 1) more like this)" : "")")
  }

  /// Why an item in these modes was never served, and what to do; nil if one of them was run.
  private func whyUnserved(in modes: [ModeName]) -> String? {
    let never = " was never served: it is in "
    guard let mode = modes.first else { return never + "no mode; add it with loop:add" }
    let ran = runtime.runs.modes.union([.default])
    if !ran.isDisjoint(with: modes) { return nil }
    let others = ran.map(\.rawValue)
    let names = modes.map { "'\($0)'" }.joined(separator: " and ")
    let what = never + names + ", which nothing has run; "
    if let near = LuaText.nearest(to: mode.rawValue, among: others) {
      return what + "did you mean '\(near)'?"
    }
    let list = others.sorted().map { "'\($0)'" }.joined(separator: ", ")
    return what + "call loop:run { mode = \"\(mode)\" }, or add it to a mode that runs: \(list)"
  }

  /// Reports the runs that handlers began and that ended at once: nothing was ever in their mode.
  package func reportEmptyRuns() {
    for run in runtime.runs.empty where runtime.loop.findMode(run.mode) == nil {
      let mode = run.mode
      runtime.errors.write(
        "moonloop: loop:run in mode '\(mode)'\(run.site) ended at once: nothing was ever in that "
          + "mode; add the items to it that the run is to serve (modes = \"\(mode)\"), or remove "
          + "the run")
    }
  }
}
