// One Lua state on one loop on one thread: connects the binding and the core.

package import LuaEmbed
package import MoonloopCore
internal import MoonloopRecording
internal import Synchronization

/// What belongs to a Lua state that runs on a loop. Loop thread only.
package final class Runtime {
  package unowned(unsafe) let state: LuaState  // the state holds the runtime, not the reverse
  /// What scripts have on the loop that they run on now; `enter` and `leave` exchange it.
  @exclusivity(unchecked) package private(set) var loopContext: LoopContext
  /// The way into Lua.
  let door: LuaDoor
  @exclusivity(unchecked) private(set) var names: InternedNames! = nil
  /// Lua values that tasks are often given.
  private(set) var values: CommonValues! = nil
  let kinds: Kinds
  /// What `require "moonloop"` returns.
  private(set) var module: LuaReference! = nil
  /// What differs between the kinds of items.
  let itemKinds: ItemKinds
  /// Where tests run, if the program runs any.
  package internal(set) var bed: TestBed?
  /// The workers that scripts made and whose threads have not ended.
  var workers = Workers()
  /// Cancels calls to and from guests; a guest has its host's.
  var crossingEnds = CrossingEnds()
  /// The connections of named ports that may have something left to send.
  var farewells = PortFarewells()
  /// Identifies this state.
  let number = Runtime.nextNumber.add(1, ordering: .relaxed).newValue
  @exclusivity(unchecked) package var tracer: ScriptTracer?
  /// Which generation of its file is running, and the load of the next.
  @exclusivity(unchecked) package private(set) var generations: Generations! = nil
  /// The same as a plain word, because each new timer asks them.
  @exclusivity(unchecked) private var plainGenerations: Unmanaged<Generations>! = nil
  package private(set) lazy var console = Console(self)
  package private(set) lazy var mainChunk = MainChunk(self)
  private static let nextNumber = Atomic<UInt64>(0)
  /// What scripts may reach; during set-up, everything.
  var granted = Granted()
  private enum Life { case open, ending, closing }
  private var life = Life.open
  /// Only finalizers still run: what they made on the loop would never be ended. After that the
  /// state is gone; code that still has the runtime checks this.
  var isClosing: Bool { life == .closing }

  init(
    _ state: LuaState, on loop: Loop, granting capabilities: LuaCapabilities = .all,
    asks: Bool = false
  ) {
    self.state = state
    loopContext = LoopContext(state, loop, outer: nil)
    door = state.door
    state.pauseCollector(true)
    itemKinds = ItemKinds(state)
    kinds = Kinds(state, itemKinds, capabilities, asks: asks)
    state.setHost(Unmanaged.passUnretained(self).toOpaque())
    loopContext.open(self)
    generations = Generations(self)
    plainGenerations = .passUnretained(generations)
    names = InternedNames(state, kinds)
    itemKinds.open(self)
    module = state.openModules()
    if !Intake.isPlain { state.deferReturns() }
    state.pauseCollector(false)
    state.onCloseError = { [unowned self] in report($0, current) }  // the state holds this
    values = CommonValues(state.stack)
    if !loop.clock.isMachines { followClock() }
    attach()
    loop.whenEnds(self) { [unowned state] in state.closeWithLoop() }  // until `shutDown`
    state.willClose = { [unowned self] in shutDown() }  // the state holds this
    state.onFinalizerError = { [unowned self] in report($0, .finalizer) }  // as above
  }

  /// Sets up what the loop needs from its scripts.
  func attach() {
    if !Intake.isPlain {
      loop.arrivals.crossings = RecordedCrossings(TapedMessages(loop, home: number))
    }
    loop.whenIdle(self) { [unowned state] _ in  // until `endAll`
      state.noteReturns()
      state.idleCollect()
    }
    // Several states may have one loop, and the last that came may end first. Unowned: the loop has
    // the hook.
    loop.hooks.timerName = { [weak self, unowned loop] id, callout in
      if let timer = loop.timerObject(id) {
        return self?.explanation.traceName(of: timer) ?? timer.name
      }
      // The context of every timer without an object is the runtime that made it.
      return Runtime.of(callout.context).tasks.traceName(of: id, callout)
    }
  }

  /// Makes another loop the scripts' loop, a fresh one: no handles, no tasks, nothing reported.
  ///
  /// The loop's handle stays the same value: it stands for the loop of the running code. Handles of
  /// the loop that is set aside must not be used meanwhile: calls have no effect.
  func enter(_ loop: Loop) {
    loopContext = LoopContext(state, loop, outer: loopContext)
    loopContext.open(self)
    attach()
  }

  /// Ends all that scripts have on the loop of the last `enter`, and returns to the previous one.
  func leave() {
    guard let outer = loopContext.outer else { return }
    endAll()
    loopContext = outer
  }

  /// Makes `os.time`, `os.date` and `os.clock` follow the clock of the loop that scripts run on,
  /// wherever that is not the machine's.
  func followClock() {
    state.follow(self)
  }

  /// The registry reference of a mode's name.
  func modeRef(_ mode: ModeName) -> Int32 { names.ref(of: mode, state.stack) }

  /// The runtime that a raw host function was called for.
  @inline(__always)
  static func of(_ context: UnsafeMutableRawPointer?) -> Runtime {
    Unmanaged<Runtime>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0 }
  }

  /// The same while a closure runs: no reference is counted.
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

  /// The same with the generations.
  @inline(__always)
  func withGenerations<Result>(_ body: (Generations) throws -> Result) rethrows -> Result {
    try plainGenerations._withUnsafeGuaranteedRef(body)
  }

  /// Ends everything in order: the tasks close what they hold, the handles go, then the state.
  func shutDown() {
    guard life == .open else { return }
    life = .ending
    while loopContext.outer != nil { leave() }
    loop.forgetEnd(of: self)
    endAll()
    farewells.say(errors)
    names.drop(state)
    life = .closing
    state.close()
  }
}

