// What can be in the way of any kind of handle: no mode, no run, another mode, a handler that
// occupies the thread.

internal import LuaEmbed
internal import MoonloopCore

extension Explanation {
  /// No mode, no run, or another mode.
  func obstacle(
    modes: [ModeName], isCommon: Bool, doing: String, state: String?
  ) -> String? {
    let suffix = state.map { " (\($0))" } ?? ""
    if self.state.isCondemned {
      return "limits stopped the script too often, so none of it runs any more; see ml.limit"
    }
    if modes.isEmpty {
      return isCommon
        ? "it is in the common modes, but no mode is common"
        : "it was not added to a mode, or was removed; use loop:add\(suffix)"
    }
    let list = modes.map(\.rawValue).joined(separator: ", ")
    guard let current = scriptRun?.mode.name else {
      return
        "the loop does not run\(stopWords); it can \(doing) once it runs in \(list)\(suffix)"
        + "; \(howToRun(modes))"
    }
    if modes.contains(current) { return nil }
    let mode = current.isOfWait ? "a private mode of task:wait" : "mode '\(current)'"
    let place = "the loop runs in \(mode), but it is in \(list)\(suffix)"
    if let outer = outerRun(modes) { return place + outer }
    if current.isOfWait { return place + "; \(insteadOfWait)" }
    if isCommon {
      return place + "; '\(current)' is not a common mode: "
        + "loop:add_common_mode \"\(current)\" makes it one"
    }
    if let hint = misspelled(modes, [current]) { return place + ": \(hint)" }
    return place + "; add it to '\(current)' too, or run '\(modes[0])'"
  }

  /// Why the last run is over, if an error ended it.
  private var stopWords: String {
    errors.stopper.map { ", because an error in \(label(of: $0)) has stopped it (on_error)" } ?? ""
  }

  private func howToRun(_ modes: [ModeName]) -> String {
    if loop.hasPendingStop {
      return "the next run ends at once, because of a remembered stop (stop_when_next_looking)"
    }
    if let bed, !bed.runsProgram {
      return "run it and advance its clock: clock:advance(seconds) does both"
    }
    if let hint = misspelled(modes, [.default] + loop.modeNames.filter(loop.isCommonMode)) {
      return hint
    }
    if !modes.contains(.default) { return "call loop:run { mode = \"\(modes[0])\" }" }
    if runs.ranLoop {
      return "this script runs its loop by itself, so call loop:run() again"
    }
    return "it starts when the main chunk has returned, or with loop:run()"
  }

  /// An item's only mode nearly has the name of an existing one.
  private func misspelled(_ modes: [ModeName], _ others: [ModeName]) -> String? {
    guard modes.count == 1, modes[0].rawValue.utf8.count > 3, !others.contains(modes[0]),
      let near = LuaText.nearest(to: modes[0].rawValue, among: others.map(\.rawValue))
    else { return nil }
    return "is that meant to be '\(near)'?"
  }

  /// An outer run would serve it: it waits for the handler that began this one, and for the runs
  /// between them.
  private func outerRun(_ modes: [ModeName]) -> String? {
    let runs = Array(scriptRuns)
    let isOuter = { (place: Int) in modes.contains(runs[place].mode.name) }
    guard let outer = runs.indices.dropFirst().first(where: isOuter) else { return nil }
    let mode = runs[outer].mode.name
    let inner = runs[1..<outer].enumerated().map { place, run in
      let who = nester(ofDepth: runs.count - 1 - place).map { ", of \(label(of: $0))" } ?? ""
      return "the one in '\(run.mode.name)'\(who)"
    }
    let ending =
      inner.isEmpty ? " ends" : " and \(inner.joined(separator: " and ")), have ended"
    guard let nester = nester(ofDepth: runs.count) else {
      return "; the run in '\(mode)' continues when this one" + ending
    }
    let time = loop.clock.now() - nester.began
    let current = runs[0].mode.name
    return
      "; \(label(of: nester)) has been running this one for \(seconds(time)), and the run in "
      + "'\(mode)' continues when it\(ending): "
      + (current.isOfWait
        ? insteadOfWait : "give it a timeout, or name '\(current)' among the modes")
  }

  private func nester(ofDepth depth: Int) -> Nester? {
    runs.nesters.last { $0.depth == depth }
  }

  private func label(of nester: Nester) -> String { runtime.label(of: nester.who.subject) }

  private var insteadOfWait: String {
    "use task:await, or task:wait { mode = \"default\" }"
  }

  /// What occupies the thread now.
  func blocker() -> String {
    if loop.depth > scriptRuns.count && console.visit == nil || loop.clockIsStopped {
      return standing()
    }
    let who = console.visit?.who.subject ?? current
    let words =
      switch who {
      case .chunk: "\(runtime.chunkWord) runs now"
      case .task(let task): "\(runtime.label(of: .task(task))) runs now"
      default: "the handler of \(runtime.label(of: who)) runs now"
      }
    // The time is known if it is measured.
    if console.visit == nil, let call = measuring?.recorder.calls.last {
      let time = measuring!.recorder.time(of: call)
      return time < 1_000_000 ? words : words + ", for \(seconds(time)) so far"
    }
    let time = loop.depth == 0 ? 0 : loop.clock.now() - (console.visit?.began ?? loop.passBegan)
    return time < 1_000_000 ? words : words + ", in a pass that takes \(seconds(time)) so far"
  }

  /// Only a console is served.
  private func standing() -> String {
    let nester = runs.nesters.last { $0.depth == scriptRuns.count + 1 }
    let who = console.visit?.who.subject ?? nester?.who.subject ?? current
    return loop.clockIsStopped
      ? "the program is stopped at a breakpoint in \(runtime.label(of: who)) until :continue"
      : "a console is served now"
  }

  /// The runs, innermost first, except those that serve a console.
  var scriptRuns: ArraySlice<RunFrame> {
    loop.runs.frames.reversed().drop { $0.mode.name == consoleMode }
  }

  var scriptRun: RunFrame? { scriptRuns.first }
}

/// The mode that serves only consoles.
let consoleMode = ModeName("moonloop.debug")

/// A call-out that a console interrupts.
struct Visit {
  let loop: ObjectIdentifier
  let who: Running
  /// When the current pass began.
  let began: Int64
  /// The passes so far: the same number at the next visit means the same pass.
  var passes: UInt64 = 0
}
