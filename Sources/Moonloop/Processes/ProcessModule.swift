// Child processes in Lua: `ml.process.spawn` and its handle (D28, D29).

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// The functions of `ml.process`.
let processModuleEntries: [LuaEntry] = [
  .function("spawn") { host($0, $1, "ml.process.spawn", processSpawn) },
  .function("run") { host($0, $1, "ml.process.run", processRun) },
  .function("kill") { hostValue($0, $1, "ml.process.kill", processKillAny) },
  // The ID of this process.
  .function("id") { hostValue($0, $1, "ml.process.id") { _ in Int(Child.ownID) } },
  .function("notify") { hostAction($0, $1, "ml.process.notify", processNotify) },
]

/// What a process handle offers.
let processEntries: [LuaEntry] = [
  .method("await", processAwait),
  .method("wait") { host($0, $1, "process:wait", processWait) },
  .method("kill") { hostValue($0, $1, "process:kill", processKill) },
  .method("terminate") { host($0, $1, "process:terminate", processTerminate) },
  .method("resize") { hostValue($0, $1, "process:resize", processResize) },
  .method("invalidate") { hostAction($0, $1, "process:invalidate", processInvalidate) },
  // True until its end is reported.
  .method("is_valid") {
    hostValue($0, $1, "process:is_valid") { try $0.selfProcess().status == nil }
  },
  .method("keep_alive") { host($0, $1, "process:keep_alive", processKeepAlive) },
  .field("pid") { hostValue($0, $1, "process.pid") { Int(try $0.selfProcess().child.pid) } },
  .field("status") { host($0, $1, "process.status", processStatus) },
  .field("stdin") { host($0, $1, "process.stdin") { try pushProcessStream($0, 0) } },
  .field("stdout") { host($0, $1, "process.stdout") { try pushProcessStream($0, 1) } },
  .field("stderr") { host($0, $1, "process.stderr") { try pushProcessStream($0, 2) } },
  .field("name") { hostValue($0, $1, "process.name") { try $0.selfProcess().source.name } },
  .metamethod("__close") { host($0, $1, "close", processClose) },
  .metamethod("__tostring") { hostValue($0, $1, "tostring", processToString) },
]

private let spawnOptions: [StaticString] = [
  "stdin", "stdout", "stderr", "pty", "columns", "rows", "descriptors", "cwd", "env", "env_add",
  "uid", "gid", "group", "detached", "linger", "name", "modes", "keep_alive", "on_exit", "on_error",
]

/// How long outputs that other processes hold open are waited for by default.
let defaultLinger: Int64 = 5_000_000_000
/// How long a child may take to end after it was asked to.
let defaultGrace: Int64 = 5_000_000_000

/// `ml.process.spawn { program, arguments…, stdin, stdout, stderr, cwd, env, … }`: the process; or
/// nil, message, code.
func processSpawn(_ call: HostCall) throws -> Int32 {
  try call.requireRoom()
  let stack = call.stack
  stack.setCount(1)
  let options = try call.options(
    1, spawnOptions, example: "{ \"ls\", \"-l\", stdout = \"pipe\" }", unnamed: .max)
  let arguments = try call.childArguments(1)
  var plan = ChildPlan()
  plan.arguments = arguments
  var streams = try call.readPlan(options, &plan, defaults: [.inherit, .inherit, .inherit])
  if let terminal = try call.childTerminal(options) {
    streams = [terminal, terminal, terminal]
    plan.ownsTerminal = true
  }
  plan.streams += try call.childDescriptors(options)
  try call.readUser(options, &plan)
  let isDetached = try options.boolean("detached") ?? false
  if isDetached { try call.requireAllPrograms("detach them") }
  plan.leadsSession = isDetached || plan.ownsTerminal
  let linger = try options.seconds("linger", .notNegative) ?? defaultLinger
  let given = try options.name()
  let name = given ?? call.title(of: arguments)
  let modes = try options.modes() ?? [.default]
  let keepsAlive = try options.boolean("keep_alive") ?? true
  let onError = try options.reference("on_error")
  _ = try options.pushHandlerOrNil("on_exit")
  let command = arguments + [plan.folder ?? []]
  let kept = try call.remake(
    ProcessKind.self, given ?? "", handlers: 1, firstSlot: ProcessSlot.onExit, options,
    modes: nil
  ) { source in
    guard let process = ScriptProcess.of(source) else { return false }
    return process.isRunning && process.command == command
  }
  if kept != nil { return 1 }
  try call.requireRoom(new: 1 + streams.count(where: \.isPipe) + (plan.ownsTerminal ? 1 : 0))
  var ends = try call.openEnds(streams, plan)
  let child = try call.spawn(&plan, ends)
  let process = ScriptProcess(
    call.runtime, child, title: call.title(of: arguments), name: name, modes: modes,
    isDetached: isDetached, leadsGroup: plan.leadsGroup || plan.leadsSession)
  process.hasTerminal = plan.ownsTerminal
  process.identity = given ?? ""
  process.command = command
  process.charge = call.state.charge(command.reduce(0) { $0 + $1.count })
  process.linger = linger == .max ? nil : linger
  let ours = ends.handOver(call.runtime)
  try call.push(process, ours)
  if let onError { call.runtime.handles.setOnError(of: process.source, onError) }
  process.keepsAlive = keepsAlive
  return 1
}

