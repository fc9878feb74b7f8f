// How a task is made: it takes a coroutine at once, and begins in the next pass.

internal import LuaEmbed
internal import MoonloopCore

extension Tasks {
  /// Takes a coroutine for a task, with the function at an index and the arguments above it; it
  /// begins in the next pass of one of its modes. [-n, +0]
  ///
  /// Never at once: script code runs only when the running code has returned or waits, and
  /// a task may make a task that makes a task, to any depth.
  /// - Parameter isScope: Whether its handle, which is below the function, is its first argument.
  func prepare(
    _ task: ScriptTask, in owner: ScriptTask?, on stack: LuaStack, function: Int32, isScope: Bool
  ) {
    let arguments = Int32(stack.count) - function
    let coroutine = state.prepare { inner in
      _ = inner.reserve(Int(arguments) + 2)
      stack.move(arguments + 1, to: inner)
      guard isScope else { return }
      stack.pushValue(function - 1)
      stack.move(1, to: inner)
      if arguments > 0 { inner.rotate(-arguments - 1, 1) }
    }
    task.coroutine = coroutine
    task.phase = .prepared
    self[coroutine.index] = task
    runtime.tracer?.task(task, true)
    if let owner { adopt(task, owner) }
    task.wait = Wait(.sleep(nanoseconds: 0), timer: nextTurn(coroutine, .task(task)))
    if let cancellation = owner?.cancellation { cancel(task, cancellation) }
  }

  /// Puts a task into the scope of another.
  func adopt(_ task: ScriptTask, _ owner: ScriptTask) {
    task.parent = owner
    task.waitModes = owner.waitModes
    owner.children.append(task)
  }
}
