// Workers in Lua: `ml.worker` starts a thread with its own state and loop (D32).

internal import LuaEmbed
internal import MoonloopCore

/// What the handle of a worker offers.
let workerEntries: [LuaEntry] =
  [
    .field("port") { host($0, $1, "worker.port", workerPort) },
    .method("await") { host($0, $1, "worker:await", workerAwait) },
    // Asks it to end.
    .method("stop") {
      hostAction($0, $1, "worker:stop") { Worker.of(try $0.selfWorker())?.stop() }
    },
    .field("status") { hostValue($0, $1, "worker.status", workerStatus) },
    // Whether its loop sleeps (R5).
    .field("is_waiting") {
      hostValue($0, $1, "worker.is_waiting") {
        Worker.of(try $0.selfWorker())?.link.isWaiting ?? false
      }
    },
    .metamethod("__close") { host($0, $1, "close", workerClose) },
    .metamethod("__tostring") { hostValue($0, $1, "tostring", workerToString) },
  ] + itemEntries.filter { !["__close", "__tostring"].contains("\($0.name)") }

/// What the handle of a port of another state offers.
let remotePortEntries: [LuaEntry] =
  portEntries.filter { ["send", "request"].contains("\($0.name)") } + [
    .method("invalidate", remotePortInvalidate),
    .method("is_valid") { hostValue($0, $1, "port:is_valid", remotePortIsValid) },
    .field("name") {
      hostValue($0, $1, "port.name") {
        remoteRight(try $0.selfHandle($0.kinds.remotePort))?.port.name ?? ""
      }
    },
    .metamethod("__close", remotePortInvalidate),
    .metamethod("__tostring") { hostValue($0, $1, "tostring", remotePortToString) },
  ]

private let workerOptions: [StaticString] = [
  "source", "args", "name", "memory", "callout", "capacity", "modes", "keep_alive", "on_error",
]

/// `ml.worker { file | source = text, args, name, memory, callout, capacity, modes, keep_alive,
/// on_error }`
let moduleWorker: LuaRawFunction = { L, context in
  host(L, context, "ml.worker") { call in
    try call.requireRoom(new: 2)  // The worker and its port.
    let options = try call.options(
      1, workerOptions, example: "{ \"resize.lua\", args = { quality = 80 } }")
    let text = try call.workerText(options)
    let name = try options.name() ?? text.name
    let capacity = try options.integer("capacity", in: 1...(1 << 24)) ?? 1 << 16
    let modes = try options.modes() ?? [.default]
    let script = try call.workerScript(text, options, try call.takeWorkerPlace())
    let link = call.makeLink(name, capacity)
    // The handle of the worker; below it that of its port.
    call.pushPort(of: link)
    call.push(call.kind(WorkerKind.self), link.control)
    let worker = Worker(link, call.runtime)
    link.control.maker.state = worker
    do {
      try call.applyCommonOptions(options, to: link.control)
      try call.add(link.outward, call.stack.absolute(-2), to: modes)
      call.stack.pushValue(-2)
      call.stack.popSlot(1, of: -2)
      try call.add(link.control, call.stack.absolute(-1), to: modes)
      if let thread = try call.startThread(script, link) { link.begin(thread) }
    } catch {
      call.runtime.end(link.outward)
      call.runtime.end(link.control)
      throw error
    }
    call.runtime.workers.add(worker)
    return 1
  }
}

extension HostCall {
  /// The script: a file by its name, or a text.
  fileprivate func workerText(_ options: Options) throws -> WorkerText {
    let type = stack.rawGet(options.index, item: 1)
    let file = type == .nil ? nil : try systemText(stack.absolute(-1), "the script's file")
    stack.pop()
    let source = try options.bytes("source")
    if let source {
      if file != nil { throw mistake("takes a file or 'source', not both") }
      return WorkerText(source: source)
    }
    guard let file else {
      throw mistake("needs a script: a file name as the first element, or 'source'")
    }
    try requireGrant(toRead: file)
    do throws(SystemError) {
      return try WorkerText(throughIntake: file, searching: packagePath("path"))
    } catch {
      throw OperatingFailure("ml.worker: cannot read \(file): \(error.message)", error.name)
    }
  }