/// `process:resize(columns, rows)`: true; or nil, message, code.
func processResize(_ call: HostCall) throws -> some LuaPushable {
  let process = try call.selfProcess()
  if !process.hasTerminal { throw call.mistake("the process has no terminal; see 'pty'") }
  let columns = try call.stack.integer(2, "the number of columns", in: 1...1000)
  let rows = try call.stack.integer(3, "the number of rows", in: 1...1000)
  guard let stream = process.terminal, stream.source.isValid else {
    throw OperatingFailure(call.told(call.mistake("the terminal is closed")), "EPIPE")
  }
  do throws(SystemError) {
    try ChildDescriptors.resize(
      stream.source.fd, columns: Int32(columns), rows: Int32(rows))
  } catch {
    throw OperatingFailure(
      call.told(call.mistake("\(error.message)")), error.name)
  }
  return true
}

extension HostCall {
  /// The program's name without its folder.
  func title(of arguments: [[UInt8]]) -> String {
    String(decoding: arguments[0].split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
  }

  /// Reads the options that `spawn` and `run` have in common.
  /// - Returns: The three streams.
  func readPlan(
    _ options: Options, _ plan: inout ChildPlan, defaults: [ChildStream]
  ) throws -> [ChildStream] {
    guard loop.kernel is LinuxKernel else {
      throw mistake("a simulated system has no processes")
    }
    try requireGrant(
      forProgram: plan.arguments[0],
      setsEnvironment: options.has("env") || options.has("env_add"))
    plan.folder = try childFolder(options)
    plan.environment = try childEnvironment(options)
    if plan.folder != nil, Child.dependsOnFolder(plan) {
      try requireAllPrograms("run what another folder could have")
    }
    plan.leadsGroup = try options.boolean("group") ?? false
    return [
      try childStream(options, "stdin", 0) ?? defaults[0],
      try childStream(options, "stdout", 1) ?? defaults[1],
      try childStream(options, "stderr", 2) ?? defaults[2],
    ]
  }

  /// Opens the descriptors that the child needs.
  func openEnds(_ streams: [ChildStream], _ plan: ChildPlan) throws(OperatingFailure) -> ChildEnds {
    var ends = ChildEnds()
    for (number, stream) in streams.enumerated() {
      do throws(SystemError) { try ends.open(stream, number) } catch {
        throw cannotRun(plan, SpawnFailure(stage: .streams, error: error))
      }
    }
    return ends
  }

  func spawn(_ plan: inout ChildPlan, _ ends: borrowing ChildEnds) throws(OperatingFailure) -> Child
  {
    plan.streams = ends.child + plan.streams.dropFirst(3)
    do throws(SpawnFailure) { return try Child.spawn(plan) } catch { throw cannotRun(plan, error) }
  }

  private func cannotRun(_ plan: ChildPlan, _ failure: SpawnFailure) -> OperatingFailure {
    let program = String(decoding: plan.arguments[0], as: UTF8.self)
    var text = "cannot run '\(program)'"
    switch failure.stage {
    case .folder: text += " in '\(String(decoding: plan.folder ?? [], as: UTF8.self))'"
    case .group: text += " in a group of its own"
    case .owner: text += " as another user or group"
    case .clone, .streams, .program: break
    }
    text += ": \(failure.error.message)"
    if failure.error.name == "ENOEXEC" {
      text += "; a script must begin with #! and its interpreter"
    }
    if failure.error.name == "ENOENT" && plan.arguments.count == 1 && program.contains(" ") {
      let words = program.split(separator: " ").map { "\"\($0)\"" }.joined(separator: ", ")
      text += "; there is no shell: write { \(words) }, or { \"sh\", \"-c\", … } for one"
    }
    return OperatingFailure(text, failure.error.name)
  }

  /// Pushes the handle of a running process, with streams on our ends of its pipes; a handler or
  /// nil is on top. [-1, +1]
  fileprivate func push(_ process: ScriptProcess, _ ours: [Int32]) throws {
    kinds.process.push(stack.L).hold(process)
    stack.rotate(-2, 1)
    stack.popSlot(ProcessSlot.onExit, of: -2)
    runtime.handles.note(
      process.source, of: kind(ProcessKind.self), madeAt: stack.position,
      generation: runtime.generations.making)
    process.source.maker.state = process
    stack.pushValue(-1)
    process.source.maker.ref = stack.popRef()
    for (number, fd) in ours.enumerated() where fd >= 0 {
      pushStream(process, number, fd)
      if process.hasTerminal {
        stack.pushValue(-1)
        stack.popSlot(ProcessSlot.streams + 1, of: -3)
      }
      stack.popSlot(ProcessSlot.streams + Int32(number), of: -2)
    }
    do { try process.begin() } catch {
      runtime.end(process.source)
      throw error
    }
  }

  private func pushStream(_ process: ScriptProcess, _ number: Int, _ fd: Int32) {
    var traits = StreamTraits()
    traits.name = "\(process.title).\(["stdin", "stdout", "stderr"][number])"
    if process.hasTerminal { traits.name = "\(process.title).pty" }
    traits.canRead = number > 0 || process.hasTerminal
    traits.canWrite = number == 0
    traits.isNonBlocking = true
    // It makes no call that could fail.
    guard let stream = try? runtime.makeStream(fd, traits, on: stack) else {
      return stack.pushNil()
    }
    if process.hasTerminal {
      stream.state.isPseudoTerminal = true
      process.terminal = stream
    }
    if traits.canRead { process.outputs.append(StreamOutput(stream, process)) }
  }
}

/// An output that the script reads through a stream.
private final class StreamOutput: ChildOutput {
  private let stream: ScriptStream

