// Tasks that wait for descriptors of foreign code, such as the sockets of another library.

internal import Glibc
internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// The tasks that wait for descriptors, found when one is closed. Loop thread only.
final class DescriptorGate {
  fileprivate var waits: [DescriptorWait] = []

  /// Ends all waits: the tasks go on, and get "ECANCELED".
  func endWaits() {
    for wait in waits { wait.cancel() }
  }
}

/// One wait for any of several descriptors, which their owner keeps.
///
/// It holds no clock: a peer may take any time to send. Only the outcome of a connection attempt
/// comes from outside, as in `ConnectWait`.
final class DescriptorWait: NetWait {
  private var gates: [DescriptorGate] = []
  private var wasCancelled = false

  /// Also waits for an event of a descriptor.
  func watch(
    _ fd: Int32, _ events: Loop.DescriptorSource.Events, _ gate: DescriptorGate?
  ) throws(LoopError) {
    if let gate {
      gate.waits.append(self)
      gates.append(gate)
    }
    do throws(LoopError) { try add(fd, events, closes: false) } catch {
      // The kernel watches a descriptor once; another task may wait for its other direction.
      guard case .descriptorInUse = error else { throw error }
      let twin = fcntl(fd, F_DUPFD_CLOEXEC, 3)
      if twin < 0 { throw .system(SystemError(call: "fcntl", code: errno), "descriptor \(fd)") }
      try add(twin, events, closes: true)
    }
  }

  private func add(
    _ fd: Int32, _ events: Loop.DescriptorSource.Events, closes: Bool
  ) throws(LoopError) {
    let source = Loop.DescriptorSource(
      fd, closesDescriptor: closes, events: events, name: what
    ) { [weak self] _, _ in self?.finish() }
    do { try add(source) } catch {
      source.invalidate()
      throw error
    }
  }

  fileprivate func cancel() {
    wasCancelled = true
    finish()
  }

  override func ended() {
    for gate in gates { gate.waits.removeAll { $0 === self } }
    gates = []
  }

  override func push(on stack: LuaStack) -> Int {
    if wasCancelled { return stack.pushFailure("closed", "ECANCELED") }
    stack.push(true)
    return 1
  }
}

// MARK: - Lua

let posixWaitEntries: [LuaEntry] = [
  .function("gate") { host($0, $1, "gate", posixGate) },
  // `open(gate)`: ends the waits for a socket that is about to be closed.
  .function("open") { hostAction($0, $1, "open") { $0.gate(1)?.endWaits() } },
  .function("wait") { host($0, $1, "wait", posixWait) },
  .function("obstacle") { hostValue($0, $1, "obstacle", posixObstacle) },
  .function("blocks") { hostValue($0, $1, "blocks", posixBlocks) },
  .function("ready") { host($0, $1, "ready", posixReady) },
]

/// `gate()`: a value that stands for a socket in `wait`, and in `open`.
private func posixGate(_ call: HostCall) throws -> Int32 {
  call.runtime.kinds.gate.push(call.stack.L).hold(DescriptorGate())
  return 1
}

extension HostCall {
  fileprivate func gate(_ index: Int32) -> DescriptorGate? {
    kinds.gate.handle(stack.L, index)?.object(as: DescriptorGate.self)
  }

  /// The descriptors in the list at an index: for each, its number, the events, and the gate or
  /// false.
  fileprivate func asked(_ index: Int32) throws -> [AskedDescriptor] {
    guard stack.type(index) == .table else {
      throw mistake("the descriptors must be a list, got \(given(index))")
    }
    var found: [AskedDescriptor] = []
    while stack.rawGet(index, item: Int64(3 * found.count) + 1) != .nil {
      defer { stack.pop(3) }
      _ = stack.rawGet(index, item: Int64(3 * found.count) + 2)
      _ = stack.rawGet(index, item: Int64(3 * found.count) + 3)
      let top = Int32(stack.count)
      guard let events = stack.string(top - 1).flatMap({ AskedDescriptor.events[$0] }) else {
        throw mistake("the events must be \"r\", \"w\", \"rw\" or \"c\"")
      }
      found.append(
        AskedDescriptor(
          fd: try posixNumber(top - 2), events: events, isConnection: stack.string(top - 1) == "c",
          gate: gate(top)))
    }
    stack.pop()
    return found
  }
}

private struct AskedDescriptor {
  let fd: Int32
  let events: Loop.DescriptorSource.Events
  let isConnection: Bool
  let gate: DescriptorGate?

  static let events: [String: Loop.DescriptorSource.Events] = [
    "r": .read, "w": .write, "rw": [.read, .write], "c": .write,
  ]
}

/// `wait(timeout or nil, what, { fd, events, gate or false, ... })`: the task waits until a
/// descriptor is ready to be read ("r"), written ("w") or either ("rw"), or a connection attempt is
/// over ("c").
private func posixWait(_ call: HostCall) throws -> Int32 {
  try call.requireOpen()
  let timeout = call.stack.type(1) == .nil ? nil : try call.seconds(1, "timeout", .notNegative)
  let what = try call.string(2, "what is waited for")
  let asked = try call.asked(3)
  let coroutine = try call.requireWaiting()
  let wait = DescriptorWait(call.runtime, what)
  if !asked.contains(where: \.isConnection) { wait.letClockGo() }
  do {
    for one in asked { try wait.watch(one.fd, one.events, one.gate) }
  } catch {
    wait.end()
    throw error
  }
  return try call.wait(wait, coroutine, timeout)
}

/// `ready { fd, events, gate or false, ... }`: for each descriptor, whether it is ready now.
private func posixReady(_ call: HostCall) throws -> Int32 {
  let asked = try call.asked(1)
  let questions = asked.map { one in
    let read = one.events.contains(.read) ? POLLIN : 0
    let write = one.events.contains(.write) ? POLLOUT : 0
    return (fd: one.fd, events: Int16(read | write))
  }
  var found: [Int16] = []
  try call.check("poll", again { lookAt(questions, found: &found) })
  call.stack.push(list: found) { call.stack.push($0 != 0) }
  return 1
}

/// `obstacle()`: why `wait` could not wait here, such as "inside a finalizer (__gc)"; nil: it can.
private func posixObstacle(_ call: HostCall) throws -> some LuaPushable {
  call.runtime.generations.isInLoad
    ? "while a file is reloaded" : call.state.waitObstacle(call.stack.L)
}

/// `blocks(name, site)`: the function of this name is about to block the loop, called at a place
/// such as " (a.lua:3)". Returns whether that was reported.
private func posixBlocks(_ call: HostCall) throws -> some LuaPushable {
  let name = try call.string(1, "the name")
  let site = try call.string(2, "the place")
  return call.state.reportsBlocking(name, site)
}
