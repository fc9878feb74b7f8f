// `ml.await` adopts any callback API (D23); `ml.timeout` sets a deadline (D22).

internal import LuaEmbed
internal import MoonloopCore

/// The first half of `ml.await(function(resume) … return handle end)`: the function gets `resume`.
let moduleAwait: LuaRawFunction = { L, context in
  host(L, context, "ml.await") { call in
    let stack = call.stack
    try call.function(1, "the function that starts the operation")
    _ = try call.requireWaiting()
    stack.setCount(1)
    let callback = CallbackWait()
    call.runtime.kinds.callback.push(stack.L).hold(callback)
    stack.rotate(1, 1)  // the callback lies below what is called
    let runtime = call.runtime
    stack.push(closure: "resume") { [unowned runtime] stack in  // its state has the closure
      runtime.tasks.answer(callback, TaskValues(popping: stack.count, of: stack))
      return 0
    }
    return LuaStatus.call(arguments: 1)
  }
}

/// The second half: the function has returned, perhaps a handle to be closed on cancelling.
let moduleAwaitSecond: LuaRawFunction = { L, context in
  host(L, context, "ml.await") { call in
    let stack = call.stack
    let handle = call.runtime.kinds.callback.handle(stack.L, 1)
    guard let callback = handle?.object(as: CallbackWait.self) else {
      throw call.mistake("its own state is lost")
    }
    if callback.isOver {
      return LuaStatus.results(Int32(callback.takeValues().push(on: stack)))
    }
    do {
      try call.keepHandle(2, of: callback)
      return call.suspend(Wait(.callback(callback)), try call.requireWaiting())
    } catch {
      call.runtime.tasks.close(callback)
      throw error
    }
  }
}

extension HostCall {
  /// What the function returned is closed if the task is cancelled while it waits.
  fileprivate func keepHandle(_ index: Int32, of callback: CallbackWait) throws(ScriptMistake) {
    if [.none, .nil].contains(stack.type(index)) { return }
    guard stack.hasMetafield(index, "__close") else {
      throw mistake(
        "the function must return a handle to be closed on cancelling, or nothing, got "
          + given(index))
    }
    if let id = timerID(index) { callback.handle = .timer(id) }
    if let handle = itemHandle(index) { callback.handle = .item(handle.item) }
    stack.pushValue(index)
    callback.closable = LuaReference(popping: stack)
  }
}

// MARK: Deadlines

/// `ml.timeout(seconds, fn, ...)`: what `fn` returns or raises; or `nil, message, "ETIMEDOUT"`
/// when it has not ended by then: it is cancelled, and waited for (D22).
func moduleTimeout(_ call: HostCall) throws -> Int32 {
  let delay = try call.seconds(1, "the time", .notNegative)
  try call.function(2, "the function")
  let coroutine = try call.requireWaiting()
  let timer = try call.deadline(after: delay, coroutine)
  let task = ScriptTask(subject: .chunk, modes: call.runtime.currentModes)
  task.isCall = true
  task.madeAt = call.stack.position
  call.runtime.tasks.prepare(
    task, in: call.currentTask, on: call.stack, function: 2, isScope: false)
  return call.suspend(Wait(.task(task), timer: timer), coroutine)
}
