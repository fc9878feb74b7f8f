// Tasks: Lua coroutines that the loop resumes. Every handler is one as soon as it waits (D58).

package import LuaEmbed
package import MoonloopCore

/// What a suspended task waits for, and how to give that up.
package struct Wait {
  /// In words, for `why` and for deadlocks: "a sleep of 2 s".
  package var what: String
  /// The timer that ends it; zero if none does.
  package var timer = TimerID(rawValue: 0)
  /// Ends the wait without an answer, when the task is cancelled.
  package var abandon: (() -> Void)?
  /// Where the script waits.
  package var place = LuaPosition.nowhere

  package init(what: String, timer: TimerID = TimerID(rawValue: 0), abandon: (() -> Void)? = nil) {
    self.what = what
    self.timer = timer
    self.abandon = abandon
  }
}

/// One Lua coroutine that the loop resumes: a handler that waits, or what `loop:task` made.
///
/// Loop thread only.
package final class ScriptTask {
  package enum Phase { case running, suspended, ended }

  /// The coroutine, while it has one.
  package var coroutine: LuaTask?
  package var phase = Phase.running
  /// Whose handler it is; `.chunk` for the main chunk and for `loop:task`.
  package let subject: Subject
  /// The modes in which it is resumed (D62).
  package var modes: [ModeName]
  package var name = ""
  package var madeAt = LuaPosition.nowhere
  package var wait: Wait?

  package init(subject: Subject, modes: [ModeName]) {
    self.subject = subject
    self.modes = modes
  }
}

extension Runtime {
  /// Takes care of how a call-out ended. The usual way, a return, is not seen here.
  @inline(never)
  package func settle(_ outcome: DispatchOutcome, _ subject: Subject) {
    switch outcome {
    case .returned: break
    case .suspended(let coroutine, let awaits):
      let task = ScriptTask(subject: subject, modes: modes(of: subject))
      suspend(task, coroutine, awaits: awaits)
      setSuspended(subject, true)
    case .failed(let coroutine), .stopped(let coroutine):
      report(state.takeError(of: coroutine), subject)
    case .nested:
      report(
        LuaError(
          kind: .nesting,
          message: "calls of Lua and the host are nested more than \(state.limits.nesting) deep"),
        subject)
    }
  }

  /// The modes of what runs now, for what it makes and waits for (D62).
  package func modes(of subject: Subject) -> [ModeName] {
    switch subject {
    case .chunk: return [.default]
    case .timer(let id): return modes(loop.contains(id, .common), loop.modeNames(of: id))
    case .item(let item): return modes(loop.contains(item, mode: .common), loop.modes(of: item))
    case .task(let task): return task.modes
    }
  }

  private func modes(_ isCommon: Bool, _ names: [ModeName]) -> [ModeName] {
    if isCommon { return [.common] + names.filter { !loop.isCommonMode($0) } }
    return names.isEmpty ? [.default] : names
  }

  /// A handler of an item waits: the item delivers nothing until it has returned (D59).
  private func setSuspended(_ subject: Subject, _ suspended: Bool) {
    switch subject {
    case .timer(let id): loop.setSuspended(id, suspended)
    case .item(let descriptor as Loop.DescriptorSource): descriptor.setSuspended(suspended)
    case .item(let item):
      item.isSuspended = suspended
      if !suspended { loop.deliverHeld(item) }
    case .chunk, .task: break
    }
  }

  // MARK: Suspending and resuming

  /// A coroutine has suspended: by a host function that said what it waits for, or by a plain
  /// `coroutine.yield`, which gives up the rest of this pass (D58).
  package func suspend(_ task: ScriptTask, _ coroutine: LuaTask, awaits: Bool) {
    task.coroutine = coroutine
    task.phase = .suspended
    tasks[coroutine.index] = task
    if awaits {
      task.wait = pendingWait
      pendingWait = nil
    } else {
      task.wait = Wait(what: "the next pass", timer: sleepTimer(coroutine, 0, task.modes))
    }
  }

  /// Makes the timer that resumes a coroutine.
  package func sleepTimer(_ coroutine: LuaTask, _ delay: Int64, _ modes: [ModeName]) -> TimerID {
    let callout = TimerCallout(
      fire: resumeSleeper, release: { _, _, _, _ in },
      context: Unmanaged.passUnretained(self).toOpaque(), payload: coroutine.index)
    guard
      let id = loop.makeTimer(date: loop.dueDate(after: delay), interval: 0, callout: callout)
    else { fatalError("sleep: the loop has \(TimerQueue.slotLimit) timers") }
    for mode in modes { loop.add(id, mode) }
    return id
  }

  /// Resumes a suspended task with values, and takes care of what comes of it.
  package func resume(_ task: ScriptTask, push: (LuaStack) -> Int = { _ in 0 }) {
    continueTask(task) { coroutine, onReturn in
      state.resume(coroutine, push: push, onReturn: onReturn)
    }
  }

  /// Resumes a suspended task so that a value is raised where it waits.
  package func resume(_ task: ScriptTask, raising push: (LuaStack) -> Void) {
    continueTask(task) { coroutine, onReturn in
      state.resume(coroutine, raising: push, onReturn: onReturn)
    }
  }

  private func continueTask(
    _ task: ScriptTask, _ run: (LuaTask, ((LuaStack, Int) -> Void)?) -> DispatchOutcome
  ) {
    guard task.phase == .suspended, let coroutine = task.coroutine else { return }
    task.phase = .running
    task.wait = nil
    tasks[coroutine.index] = nil
    let outer = current
    current = .task(task)
    let outcome = run(coroutine, nil)
    current = outer
    switch outcome {
    case .suspended(let coroutine, let awaits): suspend(task, coroutine, awaits: awaits)
    case .returned: finish(task, nil)
    case .failed(let coroutine), .stopped(let coroutine):
      finish(task, state.takeError(of: coroutine))
    case .nested:
      finish(task, LuaError(kind: .nesting, message: "calls are nested too deep to go on"))
    }
  }

  /// A task has come to its end.
  private func finish(_ task: ScriptTask, _ error: LuaError?) {
    task.phase = .ended
    task.coroutine = nil
    setSuspended(task.subject, false)
    if let error { report(error, .task(task)) }
  }

  /// Ends all suspended tasks; their `<close>` variables are closed.
  package func endAllTasks() {
    while let task = tasks.popFirst()?.value {
      if let timer = task.wait?.timer { loop.invalidate(timer) }
      task.wait?.abandon?()
      if let coroutine = task.coroutine, state.isSuspended(coroutine) { _ = state.end(coroutine) }
      task.phase = .ended
    }
  }
}

/// The call-out of a sleep's timer: the payload is the coroutine.
private let resumeSleeper: TimerCallout.Fire = { context, payload, _, _ in
  let runtime = Runtime.of(context)
  if let task = runtime.tasks[payload] { runtime.resume(task) }
}
