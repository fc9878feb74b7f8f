// The tasks of one loop: which exist, which waits for which, and which failures were not seen.

internal import LuaEmbed
internal import MoonloopCore

/// The tasks of scripts on one loop. Loop thread only.
package final class Tasks {
  unowned(unsafe) private(set) var context: LoopContext! = nil  // it holds its tasks
  unowned(unsafe) private(set) var runtime: Runtime! = nil  // it holds the context
  /// The context as a plain word, so that a wait counts no reference.
  @exclusivity(unchecked) private var plainContext: Unmanaged<LoopContext>! = nil
  unowned(unsafe) let state: LuaState  // it holds the runtime
  private let plainState: Unmanaged<LuaState>  // the same as a plain word, like `plainContext`
  let loop: Loop
  let door: LuaDoor
  /// Those whose coroutines are suspended or whose children run, by coroutine.
  @exclusivity(unchecked) var table = TaskTable()
  /// The `task:wait`s under way, innermost last.
  var waits: [ActiveWait] = []
  /// Failures of tasks and workers that are reported in the next pass, by the turn that does it.
  var unawaited: [TimerID: (subject: Subject, failure: TaskFailure)] = [:]
  /// What an await raised last in a handler that has not waited yet.
  var raisedInHandler: TaskFailure?

  init(_ state: LuaState, _ loop: Loop) {
    self.state = state
    plainState = .passUnretained(state)
    self.loop = loop
    door = state.door
  }

  /// Called once, when the runtime is complete.
  func open(_ runtime: Runtime, _ context: LoopContext) {
    self.runtime = runtime
    self.context = context
    plainContext = .passUnretained(context)
  }

  /// The same in plain words: the caller holds what it is.
  var running: Running {
    @inline(__always) get { plainContext._withUnsafeGuaranteedRef { $0.running } }
    @inline(__always) set { plainContext._withUnsafeGuaranteedRef { $0.running = newValue } }
  }

  /// Whose handler is running.
  var current: Subject {
    @inline(__always) get { plainContext._withUnsafeGuaranteedRef { $0.current } }
    @inline(__always) set { plainContext._withUnsafeGuaranteedRef { $0.current = newValue } }
  }

  /// See `LoopContext.isEnding`.
  var isEnding: Bool { plainContext._withUnsafeGuaranteedRef { $0.isEnding } }

  /// Runs a body on the state without counting a reference.
  @inline(__always)
  func withState<Result>(_ body: (LuaState) throws -> Result) rethrows -> Result {
    try plainState._withUnsafeGuaranteedRef(body)
  }

  /// The task of a coroutine.
  @inline(__always)
  subscript(coroutine: Int32) -> ScriptTask? {
    get { table[coroutine] }
    set { table[coroutine] = newValue }
  }

  /// All of them, in the order of their coroutines.
  package var all: [ScriptTask] { table.all }
  package var count: Int { table.count }

  /// A coroutine is about to suspend, and this is what it waits for. A handler is a task from its
  /// first wait on.
  func note(_ wait: Wait, _ coroutine: LuaCoroutine) {
    if let task = table[coroutine.index] {
      task.wait = wait
    } else {
      let task = ScriptTask()
      task.wait = wait
      table[coroutine.index] = task
    }
  }

  /// The task that a coroutine of a handler is from its first wait on.
  func firstTask(of coroutine: LuaCoroutine) -> ScriptTask {
    table[coroutine.index] ?? ScriptTask()
  }

  /// A handler that must not wait has tried to: it is not a task after all.
  func forgetFirstWait(of coroutine: LuaCoroutine) {
    guard let wait = table[coroutine.index]?.wait else { return }
    table[coroutine.index] = nil
    giveUp(wait)
  }
}

extension HostCall {
  /// Suspends the running coroutine until a wait is over.
  /// - Parameter coroutine: As returned by `requireWaiting`, where available.
  func suspend(_ wait: Wait, _ coroutine: LuaCoroutine? = nil) -> Int32 {
    if let coroutine = coroutine ?? withRuntime({ $0.door.currentTask(stack.L) }) {
      withRuntime { $0.withTasks { $0.note(wait, coroutine) } }
    }
    return LuaStatus.wait()
  }
}
