// The end of a task: when its function is over and its children have ended; where a failure goes.

internal import LuaEmbed
internal import MoonloopCore

extension Tasks {
  // MARK: The function is over

  /// The function of a task raised an error: its own, or the reason of its cancelling.
  func functionFailed(_ task: ScriptTask, _ coroutine: LuaCoroutine, isStop: Bool) {
    let stack = state.stack(of: coroutine)
    let isReason = task.cancellation.map { !isStop && isTop(of: stack, $0.reason) } ?? false
    if isReason && !task.childFailed {
      if let error = state.dropError(of: coroutine) { runtime.report(error, .task(task)) }
      return functionEnded(task, .cancelled)
    }
    let origin = originOfError(coroutine, task.raised)
    stack.pushValue(-1)
    var value = LuaReference(popping: stack)
    var error = state.takeError(of: coroutine)
    if let origin { join(&error, to: origin) }
    endPart(of: &error, task)
    if isStop {
      value = LuaReference(pushing: error.message, on: state.stack)
      // A console shows it as the answer that it waits for.
      let isShown = task.name == consoleName && !task.waiters.isEmpty
      if !isShown { runtime.report(error, .task(task)) }
    }
    let failure = TaskFailure(value: value, error: error)
    // A limit is reported, even if the task is awaited.
    failure.isTaken = isStop || task.dropsFailure
    failure.isOfChild = isReason
    functionEnded(task, .failed, failure)
  }

  private func isTop(of stack: LuaStack, _ reference: LuaReference) -> Bool {
    guard stack.reserve(2) else { return false }
    stack.push(reference)
    defer { stack.pop() }
    return stack.isSame(-1, -2)
  }

  func functionEnded(
    _ task: ScriptTask, _ outcome: ScriptTask.Outcome, _ failure: TaskFailure? = nil
  ) {
    if let coroutine = task.coroutine { self[coroutine.index] = nil }
    task.coroutine = nil
    task.outcome = outcome
    task.failure = failure
    setSuspended(task.subject, false)
    if task.children.isEmpty { return complete(task) }
    task.phase = .joining
    if let failure {
      cancelChildren(of: task, Cancellation(reason: failure.value, failure: failure))
    }
  }

  // MARK: The task is over

  /// Ends a task without children, and with it each owner that was waiting only for it.
  func complete(_ task: ScriptTask) {
    var next: ScriptTask? = task
    while let task = next { next = end(completing: task) }
  }

  /// - Returns: The owner, if this was the last thing it waited for.
  private func end(completing task: ScriptTask) -> ScriptTask? {
    task.phase = .ended
    settleOutcome(task)
    for waiter in task.takeWaiters() {
      makeReady(waiter, .answer)
      if !(waiter.wait?.isQuiet ?? false) { task.failure?.isTaken = true }
    }
    noteForWaits(task)
    runtime.tracer?.task(task, false)
    task.tellOfEnd()
    if task === context.waitingChunk { runtime.mainChunk.ended(task.failure?.error) }
    let parent = task.parent
    task.parent = nil
    parent?.children.remove(task)
    tellOfFailure(task, parent)
    guard let parent, parent.phase == .joining, parent.children.isEmpty else { return nil }
    return parent
  }

  /// The first failure in a scope is the task's, whatever its function did with it; a later one is
  /// reported.
  private func settleOutcome(_ task: ScriptTask) {
    guard let first = task.cancellation?.failure, task.childFailed else { return }
    task.outcome = .failed
    if let own = task.failure, !own.isTaken {
      if own.isOfChild { return }
      own.isTaken = true
      runtime.report(own.error, .task(task))
    }
    let failure = TaskFailure(value: first.value, error: first.error)
    endPart(of: &failure.error, task)
    task.failure = failure
  }

  private func tellOfFailure(_ task: ScriptTask, _ parent: ScriptTask?) {
    guard task.outcome == .failed, let failure = task.failure else { return }
    if let parent, !task.isCall {
      if parent.cancellation == nil {
        failure.isTaken = true
        parent.childFailed = true
        cancel(parent, Cancellation(reason: failure.value, failure: failure))
      } else if !failure.isTaken {
        failure.isTaken = true
        runtime.report(failure.error, .task(task))
      }
    } else if !failure.isTaken {
      if task.isDetached || task.isCall || !task.hasHandle {
        return reportUnawaited((.task(task), failure))
      }
      reportLater(failure, .task(task), task.modes)
    }
  }

  // MARK: Failures of tasks and workers that are not awaited (D54)

  /// The failure of a task or worker that is not awaited is reported in the next pass, unless it is
  /// awaited by then.
  func reportLater(_ failure: TaskFailure, _ subject: Subject, _ modes: [ModeName]) {
    let callout = TimerCallout(reportActions, context: runtime.context)
    failure.turn = loop.makeTurn(callout, modes)
    unawaited[failure.turn] = (subject, failure)
  }

  func reportUnawaited(_ entry: (subject: Subject, failure: TaskFailure)) {
    if entry.failure.isTaken { return }
    entry.failure.isTaken = true
    var isOwn = true
    if case .item = entry.subject { isOwn = false }  // that of a worker
    runtime.report(entry.failure.error, entry.subject, isOwn: isOwn)
  }

  /// No pass follows that would report them.
  package func reportUnawaited() {
    let failed = unawaited.sorted { $0.key.rawValue < $1.key.rawValue }
    unawaited = [:]
    for (turn, failure) in failed {
      loop.invalidate(turn)
      reportUnawaited(failure)
    }
  }

  /// A failure is being delivered: it is not reported again.
  func take(_ failure: TaskFailure) {
    failure.isTaken = true
    if unawaited.removeValue(forKey: failure.turn) != nil { loop.invalidate(failure.turn) }
  }

  // MARK: Tracebacks across awaits

  /// What a task's end raises in the tasks that await it; nil if it returned.
  func reason(of task: ScriptTask, for awaiter: ScriptTask?) -> LuaReference? {
    switch task.outcome {
    case .none, .returned: return nil
    case .cancelled: return task.cancellation?.reason
    case .failed:
      guard let failure = task.failure else { return nil }
      take(failure)
      if let awaiter { awaiter.raised = failure } else { raisedInHandler = failure }
      return failure.value
    }
  }

  /// The failure that an error came from, if an await raised it here.
  func originOfError(_ coroutine: LuaCoroutine, _ raised: TaskFailure?) -> TaskFailure? {
    guard let raised else { return nil }
    return isTop(of: state.stack(of: coroutine), raised.value) ? raised : nil
  }

  /// Names the task below its calls, unless a module of ours made it.
  private func endPart(of error: inout LuaError, _ task: ScriptTask) {
    let source = task.madeAt.source < 0 ? "" : state.name(of: task.madeAt)
    if source.isEmpty || source.hasPrefix("moonloop/") && !source.hasSuffix(".lua") { return }
    error.endPart(task: task.name, source: source, line: task.madeAt.line)
  }

  /// Puts the calls of the task that raised an error before those of the one that awaited it.
  func join(_ error: inout LuaError, to origin: TaskFailure) {
    error.traceback = LuaError.joined(origin.error.traceback, error.traceback)
  }
}

/// The call-out of the turn that reports the failure of a task that is not awaited.
private let reportFailure: TimerActions.Fire = { context, _, id, _ in
  let runtime = Runtime.of(context)
  if let entry = runtime.tasks.unawaited.removeValue(forKey: TimerID(rawValue: id)) {
    runtime.tasks.reportUnawaited(entry)
  }
}

// Unsafe: made once, and never changed.
nonisolated(unsafe) private let reportActions = TimerActions.make(fire: reportFailure)
