// `ml.sleep`: any handler may wait (D58).

internal import LuaEmbed
internal import MoonloopCore

/// `ml.sleep(seconds)`: suspends what runs now; the pass goes on (D58).
let moduleSleep: LuaRawFunction = { L, context in
  host(L, context, "sleep") { call in
    let delay = try call.seconds(1, "the time", .notNegative)
    let coroutine = try call.requireWaiting()
    let runtime = call.runtime
    let modes = runtime.modes(of: runtime.current)
    var wait = Wait(what: "a sleep of \(Double(delay) / 1e9) s")
    wait.timer = runtime.sleepTimer(coroutine, delay, modes)
    wait.place = call.stack.position
    runtime.pendingWait = wait
    return LuaStatus.wait()
  }
}

extension HostCall {
  /// What runs now may wait; else an error says what is in the way (D49).
  package func requireWaiting() throws(ScriptMistake) -> LuaTask {
    if let boundary = stack.boundary {
      throw mistake("cannot wait here: inside \(boundary); use :wait on a task")
    }
    guard let coroutine = state.currentTask(stack.L) else {
      throw mistake(
        "cannot wait here: this coroutine is the script's own, and whoever resumed it would get the "
          + "wait; use loop:task")
    }
    return coroutine
  }
}