  private func packagePath(_ field: StaticString) -> String? {
    stack.pushGlobal("package")
    defer { stack.pop() }
    return stack.type(-1) == .table ? stack.rawField(-1, field) : nil
  }

  fileprivate func workerScript(
    _ text: WorkerText, _ options: Options, _ place: WorkerCrew.Place?
  ) throws -> WorkerScript {
    var limits = state.limits
    if let memory = try options.bytes("memory", atLeast: 1 << 20) { limits.memory = memory }
    if let time = try options.seconds("callout", .positive) {
      limits.callout = time == .max ? nil : .nanoseconds(max(time, 10_000_000))
    }
    if runtime.granted.guest != nil { limits = limits.within(state.limits) }
    try text.bytes.withUnsafeBytes { bytes in
      do throws(LuaError) {
        try state.load(bytes: bytes, name: text.chunkName, on: stack)
        stack.pop()
      } catch { throw OperatingFailure("ml.worker: \(error.message)", "ENOEXEC") }
    }
    _ = options.push("args")
    defer { stack.pop() }
    var argument: StructuredClone
    do throws(StructuredClone.Obstacle) {
      argument = try StructuredClone(stack, -1, root: "args", most: runtime.largestCopy) {
        runtime.attachment($0, $1)
      }
    } catch {
      throw mistake(
        error.isTooLarge
          ? "'args' is larger than \(runtime.largestCopy) bytes"
          : "\(error.path) is \(error.what), which cannot be sent")
    }
    // Its thread holds both to its end.
    state.noteReturns()
    argument.charge = state.charge(argument.size + text.bytes.count, leaves: true)
    return WorkerScript(
      text: text.bytes, chunkName: text.chunkName, argument: argument, limits: limits,
      path: packagePath("path"), cPath: packagePath("cpath"), guest: runtime.granted.guest,
      place: place)
  }

  /// - Returns: A place among a guest's workers; nil if the script is no guest.
  fileprivate func takeWorkerPlace() throws -> WorkerCrew.Place? {
    if runtime.workers.depth >= Workers.depthLimit {
      throw OperatingFailure(
        "ml.worker: workers are nested \(runtime.workers.depth) deep, which is the limit",
        "EAGAIN")
    }
    if runtime.workers.count() >= Workers.limit {
      throw OperatingFailure(
        "ml.worker: \(Workers.limit) workers are running, which is the limit; stop some, or give "
          + "them more work each", "EAGAIN")
    }
    guard let crew = runtime.granted.guest?.crew else { return nil }
    let most = min(state.limits.handles ?? Workers.limit, Workers.limit)
    if let place = crew.place(most: most) { return place }
    throw OperatingFailure(
      "ml.worker: the guest has \(most) workers, those of its workers included, which is the limit",
      "EAGAIN")
  }

  fileprivate func makeLink(_ name: String, _ capacity: Int) -> WorkerLink {
    let words = name.isEmpty ? "worker" : "worker '\(name)'"
    let link = WorkerLink(
      name: name, label: "\(words) (made at \(state.text(of: stack.position)))",
      depth: runtime.workers.depth + 1,
      // Its thread sets the handler.
      inward: Loop.Port(name: name, capacity: capacity) { _, _ in },
      outward: Loop.Port(name: name, capacity: capacity, parcels: kind(PortKind.self).parcel),
      control: Loop.Port(name: name, capacity: 1024, handler: kind(WorkerKind.self).notice),
      output: loop.makeArrivals { ($0 as? WorkerOutput)?.write() },
      isForwarded: runtime.state.hasDivertedOutput)
    link.inward.noteForeign()
    link.outward.arrive(at: loop)
    link.control.arrive(at: loop)
    return link
  }

