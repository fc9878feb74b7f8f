// One Lua state on one loop on one thread: what joins the binding and the core.

package import LuaEmbed
package import MoonloopCore
internal import Synchronization

/// What belongs to a Lua state that runs on a loop. Loop thread only.
package final class Runtime {
  package unowned(unsafe) let state: LuaState  // The state holds the runtime, not the other way.
  /// What scripts have on the loop they run on now; `enter` and `leave` exchange it.
  @exclusivity(unchecked) package private(set) var loopContext: LoopContext
  /// The way into Lua.
  let door: LuaDoor
  /// `keep`, as a closure that is made once.
  private(set) var keepReturned: ((LuaStack, Int) -> Void)! = nil
  /// What a wait gives that ended well and has nothing to tell.
  private(set) var trueValue = TaskValues.none
  /// What is raised in a task whose deadline has come.
  private(set) var timedOutReason: LuaReference! = nil
  /// What is raised in a task that was cancelled without a reason.
  private(set) var cancelledReason: LuaReference! = nil
  /// Never changed where it is read: no access to it spans a call.
  @exclusivity(unchecked) package private(set) var names: InternedNames! = nil
  /// The names of the events of descriptors, outside of the structure: each message needs one.
  @exclusivity(unchecked) private(set) var readName: Int32 = 0
  @exclusivity(unchecked) private(set) var writeName: Int32 = 0
  package let kinds: Kinds
  /// What `require "moonloop"` gives.
  var module: LuaReference! = nil
  /// The registry reference of the loop's handle.
  package private(set) var loopRef: Int32 = 0
  /// Who began the runs under way from within a handler, the innermost last.
  var nesters: [Nester] = []
  /// How often that began.
  var measurings: Int32 = 0
  /// The terminals that are open.
  var terminals: [ObjectIdentifier: ScriptTerminal] = [:]
  /// What is read from descriptors passes through here.
  let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
  /// What differs between the kinds of items.
  let itemKinds: ItemKinds
  /// How many runs scripts began after the end of the program was asked for.
  var runsAfterEnding = 0
  /// Where tests run, if the program runs any.
  var bed: TestBed?
  /// The reference of the reply that answers nobody; 0 until it is needed.
  var nobodyRef: Int32 = 0
  /// The workers that scripts made and whose threads have not ended.
  var workers = Workers()
  /// Whether the functions of the console were made.
  var hasConsole = false
  /// Whether the call-out that the console is served in the middle of is to be stopped.
  var visitStops = false
  /// What that is, and what the one before was.
  var busyVisit: Visit?
  var lastVisit: Visit?
  /// How many workers this state is inside of.
  var workerDepth = 0
  /// The connections of named ports that may have something to send yet.
  var farewells: [PortFarewell] = []
  /// Tells this state from all others.
  let number = Runtime.nextNumber.add(1, ordering: .relaxed).newValue
  /// Told of each task: when it is made or waits for the first time, and when it has ended.
  package var taskTracer: ((ScriptTask, _ begins: Bool) -> Void)?
  /// Which generation of its file runs, and the load of the next.
  let generations = Generations()
  /// What is said of the configuration that the main chunk may return.
  package var forConfigurations = ForConfigurations()
  /// Whether the configuration was refused because of the command line.
  package var wasRefused = false
  /// Whether the file is a configuration with mistakes, or one that cannot be made.
  package var configurationFailed = false
  /// What the main chunk returned; for whoever wants to know.
  package var chunkReturned: ((LuaStack, Int) -> Void)?
  private static let nextNumber = Atomic<UInt64>(0)
  private var isOver = false
  /// Only finalizers run any more: what they would make on the loop, nobody would end.
  private(set) var isClosing = false

  package init(_ state: LuaState, on loop: Loop) {
    self.state = state
    loopContext = LoopContext(loop, outer: nil)
    door = state.door
    state.pauseCollector(true)
    itemKinds = ItemKinds(state)
    kinds = Kinds(state, itemKinds)
    state.setHost(Unmanaged.passUnretained(self).toOpaque())
    loopContext.open(self)
    names = InternedNames(state)
    (readName, writeName) = (names.read, names.write)
    itemKinds.open(self)
    _ = kinds.loop.push(state.stack.L)
    loopRef = state.stack.popRef()
    openModules()
    state.pauseCollector(false)
    state.onCloseError = { [unowned self] in report($0, current) }
    keepReturned = { [unowned self] stack, count in
      if case .task(let task) = current, task === waitingChunk { chunkReturned?(stack, count) }
      tasks.keep(stack, count)
    }
    state.stack.push(true)
    trueValue = TaskValues(popping: 1, of: state.stack)
    timedOutReason = LuaReference(pushing: "timed out", on: state.stack)
    cancelledReason = LuaReference(pushing: "the task was cancelled", on: state.stack)
    attach()
    state.willClose = { [unowned self] in shutDown() }
    state.onFinalizerError = { [unowned self] in report($0, .finalizer) }
  }

  deinit { scratch.deallocate() }

  /// Sets up what the loop asks of its scripts.
  func attach() {
    loop.whenIdle(self) { [unowned state] _ in state.idleCollect() }
    loop.timerName = { [unowned self, unowned loop] id, callout in
      if let timer = loop.timerObject(id) { return traceName(of: timer) }
      // The context of every timer that is no object is the runtime that made it.
      return Runtime.of(callout.context).tasks.traceName(of: id, callout)
    }
  }

  /// Makes another loop the one of the scripts, fresh: no handles, no tasks, nothing reported.
  ///
  /// The handle of the loop stays the same value: it means the loop of what runs now. Handles of
  /// the loop that is set aside must not be used meanwhile: what they ask for has no effect.
  package func enter(_ loop: Loop) {
    loopContext = LoopContext(loop, outer: loopContext)
    loopContext.open(self)
    attach()
  }

  /// Ends all that scripts have on the loop of the last `enter`, and goes back to the one before.
  package func leave() {
    guard let outer = loopContext.outer else { return }
    endAll()
    loopContext = outer
  }

  /// The registry reference of a mode's name.
  package func modeRef(_ mode: ModeName) -> Int32 { names.ref(of: mode, state.stack) }

  /// The runtime that a raw host function was called for.
  @inline(__always)
  package static func of(_ context: UnsafeMutableRawPointer?) -> Runtime {
    Unmanaged<Runtime>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0 }
  }

  /// The same for the time of a closure: no reference is counted.
  @inline(__always)
  static func with<Result>(
    _ context: UnsafeMutableRawPointer?, _ body: (Runtime) -> Result
  ) -> Result {
    Unmanaged<Runtime>.fromOpaque(context!)._withUnsafeGuaranteedRef(body)
  }

  /// Runs a body on the loop without counting a reference.
  @inline(__always)
  func withLoop<Result>(_ body: (Loop) throws -> Result) rethrows -> Result {
    try loopContext.plainLoop._withUnsafeGuaranteedRef(body)
  }

  /// Ends everything in order: the tasks close what they hold, the handles go, then the state.
  package func shutDown() {
    guard !isOver else { return }
    isOver = true
    while loopContext.outer != nil { leave() }
    endAll()
    sayFarewell()
    names.drop(state)
    isClosing = true
    state.close()
  }
}

