// What scripts have on one loop. A state that goes to another loop exchanges one reference: each
// test has a fresh loop by this.

package import LuaEmbed
package import MoonloopCore

/// What scripts have on one loop. Loop thread only.
package final class LoopContext {
  package let loop: Loop
  /// The same as a plain word: who reads a reference counts it, and calls are many.
  let plainLoop: Unmanaged<Loop>
  /// The loop that is set aside while scripts run on this one.
  let outer: LoopContext?
  /// Which handles there are, and who made them where.
  package let handles = Handles()
  package let errors = ErrorPolicy()
  /// The tasks whose coroutines are suspended or whose children run, by coroutine.
  @exclusivity(unchecked) package var tasks = TaskTable()
  /// The `task:wait`s under way, innermost last.
  package var waits: [ActiveWait] = []
  /// Failures of tasks that are reported in the next pass, by the timer that does it.
  var unawaited: [TimerID: (task: ScriptTask, failure: TaskFailure)] = [:]
  /// What an await raised last in a handler that has not waited yet.
  var raisedInHandler: TaskFailure?
  /// Whose handler runs now, in plain words: call-outs are many.
  @exclusivity(unchecked) var running = Running()
  /// The requests that were made of the loop and not performed yet, by reference.
  package var requests: [Int32: ScriptRequest] = [:]
  /// What the coroutine that is about to suspend waits for.
  @exclusivity(unchecked) package var pendingWait: Wait?
  /// Whether the script ran its loop by itself, so that the program does not run it again (D60).
  package var ranLoop = false
  /// The main chunk, while it waits: the loop must go on with it, whoever ran that before.
  @exclusivity(unchecked) package var waitingChunk: ScriptTask?
  /// What `stop` handed over to the run that it met, by the depth of that run.
  package var stopValues: [Int: LuaReference] = [:]
  /// The children that live, or whose groups are to be killed yet.
  var processes: [ObjectIdentifier: ScriptProcess] = [:]
  /// The file watches, once there was one.
  var watches: WatchService?
  /// The figures of the loop, once a script has asked for them.
  @exclusivity(unchecked) var measuring: Measuring?
  /// The connections that wait for their peers' end.
  var lingering: [LingeringClose] = []

  init(_ loop: Loop, outer: LoopContext?) {
    self.loop = loop
    plainLoop = .passUnretained(loop)
    self.outer = outer
  }
}

// What is asked of a runtime for the loop of its scripts.
extension Runtime {
  package var loop: Loop { loopContext.loop }
  package var handles: Handles { loopContext.handles }
  package var errors: ErrorPolicy { loopContext.errors }

  /// Whose handler runs now; what it makes is in its modes (D62).
  var current: Subject {
    get { running.subject }
    set { running = Running(newValue) }
  }
  @inline(__always) var running: Running {
    get { loopContext.running }
    set { loopContext.running = newValue }
  }
  @inline(__always) package var tasks: TaskTable {
    _read { yield loopContext.tasks }
    _modify { yield &loopContext.tasks }
  }
  package var waits: [ActiveWait] {
    _read { yield loopContext.waits }
    _modify { yield &loopContext.waits }
  }
  var unawaited: [TimerID: (task: ScriptTask, failure: TaskFailure)] {
    _read { yield loopContext.unawaited }
    _modify { yield &loopContext.unawaited }
  }
  var raisedInHandler: TaskFailure? {
    get { loopContext.raisedInHandler }
    set { loopContext.raisedInHandler = newValue }
  }
  package var requests: [Int32: ScriptRequest] {
    _read { yield loopContext.requests }
    _modify { yield &loopContext.requests }
  }
  @inline(__always) package var pendingWait: Wait? {
    get { loopContext.pendingWait }
    set { loopContext.pendingWait = newValue }
  }
  package var ranLoop: Bool {
    get { loopContext.ranLoop }
    set { loopContext.ranLoop = newValue }
  }
  package var waitingChunk: ScriptTask? {
    get { loopContext.waitingChunk }
    set { loopContext.waitingChunk = newValue }
  }
  package var stopValues: [Int: LuaReference] {
    _read { yield loopContext.stopValues }
    _modify { yield &loopContext.stopValues }
  }
  var processes: [ObjectIdentifier: ScriptProcess] {
    _read { yield loopContext.processes }
    _modify { yield &loopContext.processes }
  }
  var watches: WatchService? {
    get { loopContext.watches }
    set { loopContext.watches = newValue }
  }
  @inline(__always) var measuring: Measuring? {
    get { loopContext.measuring }
    set { loopContext.measuring = newValue }
  }
  var lingering: [LingeringClose] {
    _read { yield loopContext.lingering }
    _modify { yield &loopContext.lingering }
  }
}

extension Runtime {
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
