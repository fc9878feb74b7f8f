// Cancelling: cooperative and sticky (D21). A task notices it at its awaits.

internal import LuaEmbed
internal import MoonloopCore

extension Tasks {
  /// Cancels a task and everything in its scope; tasks that are already ending are not affected.
  /// The last one made is cancelled first, and children before owners, as `<close>` variables are
  /// closed.
  func cancel(_ task: ScriptTask, _ cancellation: Cancellation) {
    var found: [ScriptTask] = []
    var rest = [task]
    while let task = rest.popLast() {
      guard task.phase != .ended, task.cancellation == nil else { continue }
      task.cancellation = cancellation
      found.append(task)
      rest.append(contentsOf: task.children.all.reversed())
    }
    for task in found.reversed() { interrupt(task) }
  }

  func cancelChildren(of task: ScriptTask, _ cancellation: Cancellation) {
    for child in task.children.all.reversed() { cancel(child, cancellation) }
  }

  private func interrupt(_ task: ScriptTask) {
    switch task.phase {
    case .prepared:
      giveUpWait(task)
      if let coroutine = task.coroutine { state.discard(coroutine) }
      functionEnded(task, .cancelled)
    case .suspended: interruptWait(task)
    case .running: endWaits(of: task)
    case .joining, .ended: break
    }
  }

  /// Ends the wait of a suspended task: the reason is raised in it.
  func interruptWait(_ task: ScriptTask) {
    if task.wait?.isQuiet ?? false { return }
    if task.isReady {
      if case .other(let other)? = task.wait?.cause, other.isFinal { return }
      task.delivery = .cancellation
    } else {
      giveUpWait(task)
      makeReady(task, .cancellation)
    }
  }

  /// Cancels what a task has requested while it waits.
  func giveUpWait(_ task: ScriptTask) {
    guard let wait = task.wait else { return }
    if task.isReady { return loop.invalidate(wait.timer) }
    if case .task(let other) = wait.cause { other.waiters.remove(task) }
    giveUp(wait)
  }

  func giveUp(_ wait: Wait) {
    loop.invalidate(wait.timer)
    if case .callback(let callback) = wait.cause { close(callback) }
    if case .other(let other) = wait.cause { other.abandon() }
  }

  /// The reason why the running code must not wait any more.
  func reasonNotToWait() -> LuaReference? {
    let isCancelled = running.task?._withUnsafeGuaranteedRef { $0.cancellation != nil } ?? false
    guard isCancelled, case .task(let task) = current, let cancellation = task.cancellation else {
      return nil
    }
    task.raised = cancellation.failure
    return cancellation.reason
  }
}