  /// Pushes the handle of the owner's end. [-0, +1]
  fileprivate func pushPort(of link: WorkerLink) {
    push(kind(PortKind.self), link.outward)
    let shape = PortShape()
    shape.waitsForHandler = true
    shape.givesHandle = false
    shape.peer = PortRight(link.inward, home: 0)
    link.outward.maker.state = shape
    link.outward.setSuspended(true)
    loop.setKeepsAlive(link.outward, false)  // The worker itself holds the run.
  }

  /// - Returns: nil in a replay, which has its messages.
  fileprivate func startThread(_ script: WorkerScript, _ link: WorkerLink) throws -> LoopThread? {
    guard let kernel = loop.kernel as? LinuxKernel, !kernel.clock.isMirror else {
      throw OperatingFailure("ml.worker: the loop is simulated, and has no threads", "ENOTSUP")
    }
    let name = link.name.isEmpty ? "worker" : link.name
    var thread: LoopThread?
    do throws(SystemError) {
      // Before what goes past the intake, because this is of the loop's own clock.
      let clock = Clock(sharingTimeOf: kernel.clock)
      try Intake.attempt { () throws(SystemError) in
        thread = try LoopThread(name: name, kernel: LinuxKernel(clock)) { loop in
          WorkerRun.run(script, link, loop)
        }
      }
    } catch {
      throw OperatingFailure("ml.worker: cannot start a thread: \(error)", error.name)
    }
    return thread
  }
}

// MARK: Methods

extension HostCall {
  func selfWorker() throws(ScriptMistake) -> Loop.Port {
    try selfItem(of: WorkerKind.self)
  }
}

/// `worker.port`: the owner's end.
func workerPort(_ call: HostCall) throws -> Int32 {
  _ = try call.selfWorker()
  call.stack.pushSlot(1, of: 1)
  return 1
}

/// `worker:await { timeout }`: what the script returned, or its error, raised.
func workerAwait(_ call: HostCall) throws -> Int32 {
  let control = try call.selfWorker()
  let timeout = call.isAbsent(2) ? nil : try call.timeoutOption(2)
  let runtime = call.runtime
  guard let worker = Worker.of(control) else {
    throw OperatingFailure("\(call.name): the worker has ended", "ECANCELED")
  }
  let coroutine = try call.requireWaiting()
  if worker.outcome != nil {
    if let failure = worker.takeFailure() {
      call.currentTask?.raised = failure
      throw RaisedValue(failure.value)
    }
    return LuaStatus.results(Int32(worker.pushOutcome(on: call.stack)))
  }
  return try call.wait(WorkerWait(worker, runtime), coroutine, timeout)
}

/// `__close`: asks it to end, and waits for that where it can be done; its errors are reported.
func workerClose(_ call: HostCall) throws -> Int32 {
  let control = try call.selfWorker()
  guard let worker = Worker.of(control), worker.outcome == nil else { return 0 }
  worker.stop()
  guard call.state.waitObstacle(call.stack.L) == nil,
    let coroutine = call.state.currentTask(call.stack.L)
  else {
    call.runtime.end(control)
    return 0
  }
  return try call.wait(
    WorkerWait(worker, call.runtime, isClosing: true), coroutine, nil, isQuiet: true)
}

/// `worker.status`
func workerStatus(_ call: HostCall) throws -> some LuaPushable {
  let control = try call.selfWorker()
  let worker = Worker.of(control)
  return worker?.status ?? "stopped"
}

func workerToString(_ call: HostCall) throws -> some LuaPushable {
  let control = try call.selfWorker()
  let worker = Worker.of(control)
  let name = control.name.isEmpty ? "worker" : "worker '\(control.name)'"
  return "\(worker?.link.label ?? name): \(worker?.status ?? "stopped")"
}