  init(_ stream: ScriptStream, _ process: ScriptProcess) {
    self.stream = stream
    stream.bytes.whenOver = { [weak process] in process?.lookAgain() }
  }

  var fd: Int32 { stream.source.isValid ? stream.source.fd : -1 }

  var isUntouched: Bool {
    stream.source.isValid && stream.state.bytesRead == 0 && !stream.state.isAtEnd
      && stream.reader == nil && stream.events == nil
  }

  func isOver(_ waiters: [ScriptTask]) -> Bool {
    guard stream.source.isValid, !stream.state.isAtEnd, stream.state.readFailure == nil
    else {
      return true
    }
    if !ChildDescriptors.hasHungUp(stream.source.fd) { return false }
    // There are no more writers; what is left goes to the task that began to read.
    if stream.events != nil || stream.reader?.isBusy ?? false { return false }
    guard let reader = stream.lastReader, reader.phase != .ended else { return true }
    return waiters.contains { $0 === reader }
  }
}

// MARK: Finding

extension HostCall {
  /// The process of a handle; nil if it has none.
  func process(_ index: Int32) -> ScriptProcess? {
    kinds.process.handle(stack.L, index)?.object(as: ScriptProcess.self)
  }

  @inline(__always)
  func selfProcess() throws(ScriptMistake) -> ScriptProcess {
    guard let process = process(1) else { throw notSelf("process") }
    return process
  }
}

// MARK: Waiting

/// `process:await()`: suspends the running code until the process has ended; `{ code, signal }`.
let processAwait: LuaRawFunction = { L, context in
  host(L, context, "process:await") { call in
    let process = try call.selfProcess()
    try call.refuseOptions("process:wait")
    if let status = process.status {
      call.stack.push(status)
      return 1
    }
    _ = try call.requireWaiting()
    return try call.wait(for: process, isQuiet: false) { stack in
      stack.push(process.status ?? .unknown)
      return 1
    }
  }
}

extension HostCall {
  /// Suspends the running code until a process has ended.
  func wait(
    for process: ScriptProcess, isQuiet: Bool, push: @escaping (LuaStack) -> Int
  ) throws(LoopError) -> Int32 {
    let modes = runtime.loopContext.servingModes(of: runtime.current)
    let other = ProcessWait(process, modes: modes, push: push)
    try process.add(other)
    var wait = Wait(.other(other))
    wait.isQuiet = isQuiet
    return suspend(wait)
  }
}

/// `process:wait { timeout, mode }`: the same with a nested run, as `task:wait` does for a task.
func processWait(_ call: HostCall) throws -> Int32 {
  let process = try call.selfProcess()
  let (timeout, mode) = try call.nestedWaitOptions(2)
  if let status = process.status {
    call.stack.push(status)
    return 1
  }
  try call.requireNesting()
  let task = ScriptTask(subject: .chunk, modes: call.runtime.currentModes)
  task.isCall = true
  task.name = "wait"
  task.madeAt = call.stack.position
  call.stack.setCount(1)
  call.stack.push(function: processAwait)
  call.stack.pushValue(1)
  call.runtime.tasks.prepare(task, in: nil, on: call.stack, function: 2, isScope: false)
  task.hasHandle = true  // so that its results are kept
  defer {
    if task.phase != .ended {
      call.runtime.tasks.cancel(task, Cancellation(reason: call.runtime.values.cancelled))
    }
  }
  return try call.wait(for: task, mode, timeout) { call.runtime.tasks.forWhat(task) }
}

/// `notify(lines)`: notifies the service manager, if there is one.
func processNotify(_ call: HostCall) throws {
  try call.requireAllPrograms("notify the service manager")
  let lines = try call.systemText(1, "argument 1")
  Systemd.notify(lines)
}

// MARK: Signals

/// `process:kill([signal])`: true; or nil, message, "ESRCH" when it has ended.
func processKill(_ call: HostCall) throws -> some LuaPushable {
  let process = try call.selfProcess()
  let isGiven = call.stack.type(2) != .none && call.stack.type(2) != .nil
  let number = isGiven ? try call.signalNumber(2) : SignalNumber.kill
  do throws(SystemError) { try process.send(number) } catch {
    let what = error.name == "ESRCH" ? "it has ended" : error.message
    throw OperatingFailure("process:kill: \(process.label): \(what)", error.name)
  }
  return true
}

private let terminateOptions: [StaticString] = ["grace", "signal"]

/// `process:terminate { grace, signal }`: asks it to end, and kills it after the grace period.
/// Does not wait; returns the process.
func processTerminate(_ call: HostCall) throws -> Int32 {
  let process = try call.selfProcess()
  var grace = defaultGrace
  var number = SignalNumber.term
  if call.stack.type(2) != .none && call.stack.type(2) != .nil {
    let options = try call.options(2, terminateOptions, example: "{ grace = 2 }")
    grace = try options.seconds("grace", .notNegative) ?? grace
    if options.push("signal") != .nil {
      number = try call.signalNumber(call.stack.absolute(-1))
    }
  }
  process.terminate(number, grace: grace)
  call.stack.setCount(1)
  return 1
}

/// `process:invalidate()`: kills it at once; its end is reported as usual.
func processInvalidate(_ call: HostCall) throws {
  let process = try call.selfProcess()
  if call.runtime.generations.load?.release(process.source) ?? false { return }
  if process.isRunning { process.kill() }
}

/// `__close` asks it to end, and waits for that where possible; its pipes are closed.
func processClose(_ call: HostCall) throws -> Int32 {
  let process = try call.selfProcess()
  if process.status != nil { return 0 }
  if call.runtime.generations.load?.release(process.source) ?? false { return 0 }
  process.terminate(SignalNumber.term, grace: defaultGrace)
  for slot in ProcessSlot.streams..<(ProcessSlot.streams + 3) {
    call.stack.pushSlot(slot, of: 1)
    if let handle = call.kinds.stream.handle(call.stack.L, -1), handle.item.isValid {
      call.runtime.end(handle.item)
    }
    call.stack.pop()
  }
  guard call.state.waitObstacle(call.stack.L) == nil, call.state.currentTask(call.stack.L) != nil
  else { return 0 }
  return try call.wait(for: process, isQuiet: true) { _ in 0 }
}

/// `ml.process.kill(pid, signal)`: true; or nil, message, code.
func processKillAny(_ call: HostCall) throws -> some LuaPushable {
  try call.requireAllPrograms("signal others")
  let pid = try call.stack.integer(1, "the process", in: Int(Int32.min)...Int(Int32.max))
  let number =
    try call.stack.type(2) == .number && call.stack.integer(2) == 0
    ? 0 : call.signalNumber(2)
  do throws(SystemError) { try Child.send(number, to: Int32(pid)) } catch {
    throw OperatingFailure("ml.process.kill: process \(pid): \(error.message)", error.name)
  }
  return true
}
