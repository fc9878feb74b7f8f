// A script's child process: what waits for its end, and when that is reported. It is reported
// once the child has ended and its output has too, in either order (D29).

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// An output of a child that comes to us.
protocol ChildOutput: AnyObject {
  var fd: Int32 { get }
  /// Whether its end was read, or never will be here.
  /// - Parameter waiters: The tasks that wait for the child, which do not read meanwhile.
  func isOver(_ waiters: [ScriptTask]) -> Bool
  /// No task has begun to read it.
  var isUntouched: Bool { get }
}

/// A child process. Loop thread only.
final class ScriptProcess {
  private enum Phase { case running, exited, over }

  unowned(unsafe) let runtime: Runtime  // the state ends all processes before it goes
  let child: Child
  /// What identifies it when it is made again: the name from the script.
  var identity = ""
  /// Program and arguments, and the folder.
  var command: [[UInt8]] = []
  /// Counts what is kept for it as script memory.
  var charge: MemoryCharge?
  /// Its name in messages: its program.
  let title: String
  /// Whether it does not end with the state, and holds no clock.
  let isDetached: Bool
  /// Whether signals go to its whole group.
  let leadsGroup: Bool
  /// How long to wait for outputs that others hold open after the child's end; nil: forever.
  var linger: Int64?
  private(set) var source: Loop.DescriptorSource! = nil
  var outputs: [any ChildOutput] = []
  /// Whether its streams are one pseudo-terminal.
  var hasTerminal = false
  /// Our side of the pseudo-terminal, while it is open.
  weak var terminal: ScriptStream?
  /// Whether it keeps a run going when no task waits.
  var keepsAlive = true { didSet { settleHold() } }
  /// Whether no handler is called at its end.
  var isSilent = false
  /// Called once, when the end is reported.
  var whenOver: ((ChildStatus) -> Void)?
  private var phase = Phase.running
  private var hold: Hold?
  private var waits: [ProcessWait] = []
  /// The modes it was made for, and those it is in now.
  private let ownModes: [ModeName]
  private let modesCharge: MemoryCharge?
  private var placed: [ModeName] = []
  /// What else wakes us: an output that hangs up, the end of a time.
  private var hangUp: Loop.DescriptorSource?
  private var lingerAlarm: Loop.DescriptorSource?
  private var graceAlarm: Loop.DescriptorSource?
  /// The next look at the rest of its group, while that may be killed.
  private var groupAlarm: Loop.DescriptorSource?
  private var lingerIsOver = false
  /// How often the end was checked while there was output that no task had begun to read.
  private var looks = 0
  /// Items that are served where the process is, and end with it: its pipes, if no streams have
  /// them.
  private var companions: [Loop.DescriptorSource] = []

  init(
    _ runtime: Runtime, _ child: Child, title: String, name: String, modes: [ModeName],
    isDetached: Bool, leadsGroup: Bool
  ) {
    self.runtime = runtime
    self.child = child
    self.title = title
    self.isDetached = isDetached
    self.leadsGroup = leadsGroup
    ownModes = modes
    modesCharge = runtime.state.charge(modes)
    // Unowned: the source holds it.
    source = Loop.DescriptorSource(
      child.fd, name: name, handler: { [unowned self] _, _ in look() })
    source.isNonBlocking = true
    if !isDetached { hold = runtime.loop.holdClock("process '\(title)'", for: source) }
  }

  /// Makes the end be reported to the loop. The handle, if there is one, is at the top of the
  /// stack.
  func begin() throws(LoopError) {
    runtime.processes[ObjectIdentifier(self)] = self
    do throws(LoopError) { try place() } catch {
      kill()
      drop()
      throw error
    }
  }

  /// The process of an item; nil once that has ended.
  static func of(_ source: Loop.DescriptorSource) -> ScriptProcess? {
    source.state(as: ScriptProcess.self)
  }

  /// How it ended, once that is reported.
  var status: ChildStatus? { phase == .over ? child.status : nil }

  /// Whether the child is still running, as far as is known.
  var isRunning: Bool { phase == .running }

  var label: String { "process '\(title)' (pid \(child.pid))" }

  // MARK: Modes

  /// Puts everything that is watched into the modes of the process and of the tasks that wait for
  /// it.
  private func place() throws(LoopError) {
    var wanted = ownModes
    for wait in waits { wanted += wait.modes.filter { !wanted.contains($0) } }
    let gone = placed.filter { !wanted.contains($0) }
    placed = wanted
    let own = [source, hangUp, lingerAlarm, graceAlarm].compactMap { $0 }
    for one in own + companions where one.isValid {
      try runtime.loop.add(one, modes: wanted)
      if gone.isEmpty { continue }
      runtime.loop.remove(one, modes: gone)
      if gone.contains(.common) { try runtime.loop.add(one, modes: wanted) }
    }
  }

  // MARK: The end

