// What scripts have on one loop. A state moves to another loop by exchanging one reference, which
// gives each test a fresh loop.

internal import LuaEmbed
package import MoonloopCore

/// What scripts have on one loop. Loop thread only.
package final class LoopContext {
  let loop: Loop
  /// The same as a plain word: reading a reference counts it, and calls are frequent.
  let plainLoop: Unmanaged<Loop>
  /// The loop that is set aside while scripts run on this one.
  let outer: LoopContext?
  /// Which handles there are, and where they were made.
  let handles: Handles
  let errors = ErrorPolicy()
  unowned(unsafe) private(set) var runtime: Runtime! = nil  // it holds the context
  let tasks: Tasks
  /// The same as a plain word, like `plainLoop`.
  let plainTasks: Unmanaged<Tasks>
  private(set) var runs: Runs! = nil
  private(set) var requests: Requests! = nil
  /// Whose handler is running, in plain words: call-outs are frequent.
  @exclusivity(unchecked) var running = Running()
  /// The source whose `cancel` is being called.
  @exclusivity(unchecked) var leaving: Loop.Source?
  /// The main chunk, while it waits: the loop must resume it, whatever ran it before.
  @exclusivity(unchecked) var waitingChunk: ScriptTask?
  /// Everything that scripts have on the loop is ending: nothing new may be made, or wait.
  @exclusivity(unchecked) var isEnding = false
  /// The children that are alive, or whose groups must still be killed.
  var processes: [ObjectIdentifier: ScriptProcess] = [:]
  /// The file watches, once there was one.
  var watches: WatchService?
  /// The figures of the loop, once a script has requested them.
  @exclusivity(unchecked) var measuring: Measuring?
  /// The terminals that are open.
  var terminals: [ObjectIdentifier: ScriptTerminal] = [:]
  /// The connections that wait for their peers' end.
  var lingering: [LingeringClose] = []
  /// Counts the modes as script memory, because they never go away.
  private var modesCharge: MemoryCharge?
  private var modesSize = 0
  /// The same for the places of items, timers and turns in modes.
  private var placesCharge: MemoryCharge?

  init(_ state: LuaState, _ loop: Loop, outer: LoopContext?) {
    self.loop = loop
    handles = Handles(state)
    tasks = Tasks(state, loop)
    plainTasks = .passUnretained(tasks)
    plainLoop = .passUnretained(loop)
    self.outer = outer
  }

  /// Makes what needs the runtime.
  func open(_ runtime: Runtime) {
    self.runtime = runtime
    tasks.open(runtime, self)
    runs = Runs(runtime, self)
    requests = Requests(runtime, self)
    // Unowned: both are forgotten in `endAll`.
    loop.whenModeIsMade(runtime) { [unowned self] mode in chargeMode(mode) }
    loop.whenPlacesChange(runtime) { [unowned self] in chargePlaces() }
  }

  private func chargeMode(_ mode: Mode) {
    if runtime.state.depth == 0 { return }  // others make modes of the loop as well
    modesSize += Mode.footprint + mode.name.rawValue.utf8.count
    runtime.state.charge(modesSize, to: &modesCharge)
  }

  private func chargePlaces() {
    runtime.state.charge(loop.placesInModes * Loop.placeFootprint, to: &placesCharge)
  }

  /// Whose handler is running; what it makes is in its modes (D62).
  var current: Subject {
    get { running.subject }
    set { running = Running(newValue) }
  }
}

// MARK: Modes

extension LoopContext {
  /// The default mode alone, shared by everything in it.
  static let inDefaultMode: [ModeName] = [.default]

  /// The modes of the running code, for what it makes and waits for (D62).
  func modes(of subject: Subject) -> [ModeName] {
    switch subject {
    case .chunk, .finalizer, .reload: return Self.inDefaultMode
    case .timer(let id):
      if loop.isOnlyInDefaultMode(id) { return Self.inDefaultMode }
      return modes(loop.contains(id, .common), loop.modeNames(of: id))
    case .item(let item):
      let own = modes(loop.contains(item, mode: .common), loop.modes(of: item))
      // Its `cancel` handler runs while it leaves a mode, perhaps its last: with the current mode,
      // what the handler makes is served.
      let here = loop.currentMode ?? .default
      return item === leaving && !own.contains(here) ? own + [here] : own
    case .task(let task): return task.modes
    case .request(let request): return request.modes
    }
  }

  /// The modes in which the running code is resumed, including those of runs that wait for it
  /// (D50).
  func servingModes(of subject: Subject) -> [ModeName] {
    if case .task(let task) = subject { return task.servingModes }
    return modes(of: subject)
  }

  /// The same for what runs now.
  var servingModes: [ModeName] {
    if let task = running.task { return task._withUnsafeGuaranteedRef { $0.servingModes } }
    return modes(of: current)
  }

  private func modes(_ isCommon: Bool, _ names: [ModeName]) -> [ModeName] {
    if isCommon { return [.common] + names.filter { !loop.isCommonMode($0) } }
    return names.isEmpty ? Self.inDefaultMode : names
  }
}

// What is asked of a runtime for the loop of its scripts.
extension Runtime {
  package var loop: Loop { loopContext.loop }
  package var handles: Handles { loopContext.handles }
  package var errors: ErrorPolicy { loopContext.errors }

  package var tasks: Tasks { loopContext.tasks }
  package var runs: Runs { loopContext.runs }
  package var requests: Requests { loopContext.requests }
  package var explanation: Explanation { Explanation(self) }

  /// Runs a body on the tasks without counting a reference: each wait needs them.
  @inline(__always)
  func withTasks<Result>(_ body: (Tasks) throws -> Result) rethrows -> Result {
    try loopContext.plainTasks._withUnsafeGuaranteedRef(body)
  }

  /// The modes of the running code, for what it makes.
  var currentModes: [ModeName] { loopContext.modes(of: current) }

  var current: Subject {
    get { loopContext.current }
    set { loopContext.current = newValue }
  }
  @inline(__always) var running: Running {
    get { loopContext.running }
    set { loopContext.running = newValue }
  }
  package var waitingChunk: ScriptTask? {
    get { loopContext.waitingChunk }
    set { loopContext.waitingChunk = newValue }
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
  var terminals: [ObjectIdentifier: ScriptTerminal] {
    _read { yield loopContext.terminals }
    _modify { yield &loopContext.terminals }
  }
  var lingering: [LingeringClose] {
    _read { yield loopContext.lingering }
    _modify { yield &loopContext.lingering }
  }
}

extension Runtime {
  /// Ends tasks and handles of the present loop; `<close>` handlers of tasks may make new ones,
  /// once.
  func endAll() {
    stopWorkers()
    tasks.endAll()
    endProcesses()
    endWorkers()
    let terminals = loopContext.terminals
    loopContext.terminals = [:]
    for terminal in terminals.values { terminal.end(self) }
    invalidateAll()
    endLingering()
    watches?.end()
    watches = nil
    measuring?.end()
    measuring = nil
    loop.forgetHooks(of: self)
    errors.dropHandlers()
  }
}
