// `ml.sleep`: any handler may wait (D58).

internal import LuaEmbed
internal import MoonloopCore

/// `ml.sleep(seconds)`: suspends the running code; the pass goes on (D58).
func moduleSleep(_ call: HostCall) throws -> Int32 {
  let delay = try call.seconds(1, "the time", .notNegative)
  let coroutine = try call.requireWaiting()
  let timer = try call.deadline(after: delay, coroutine)
  return call.suspend(Wait(.sleep(nanoseconds: delay), timer: timer), coroutine)
}

extension HostCall {
  /// Checks that the running code may wait; otherwise throws what is in the way (D49), or the
  /// reason why the task must end (D21).
  /// - Parameter waiting: Its coroutine, if it is known that that can wait.
  func requireWaiting(_ waiting: LuaCoroutine? = nil) throws -> LuaCoroutine {
    if withRuntime({ $0.generations.isInLoad }) {
      throw mistake(
        "cannot wait here: a file is reloaded in one go", hint: "wait in a loop:task")
    }
    guard let coroutine = waiting ?? withRuntime({ $0.door.waitingTask(stack.L) }) else {
      let obstacle = withRuntime { $0.door.waitObstacle(stack.L) } ?? "no task runs"
      throw mistake("cannot wait here: \(obstacle); use :wait on a task")
    }
    if let reason = withRuntime({ $0.withTasks { $0.reasonNotToWait() } }) {
      throw RaisedValue(reason)
    }
    return coroutine
  }

  /// The timer that ends a wait of the running code.
  func deadline(after delay: Int64, _ coroutine: LuaCoroutine) throws(ScriptMistake)
    -> TimerID
  {
    if let timer = withRuntime({ runtime in
      runtime.withTasks { $0.sleepTimer(coroutine, delay, $0.current) }
    }) {
      return timer
    }
    throw tooManyTimers()
  }
}
