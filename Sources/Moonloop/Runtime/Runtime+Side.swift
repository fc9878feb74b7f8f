// One Lua state, several loops one after the other: what belongs to a loop is set aside while
// scripts run on another one. Each test has a fresh loop by this.

internal import LuaEmbed
package import MoonloopCore

/// What a runtime has for one loop. Loop thread only.
struct LoopSide {
  let loop: Loop
  let handles: Handles
  let errors: ErrorPolicy
  let tasks: TaskTable
  let waits: [ActiveWait]
  let unawaited: [TimerID: (task: ScriptTask, failure: TaskFailure)]
  let raisedInHandler: TaskFailure?
  let running: Running
  let requests: [Int32: ScriptRequest]
  let pendingWait: Wait?
  let ranLoop: Bool
  let waitingChunk: ScriptTask?
  let stopValues: [Int: LuaReference]
  let processes: [ObjectIdentifier: ScriptProcess]
  let watches: WatchService?
  let measuring: Measuring?
  let lingering: [LingeringClose]
}

extension Runtime {
  /// Makes another loop the one of the scripts, fresh: no handles, no tasks, nothing reported.
  ///
  /// The handle of the loop stays the same value: it means the loop of what runs now. Handles of
  /// the loop that is set aside must not be used meanwhile: what they ask for has no effect.
  package func enter(_ loop: Loop) {
    sides.append(
      LoopSide(
        loop: self.loop, handles: handles, errors: errors, tasks: tasks, waits: waits,
        unawaited: unawaited, raisedInHandler: raisedInHandler, running: running,
        requests: requests, pendingWait: pendingWait, ranLoop: ranLoop, waitingChunk: waitingChunk,
        stopValues: stopValues, processes: processes, watches: watches, measuring: measuring,
        lingering: lingering))
    take(
      LoopSide(
        loop: loop, handles: Handles(), errors: ErrorPolicy(), tasks: TaskTable(), waits: [],
        unawaited: [:], raisedInHandler: nil, running: Running(), requests: [:], pendingWait: nil,
        ranLoop: false, waitingChunk: nil, stopValues: [:], processes: [:], watches: nil,
        measuring: nil, lingering: []))
    attach()
  }

  /// Ends all that scripts have on the loop of the last `enter`, and goes back to the one before.
  package func leave() {
    guard let outer = sides.popLast() else { return }
    endAll()
    take(outer)
  }

  /// Ends tasks and handles of the present loop; what tasks close may make new ones, once.
  package func endAll() {
    for worker in workers.of(loop) { worker.stop() }
    endAllTasks()
    endProcesses()
    endWorkers()
    endTerminals()
    invalidateAll()
    endLingering()
    watches?.end()
    watches = nil
    measuring?.end()
    measuring = nil
    loop.forgetIdleHooks(of: self)
    stopValues = [:]
    errors.dropHandlers()
  }
}
