// The coroutines that handlers run on, taken from a pool and given back; suspended ones are
// tokens that the host resumes later.

internal import CLuaShims

/// A coroutine of the pool that is in use; valid until it ends.
package struct LuaTask: Equatable, Hashable, Sendable {
  package let index: Int32
  package let generation: UInt32
}

/// How a call-out ended.
package enum DispatchOutcome {
  /// The handler returned; its results are dropped.
  case returned
  /// It waits. `awaits` is true if a host function suspended it, who knows when to resume it; false
  /// for a plain `coroutine.yield`.
  case suspended(LuaTask, awaits: Bool)
  /// It raised; see `LuaState.takeError(of:)`.
  case failed(LuaTask)
  /// A limit or an interrupt ended it; see `LuaState.takeError(of:)`.
  case stopped(LuaTask)
  /// Nothing ran: calls lie too deep in one another.
  case nested
}

extension LuaState {
  /// Calls the function in user value `slot` of the userdata under `ref` with the userdata.
  package func dispatch(ref: Int32, slot: Int32) -> DispatchOutcome {
    outcome(cml_dispatch(record, ref, slot))
  }

  /// The same with an integer as second argument.
  package func dispatch(ref: Int32, slot: Int32, integer: Int64) -> DispatchOutcome {
    outcome(cml_dispatch_integer(record, ref, slot, integer))
  }

  /// The same with the value of a registry reference, such as an interned name.
  package func dispatch(ref: Int32, slot: Int32, argument: Int32) -> DispatchOutcome {
    outcome(cml_dispatch_ref(record, ref, slot, argument))
  }

  /// The same with values that a closure pushes; it returns how many.
  package func dispatch(ref: Int32, slot: Int32, push: (LuaStack) -> Int) -> DispatchOutcome {
    let task = cml_dispatch_begin(record, ref, slot)
    let count = push(LuaStack(L: cml_task_state(record, task), state: self))
    let result = cml_run(record, task, Int32(count) + 1, false)
    if result.outcome == Int32(CML_RETURNED.rawValue) {
      _ = cml_task_end(record, task)
      return .returned
    }
    return outcome(result)
  }

  @inline(__always)
  func outcome(_ result: cml_result) -> DispatchOutcome {
    if result.outcome == Int32(CML_RETURNED.rawValue) { return .returned }
    return unusual(result)
  }

  @inline(never)
  private func unusual(_ result: cml_result) -> DispatchOutcome {
    switch result.outcome {
    case Int32(CML_SUSPENDED.rawValue):
      return .suspended(token(result.task), awaits: cml_task_awaits(record, result.task))
    case Int32(CML_FAILED.rawValue): return .failed(token(result.task))
    case Int32(CML_STOPPED.rawValue): return .stopped(token(result.task))
    default:
      if result.task >= 0 { _ = cml_task_end(record, result.task) }
      return .nested
    }
  }

  func token(_ index: Int32) -> LuaTask {
    LuaTask(index: index, generation: cml_task_generation(record, index))
  }
}