  /// The kernel reports the child's end, or something else that was waited for has happened.
  private func look() {
    if phase == .running {
      guard child.look() else { return }
      phase = .exited
    }
    guard phase == .exited else { return source.disable(.read) }
    let waiters = waits.compactMap(\.waiter)
    // A reader may begin only in the pass after the one that made both.
    if looks < 2, outputs.contains(where: { $0.isUntouched }) {
      looks += 1
      return
    }
    let open = outputs.filter { !$0.isOver(waiters) }
    if open.isEmpty || lingerIsOver || linger == 0 { return finish() }
    source.disable(.read)
    watch(open)
  }

  /// Checks again in the next pass: an output has ended, or a task waits.
  func lookAgain() {
    if phase == .exited, source.isValid { source.enable(.read) }
  }

  /// Outputs are still open: other processes have them, or their end has not been read here.
  private func watch(_ open: [any ChildOutput]) {
    hangUp?.invalidate()
    hangUp = nil
    let held = open.map(\.fd).filter { $0 >= 0 && !ChildDescriptors.hasHungUp($0) }
    if !held.isEmpty, let fd = try? ChildDescriptors.hangUp(of: held) {
      hangUp = other(fd) { [weak self] in
        self?.hangUp?.invalidate()
        self?.hangUp = nil
        self?.lookAgain()
      }
    }
    if lingerAlarm == nil, let linger, linger != .max {
      lingerAlarm = alarm(after: linger) { [weak self] in
        self?.lingerIsOver = true
        self?.lookAgain()
      }
    }
  }

  /// Serves a source where the process is served, until that ends.
  func add(_ companion: Loop.DescriptorSource) throws(LoopError) {
    runtime.loop.setKeepsAlive(companion, false)  // the process itself keeps the run going
    companions.append(companion)
    try runtime.loop.add(companion, modes: placed)
  }

  /// Calls a body after a time on the system's clock, unless the process has ended by then.
  func after(_ nanoseconds: Int64, _ body: @escaping () -> Void) {
    if let alarm = alarm(after: nanoseconds, body) { companions.append(alarm) }
  }

  /// Watches one of our descriptors until it is ready once, where the process is served.
  private func other(_ fd: Int32, _ body: @escaping () -> Void) -> Loop.DescriptorSource? {
    let source = Loop.DescriptorSource(fd, closesDescriptor: true, reenabled: []) { _, _ in body() }
    source.isNonBlocking = true
    runtime.loop.setKeepsAlive(source, false)  // the process itself keeps the run going
    do { try runtime.loop.add(source, modes: placed) } catch {
      source.invalidate()
      return nil
    }
    return source
  }

  /// Calls a body after a time on the system's clock; now, if the system has no more timers.
  private func alarm(
    after nanoseconds: Int64, _ body: @escaping () -> Void
  ) -> Loop.DescriptorSource? {
    let source = timer(after: nanoseconds, body)
    if source == nil { body() }
    return source
  }

  /// Calls a body after a time on the system's clock; nil if the system has no more timers.
  private func timer(
    after nanoseconds: Int64, _ body: @escaping () -> Void
  ) -> Loop.DescriptorSource? {
    (try? ChildDescriptors.alarm(after: nanoseconds)).flatMap { other($0, body) }
  }

  /// Reports the end to everything that waits, in a call-out of the process.
  private func finish() {
    phase = .over
    letClockGo()  // in a run inside the handler, time may pass again
    let status = child.status ?? .unknown
    if graceAlarm == nil || !child.groupRuns { child.reap() } else { watchGroup(after: 5_000_000) }
    let waiting = waits
    waits = []
    for wait in waiting {
      if let task = wait.waiter { runtime.tasks.makeReady(task, .answer) }
    }
    whenOver?(status)
    whenOver = nil
    runtime.tellOfExit(self, status)
    runtime.end(source)
  }

  /// The item has ended: by the end of the child, or with the state.
  func itemEnded() {
    if phase != .over && !isDetached && !child.look() { kill() }
    drop()
  }

  private func letClockGo() {
    hold?.release()
    hold = nil
  }

  private func drop() {
    letClockGo()
    outputs = []
    waits = []
    source.invalidate()
    for one in [hangUp, lingerAlarm] + companions { one?.invalidate() }
    companions = []
    if graceAlarm == nil || child.isReaped {
      endAlarms()
      child.close()
      runtime.processes[ObjectIdentifier(self)] = nil
    }
  }

  // MARK: Signals

  /// - Throws: ESRCH when it has ended.
  func send(_ number: Int32) throws(SystemError) {
    guard phase == .running else { throw SystemError(call: "kill", code: 3) }
    try child.send(number, toGroup: leadsGroup)
  }

  /// Asks it to end, and kills it if it has not after a time.
  func terminate(_ number: Int32, grace: Int64) {
    // What its outputs are still open for may be another process of its group.
    guard phase == .running || (phase == .exited && leadsGroup) else { return }
    // A stopped child handles it once it goes on.
    for one in [number, SignalNumber.goOn] { try? child.send(one, toGroup: leadsGroup) }
    if grace == .max || graceAlarm != nil { return }
    graceAlarm = alarm(after: grace) { [weak self] in self?.endGrace() }
  }

  /// The state ends: its alarms must not outlast it on the loop. What is still an item is closed
  /// with that.
  fileprivate func forget() {
    child.reap()
    endAlarms()
    if phase == .over { child.close() }
  }

