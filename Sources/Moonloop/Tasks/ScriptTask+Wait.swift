// Waiting for a task by a nested run, for code that cannot suspend (D20, D50).

internal import LuaEmbed
internal import MoonloopCore

/// A `task:wait` that is under way.
final class ActiveWait {
  let task: ScriptTask
  /// Whose code waits, if it is a task.
  let owner: ScriptTask?
  /// The depth of its run.
  let depth: Int
  var isOver = false

  init(task: ScriptTask, owner: ScriptTask?, depth: Int) {
    self.task = task
    self.owner = owner
    self.depth = depth
  }
}

extension Tasks {
  /// Runs the loop until a task has ended.
  /// - Parameter mode: nil follows D50: `default` at top level, otherwise a private mode that
  ///   serves only the task and its scope.
  func run(
    until task: ScriptTask, mode: ModeName?, timeout: Duration?, owner: ScriptTask?
  ) -> (result: RunResult, mode: ModeName) {
    let isPrivate = mode == nil && loop.depth > 0
    let mode = mode ?? (isPrivate ? privateMode : .default)
    let wait = ActiveWait(task: task, owner: owner, depth: loop.depth + 1)
    waits.append(wait)
    if isPrivate { join(task, mode) }
    context.runs.prepare(mode)
    let outer = current
    context.runs.noteNesting()
    defer { context.runs.endNesting() }
    let budget = state.suspendBudget()
    let result = loop.run(mode: mode, for: timeout)
    state.resumeBudget(budget)
    current = outer
    if isPrivate { leave(task, mode) }
    waits.removeLast()
    _ = loop.takeStopValue()
    stopFinishedWait()
    context.runs.stopAfterExit()
    return (result, mode)
  }

  private var privateMode: ModeName {
    ModeName("\(ModeName.waitPrefix)\(waits.count + 1)")
  }

  /// Also serves in a mode what a task and its scope wait for now and later.
  private func join(_ task: ScriptTask, _ mode: ModeName) {
    task.forEachInTree { task in
      task.waitModes.append(mode)
      guard let wait = task.wait else { return }
      loop.add(wait.timer, mode)
      switch wait.cause {
      case .callback(let callback): callback.handle?.add(to: mode, loop)
      case .other(let other): other.join(mode, loop)
      case .task, .sleep: break
      }
    }
  }

  private func leave(_ task: ScriptTask, _ mode: ModeName) {
    task.forEachInTree { task in
      task.waitModes.removeAll { $0 == mode }
      guard let wait = task.wait else { return }
      loop.remove(wait.timer, [mode])
      switch wait.cause {
      case .callback(let callback): callback.handle?.remove(from: mode, loop)
      case .other(let other): other.leave(mode, loop)
      case .task, .sleep: break
      }
    }
  }

  /// A task has ended: the run that waits for it goes on.
  func noteForWaits(_ task: ScriptTask) {
    guard !waits.isEmpty else { return }
    for wait in waits where wait.task === task { wait.isOver = true }
    stopFinishedWait()
  }

  /// A task that runs the loop itself was cancelled: its wait ends.
  func endWaits(of owner: ScriptTask) {
    for wait in waits where wait.owner === owner { wait.isOver = true }
    stopFinishedWait()
  }

  /// Stops the innermost run if it belongs to a wait that is over; called again whenever a
  /// run inside one has ended.
  func stopFinishedWait() {
    if let wait = waits.last(where: { $0.depth == loop.depth }), wait.isOver { loop.stop() }
  }

  // MARK: As text

  /// Why a wait for a task can never end: what it waits for, and where that would be served.
  func deadlock(of task: ScriptTask, in mode: ModeName) -> String {
    var last = task
    var text = runtime.label(of: .task(task))
    var seen = 0
    while case .task(let other)? = last.wait?.cause, seen < 8 {
      text += " waits for \(runtime.label(of: .task(other))), which"
      last = other
      seen += 1
    }
    if last.phase == .joining, let child = last.children.all.first {
      text += " waits for \(runtime.label(of: .task(child))), which"
      last = child
    }
    text += " waits \(forWhat(last))"
    let modes = last.servingModes.map { "'\($0)'" }.joined(separator: ", ")
    return
      "deadlock: nothing is left in mode '\(mode)' that could end the wait: \(text); it would be "
      + "served in \(modes.isEmpty ? "no mode" : modes)" + notAwaited(in: mode)
  }

  /// What might still have ended a wait in a mode, had its run not ended without it.
  private func notAwaited(in mode: ModeName) -> String {
    let left = runtime.explanation.idle(in: mode)
    guard let first = left.first else { return "" }
    let more = left.count > 1 ? " (and \(left.count - 1) more like this)" : ""
    return
      "; \(first) might end the wait, but has keep_alive(false), so no run goes on for it\(more)"
  }

  /// Whether a place is in one of our own modules.
  func isOurs(_ place: LuaPosition) -> Bool {
    place.source >= 0 && state.name(of: place).hasPrefix("moonloop/")
  }

  /// Where the function of a suspended task waits, or where the task was made if it is one of
  /// ours; nil if Lua has no line for it.
  func placeOfWait(_ task: ScriptTask) -> LuaPosition? {
    guard let coroutine = task.coroutine, state.isSuspended(coroutine) else { return nil }
    let place = state.stack(of: coroutine).position
    if place.source < 0 || !isOurs(place) { return place.source < 0 ? nil : place }
    return task.madeAt.source < 0 || isOurs(task.madeAt) ? nil : task.madeAt
  }

  /// What a task waits for, as text after "waits".
  func forWhat(_ task: ScriptTask) -> String {
    if task.phase == .running { return "for its own call to return" }
    if task.phase == .prepared { return "for its first turn" }
    guard let wait = task.wait else { return "for its children" }
    let place = placeOfWait(task).map { " (\(state.text(of: $0)))" } ?? ""
    if task.isReady { return "for its next turn\(place)" }
    switch wait.cause {
    case .task(let other): return "for \(runtime.label(of: .task(other)))\(place)"
    case .callback: return "for a callback\(place)"
    case .sleep(let time): return "for a sleep of \(Double(time) / 1e9) s\(place)"
    case .other(let other): return "\(other.purpose)\(place)"
    }
  }
}

extension ModeName {
  fileprivate static let waitPrefix = "moonloop.wait."

  /// Whether it is a private mode of `task:wait`, which no script can name.
  var isOfWait: Bool { rawValue.hasPrefix(Self.waitPrefix) }
}