/// Somebody whose handler runs a loop.
struct Nester {
  let who: Running
  let loop: ObjectIdentifier
  /// The depth of the run that it began.
  let depth: Int
  /// When, on the loop's clock.
  let began: Int64
}

/// Whose handler runs now, in two plain words: whoever calls out holds what it is.
struct Running {
  private enum Kind { case chunk, timer, item, task, request }
  private var kind = Kind.chunk
  private var bits: UInt64 = 0

  /// It is the main chunk that has not waited yet, or a file that is loaded again.
  var isChunk: Bool { kind == .chunk }

  func isSame(as other: Running) -> Bool { kind == other.kind && bits == other.bits }

  init() {}

  @inline(__always)
  init(timer id: UInt64) {
    kind = .timer
    bits = id
  }

  @inline(__always)
  init(item: Loop.Item) {
    kind = .item
    bits = Self.bits(of: item)
  }

  init(_ subject: Subject) {
    switch subject {
    case .chunk, .finalizer: break
    case .timer(let id):
      kind = .timer
      bits = id.rawValue
    case .item(let item):
      kind = .item
      bits = Self.bits(of: item)
    case .task(let task):
      kind = .task
      bits = Self.bits(of: task)
    case .request(let request):
      kind = .request
      bits = Self.bits(of: request)
    }
  }

  var subject: Subject {
    switch kind {
    case .chunk: .chunk
    case .timer: .timer(TimerID(rawValue: bits))
    case .item: .item(object())
    case .task: .task(object())
    case .request: .request(object())
    }
  }

  private static func bits(of object: AnyObject) -> UInt64 {
    UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
  }

  private func object<Object: AnyObject>() -> Object {
    Unmanaged<Object>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(bits))!).takeUnretainedValue()
  }
}

/// Whose Lua code runs: the origin of what it makes and waits for.
package enum Subject {
  /// The chunk that was run first, or Swift code.
  case chunk
  case timer(TimerID)
  case item(Loop.Item)
  case task(ScriptTask)
  /// A block that was queued by `loop:perform`.
  case request(ScriptRequest)
  /// Some `__gc` of the scripts; only in reports, since nothing that it makes is its own.
  case finalizer
}