  private func endAlarms() {
    for one in [graceAlarm, groupAlarm] { one?.invalidate() }
    (graceAlarm, groupAlarm) = (nil, nil)
  }

  /// The leader has ended, the rest of its group has not: once it has, the leader's ID is not kept
  /// any longer.
  private func watchGroup(after nanoseconds: Int64) {
    groupAlarm?.invalidate()
    groupAlarm = timer(after: nanoseconds) { [weak self] in
      guard let self else { return }
      if child.groupRuns {
        watchGroup(after: min(2 * nanoseconds, 100_000_000))
      } else {
        letGroupGo()
      }
    }
  }

  /// The rest of a group is killed too; the leader's ID was kept for that.
  private func endGrace() {
    kill()
    letGroupGo()
  }

  private func letGroupGo() {
    endAlarms()
    guard phase == .over else { return }
    child.reap()
    child.close()
    runtime.processes[ObjectIdentifier(self)] = nil
  }

  func kill() { try? child.send(SignalNumber.kill, toGroup: leadsGroup) }

  // MARK: Waiting

  /// A run goes on while a task waits.
  private func settleHold() {
    if source.isValid { runtime.loop.setKeepsAlive(source, keepsAlive || !waits.isEmpty) }
  }

  func add(_ wait: ProcessWait) throws(LoopError) {
    waits.append(wait)
    settleHold()
    lookAgain()
    try place()
  }

  fileprivate func remove(_ wait: ProcessWait) {
    waits.removeAll { $0 === wait }
    settleHold()
    replace()
  }

  fileprivate func replace() {
    if phase != .over { try? place() }
  }

  // MARK: As text

  var stateText: String {
    switch phase {
    case .running: "pid \(child.pid), running"
    case .exited: "pid \(child.pid), ended; \(openWords)"
    case .over: "pid \(child.pid), ended"
    }
  }

  var obstacle: String {
    phase == .running ? "the child runs, pid \(child.pid)" : "the child has ended; \(openWords)"
  }

  private var openWords: String {
    let held = outputs.contains { $0.fd >= 0 && !ChildDescriptors.hasHungUp($0.fd) }
    return held
      ? "its output is held open by another process" : "its output was not read to the end"
  }
}

/// A task waits for the end of a process.
class ProcessWait: OtherWait {
  private let process: ScriptProcess
  fileprivate(set) final var modes: [ModeName]
  private let pushValues: (LuaStack) -> Int

  init(_ process: ScriptProcess, modes: [ModeName], push: @escaping (LuaStack) -> Int) {
    self.process = process
    self.modes = modes
    pushValues = push
    super.init()
  }

  override var what: String { "the end of \(process.label)" }
  override func abandon() { process.remove(self) }
  override func push(on stack: LuaStack) -> Int { pushValues(stack) }

  override func join(_ mode: ModeName, _ loop: Loop) {
    modes.append(mode)
    process.replace()
  }

  override func leave(_ mode: ModeName, _ loop: Loop) {
    modes.removeAll { $0 == mode }
    process.replace()
  }
}

extension Runtime {
  /// The end of a process: its handler is called.
  fileprivate func tellOfExit(_ process: ScriptProcess, _ status: ChildStatus) {
    guard process.source.maker.ref > 0, !process.isSilent else { return }
    let stack = state.stack
    stack.push(ref: process.source.maker.ref)
    stack.pushSlot(ProcessSlot.onExit, of: -1)
    let isHeard = stack.type(-1) == .function
    stack.pop(2)
    guard isHeard else { return }
    callOut(process.source) { ref in
      state.dispatch(ref: ref, slot: ProcessSlot.onExit) { stack in
        stack.push(status)
        return 1
      }
    }
  }

  /// Ends the children that the script owns, first by request, then by killing. At the end of the
  /// state.
  func endProcesses() {
    let owned = processes.values.filter { !$0.isDetached }
    processes = [:]
    var children = owned.map(\.child).filter { !$0.look() }
    for process in owned {
      let isAlone = !process.leadsGroup && process.child.status != nil
      if isAlone || process.child.isReaped { continue }
      try? process.child.send(SignalNumber.term, toGroup: process.leadsGroup)
    }
    Child.awaitExits(children, milliseconds: 500)
    children.removeAll { $0.look() }
    for process in owned where process.leadsGroup || process.child.status == nil { process.kill() }
    Child.awaitExits(children, milliseconds: 2000)
    for process in owned { process.forget() }
  }
}

/// What a process handle keeps.
enum ProcessSlot {
  static let streams: Int32 = 1  // standard input, output, error: 1 to 3
  static let onExit: Int32 = 4
  static let count: Int32 = 4
}

extension LuaStack {
  /// Pushes how a child ended. [-0, +1, raises: -]
  func push(_ status: ChildStatus) {
    newTable(fields: 2)
    setFields(status)
  }

  /// Sets how a child ended in the table on top. [-0, +0, raises: -]
  func setFields(_ status: ChildStatus) {
    if let code = status.code { setField("code", Int(code)) }
    if let signal = status.signal { setField("signal", SignalNumber.name(of: signal)) }
  }
}
