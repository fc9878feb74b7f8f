// One Lua state on one loop on one thread: what joins the binding and the core.

package import LuaEmbed
package import MoonloopCore

/// What belongs to a Lua state that runs on a loop. Loop thread only.
package final class Runtime {
  package unowned(unsafe) let state: LuaState  // The state holds the runtime, not the other way.
  package let loop: Loop
  /// Which handles there are, and who made them where.
  package let handles = Handles()
  package let errors = ErrorPolicy()
  /// The tasks whose coroutines are suspended or whose children run, by coroutine.
  package var tasks = TaskTable()
  /// The `task:wait`s under way, innermost last.
  package var waits: [ActiveWait] = []
  /// Failures of tasks that are reported in the next pass, by the timer that does it.
  var unawaited: [TimerID: (task: ScriptTask, failure: TaskFailure)] = [:]
  /// What an await raised last in a handler that has not waited yet.
  var raisedInHandler: TaskFailure?
  /// The default mode alone, shared by all that is in it.
  let inDefaultMode: [ModeName] = [.default]
  /// `keep`, as a closure that is made once.
  private(set) var keepReturned: ((LuaStack, Int) -> Void)! = nil
  /// Closes the value that it is called with.
  private(set) var closer: LuaReference! = nil
  /// What is raised in a task whose deadline has come.
  private(set) var timedOutReason: LuaReference! = nil
  /// What is raised in a task that was cancelled without a reason.
  private(set) var cancelledReason: LuaReference! = nil
  package private(set) var names: InternedNames! = nil
  package let kinds: Kinds
  /// The registry reference of the loop's handle.
  package private(set) var loopRef: Int32 = 0
  /// Whose handler runs now; what it makes is in its modes (D62).
  var current: Subject {
    get { currentTimer.rawValue != 0 ? .timer(currentTimer) : currentOther }
    set {
      if case .timer(let id) = newValue {
        currentTimer = id
      } else {
        currentTimer = TimerID(rawValue: 0)
        currentOther = newValue
      }
    }
  }
  /// The timer whose handler runs now, zero if it is something else: a plain word, since timers fire
  /// often.
  var currentTimer = TimerID(rawValue: 0)
  private var currentOther = Subject.chunk
  /// What the coroutine that is about to suspend waits for.
  package var pendingWait: Wait?
  /// Whether the script ran its loop by itself, so that the program does not run it again (D60).
  package var ranLoop = false
  /// What `stop` handed over to the run that it met, by the depth of that run.
  package var stopValues: [Int: LuaReference] = [:]
  private var isOver = false

  package init(_ state: LuaState, on loop: Loop) {
    self.state = state
    self.loop = loop
    kinds = Kinds(state)
    state.setHost(Unmanaged.passUnretained(self).toOpaque())
    names = InternedNames(state)
    _ = kinds.loop.push(state.stack.L)
    loopRef = state.stack.popRef()
    openModules()
    keepReturned = { [unowned self] in keep($0, $1) }
    closer = makeCloser()
    timedOutReason = LuaReference(pushing: "timed out", on: state.stack)
    cancelledReason = LuaReference(pushing: "the task was cancelled", on: state.stack)
    loop.onIdle = { [unowned state] _ in state.idleCollect() }
    loop.timerName = { [unowned self] id, _ in handles.name(ofTimer: id) }
  }

  /// The registry reference of a mode's name.
  package func modeRef(_ mode: ModeName) -> Int32 { names.ref(of: mode, state.stack) }

  /// The runtime that a raw host function was called for.
  @inline(__always)
  package static func of(_ context: UnsafeMutableRawPointer?) -> Runtime {
    Unmanaged<Runtime>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0 }
  }

  /// Ends everything in order: the tasks close what they hold, the handles go, then the state.
  package func shutDown() {
    guard !isOver else { return }
    isOver = true
    endAllTasks()
    handles.invalidateAll(on: loop)
    loop.onIdle = nil
    loop.timerName = nil
    stopValues = [:]
    errors.dropHandlers()
    names.drop(state)
    state.close()
  }
}

/// Whose Lua code runs: the origin of what it makes and waits for.
package enum Subject {
  /// The chunk that was run first, or Swift code.
  case chunk
  case timer(TimerID)
  case item(Loop.Item)
  case task(ScriptTask)
}
