// The coroutines that handlers run on, taken from a pool and given back; suspended ones are
// tokens that the host resumes later.

internal import CLuaShims

/// A coroutine of the pool that is in use; valid until it ends.
package struct LuaCoroutine: Equatable, Hashable, Sendable {
  package let index: Int32
  let generation: UInt32
}

/// How a call-out ended.
package enum DispatchOutcome {
  /// The handler returned; its results are dropped.
  case returned
  /// It waits: a host function suspended it, which knows when to resume it.
  case suspended(LuaCoroutine)
  /// It raised; see `LuaState.takeError(of:)`.
  case failed(LuaCoroutine)
  /// A limit or an interrupt ended it; see `LuaState.takeError(of:)`.
  case stopped(LuaCoroutine)
  /// Nothing ran, because calls are nested too deeply.
  case nested
}

/// How a call-out of the host reaches the Lua function that handles it: one plain word, so that
/// keeping it counts no reference. Must not be used after the state was closed.
package struct LuaDoor: BitwiseCopyable {
  let record: OpaquePointer

  /// Calls the function in user value `slot` of the userdata under `ref` with the userdata.
  package func dispatch(ref: Int32, slot: Int32) -> DispatchOutcome {
    outcome(cml_dispatch(record, ref, slot))
  }

  /// The same with the value of a registry reference, such as an interned name.
  package func dispatch(ref: Int32, slot: Int32, argument: Int32) -> DispatchOutcome {
    outcome(cml_dispatch_ref(record, ref, slot, argument))
  }

  /// Calls the function of a handle that is held with it, with the handle and an integer.
  package func dispatch(held ref: Int32, integer: Int64) -> DispatchOutcome {
    outcome(cml_dispatch_held(record, ref, integer))
  }

  /// The task whose coroutine runs innermost and is this one; nil in a script's own coroutine.
  package func currentTask(_ L: OpaquePointer) -> LuaCoroutine? {
    let index = cml_task_current(record, L)
    return index >= 0 ? token(index) : nil
  }

  /// The same if it can also wait; nil if it cannot: see `waitObstacle`.
  package func waitingTask(_ L: OpaquePointer) -> LuaCoroutine? {
    let index = cml_task_waiting(record, L)
    return index >= 0 ? token(index) : nil
  }

  /// Remembers where the host has its own part of a suspended task, only for `prefetch`.
  package func note(_ task: LuaCoroutine, at address: UnsafeRawPointer) {
    cml_task_note(record, task.index, address)
  }

  /// Prefetches the memory of a task that is about to be resumed: once when it is among the next,
  /// and again when it is the next.
  package func prefetch(task index: Int32, isNext: Bool) {
    cml_task_prefetch(record, index, isNext)
  }

  /// Frees a registry reference. [-0, +0, raises: -]
  func dropRef(_ ref: Int32) { cml_unref(cml_running(record), ref) }

  /// Ends the hold of a handle and its function. [-0, +0, raises: -]
  package func dropHeld(_ ref: Int32) { cml_unhold(cml_running(record), ref) }

  @inline(__always)
  fileprivate func outcome(_ result: cml_result) -> DispatchOutcome {
    if result.outcome == Int32(CML_RETURNED.rawValue) { return .returned }
    return unusual(result)
  }

  @inline(never)
  private func unusual(_ result: cml_result) -> DispatchOutcome {
    switch result.outcome {
    case Int32(CML_SUSPENDED.rawValue): return .suspended(token(result.task))
    case Int32(CML_FAILED.rawValue): return .failed(token(result.task))
    case Int32(CML_STOPPED.rawValue): return .stopped(token(result.task))
    default:
      if result.task >= 0 { cml_task_give_back(record, result.task) }
      return .nested
    }
  }

  fileprivate func token(_ index: Int32) -> LuaCoroutine {
    LuaCoroutine(index: index, generation: cml_task_generation(record, index))
  }
}

extension LuaState {
  package var door: LuaDoor { LuaDoor(record: record) }

  /// Calls a handler through the door with values that a closure pushes; it returns their count.
  /// - Parameter givesHandle: Whether the userdata comes first.
  package func dispatch(
    ref: Int32, slot: Int32, givesHandle: Bool = true, push: (LuaStack) -> Int
  ) -> DispatchOutcome {
    let task = cml_dispatch_begin(record, ref, slot, givesHandle)
    let count = push(LuaStack(L: cml_task_state(record, task))) + (givesHandle ? 1 : 0)
    return settle(cml_run(record, task, Int32(count), false)) { _, _ in }
  }