extension Runtime: LuaClock {
  package var shownTime: LuaShownTime? {
    withLoop { loop in
      if loop.clock.isMachines { return nil }
      let (wall, now) = (loop.kernel.wallTime(), loop.now.nanoseconds)
      return LuaShownTime(epoch: Int(wall / 1_000_000_000), elapsed: Double(now) / 1e9)
    }
  }
}

/// Whose handler is running, in two plain words: the caller holds the subject.
struct Running {
  private enum Kind { case chunk, timer, item, task, request }
  private var kind = Kind.chunk
  private var bits: UInt64 = 0

  /// Whether it is the main chunk before its first wait, or a file that is reloaded.
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

  @inline(__always)
  init(task: ScriptTask) {
    kind = .task
    bits = Self.bits(of: task)
  }

  init(_ subject: Subject) {
    switch subject {
    case .chunk, .finalizer, .reload: break
    case .timer(let id):
      kind = .timer
      bits = id.rawValue
    case .item(let item):
      kind = .item
      bits = Self.bits(of: item)
    case .task(let task): self = Running(task: task)
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

  /// The task, if it is one, without counting a reference.
  @inline(__always)
  var task: Unmanaged<ScriptTask>? {
    kind == .task ? .fromOpaque(UnsafeRawPointer(bitPattern: UInt(bits))!) : nil
  }

  private static func bits(of object: AnyObject) -> UInt64 {
    UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
  }

  private func object<Object: AnyObject>() -> Object {
    Unmanaged<Object>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(bits))!).takeUnretainedValue()
  }
}

/// What follows the tasks and calls of scripts.
package struct ScriptTracer {
  /// Called for each task: when it is made or waits for the first time, and when it has ended.
  var task: (ScriptTask, _ begins: Bool) -> Void
  /// Called when it turns out what the loop's call of a block or of a host's timer is for.
  var call: (_ word: String, _ name: String, _ place: String) -> Void

  package init(
    task: @escaping (ScriptTask, _ begins: Bool) -> Void,
    call: @escaping (_ word: String, _ name: String, _ place: String) -> Void
  ) {
    self.task = task
    self.call = call
  }
}

/// Whose Lua code is running: the origin of what it makes and waits for.
package enum Subject {
  /// The chunk that was run first, or Swift code.
  case chunk
  case timer(TimerID)
  case item(Loop.Item)
  case task(ScriptTask)
  /// A block that was queued by `loop:perform`.
  case request(ScriptRequest)
  /// A `__gc` of the scripts; only in reports, because what it makes does not belong to it.
  case finalizer
  /// What a reload runs, by its words: the file, or a handler of `on_unload`; only in reports.
  case reload(String)
}