  /// Starts what the closure pushes (a function, then its arguments; it returns the count of the
  /// arguments) on its own coroutine.
  /// - Parameter onReturn: Gets the results, if the function returned without waiting.
  package func start(
    push: (LuaStack) -> Int, onReturn: (LuaStack, Int) -> Void = { _, _ in }
  ) -> DispatchOutcome {
    let task = cml_task_take(record)
    let count = push(LuaStack(L: cml_task_state(record, task)))
    return settle(cml_run(record, task, Int32(count), false), onReturn)
  }

  /// Takes a coroutine for what the closure pushes, as for `start`; `begin` runs it.
  package func prepare(push: (LuaStack) -> Void) -> LuaCoroutine {
    let task = cml_task_take(record)
    push(LuaStack(L: cml_task_state(record, task)))
    return token(task)
  }

  /// Runs a prepared task for the first time.
  package func begin(
    _ task: LuaCoroutine, onReturn: (LuaStack, Int) -> Void = { _, _ in }
  ) -> DispatchOutcome {
    let count = cml_gettop(cml_task_state(record, task.index)) - 1
    return settle(cml_run(record, task.index, count, false), onReturn)
  }

  /// Gives back a prepared task that never ran.
  package func discard(_ task: LuaCoroutine) { cml_task_give_back(record, task.index) }

  /// Forgets a suspended task, which is never resumed: its `<close>` variables are not closed.
  package func abandon(_ task: LuaCoroutine) { cml_task_abandon(record, task.index) }

  /// Ends a failed task whose error is not needed: its `<close>` variables are closed.
  /// - Returns: The error that closing raised, if it did.
  package func dropError(of task: LuaCoroutine) -> LuaError? { close(task.index) }

  /// Resumes a suspended task; the values that the closure pushes are the results of its wait.
  package func resume(
    _ task: LuaCoroutine, push: (LuaStack) -> Int = { _ in 0 },
    onReturn: (LuaStack, Int) -> Void = { _, _ in }
  ) -> DispatchOutcome {
    let stack = prepare(task)
    let count = body.keepingOpen { push(stack) }
    return settle(cml_run(record, task.index, Int32(count), false), onReturn)
  }

  /// Runs a body that may close the state; the state then stays open until the call-out that
  /// follows is over.
  package func keepingOpen<R, E>(_ body: () throws(E) -> R) throws(E) -> R {
    try self.body.keepingOpen(body)
  }

  /// Resumes a suspended task so that the value that the closure pushes is raised where it waits.
  package func resume(
    _ task: LuaCoroutine, raising push: (LuaStack) -> Void,
    onReturn: (LuaStack, Int) -> Void = { _, _ in }
  ) -> DispatchOutcome {
    push(prepare(task))
    return settle(cml_run_raising(record, task.index), onReturn)
  }

  /// Ends a suspended task where it waits: its `<close>` variables are closed.
  /// - Returns: The error that closing raised, if it did.
  package func end(_ task: LuaCoroutine) -> LuaError? {
    check(task)
    return close(task.index)
  }

  /// Whether the token still stands for a suspended task.
  package func isSuspended(_ task: LuaCoroutine) -> Bool {
    cml_task_is_suspended(record, task.index)
      && cml_task_generation(record, task.index) == task.generation
  }

  /// The stack of a suspended task, with what it yielded on top.
  package func stack(of task: LuaCoroutine) -> LuaStack {
    LuaStack(L: cml_task_state(record, task.index))
  }

  /// The task whose coroutine runs innermost and is this one; nil in a script's own coroutine.
  package func currentTask(_ L: OpaquePointer) -> LuaCoroutine? { door.currentTask(L) }

  /// How many coroutines of the pool are in use.
  package var tasksInUse: Int { Int(cml_tasks_in_use(record)) }

  private func check(_ task: LuaCoroutine) {
    guard isSuspended(task) else {
      fatalError("task \(task.index) was resumed or ended, but is not suspended")
    }
  }

  private func prepare(_ task: LuaCoroutine) -> LuaStack {
    check(task)
    cml_task_drop_yielded(record, task.index)
    return stack(of: task)
  }

  private func settle(_ result: cml_result, _ onReturn: (LuaStack, Int) -> Void)
    -> DispatchOutcome
  {
    if result.outcome == Int32(CML_RETURNED.rawValue) {
      let stack = LuaStack(L: cml_task_state(record, result.task))
      onReturn(stack, Int(result.count))
      cml_task_give_back(record, result.task)
      return .returned
    }
    return outcome(result)
  }

  func outcome(_ result: cml_result) -> DispatchOutcome { door.outcome(result) }

  func token(_ index: Int32) -> LuaCoroutine { door.token(index) }
}
