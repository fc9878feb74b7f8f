// `ml.port.listen` and `ml.port.connect`: ports that other processes find by their names (R59).

internal import LuaEmbed
internal import MoonloopCore

private let namedOptions: [StaticString] = ["capacity", "modes", "keep_alive", "on_error"]

/// `ml.port.listen(name [, { handler, capacity, modes, keep_alive, on_error }])`
let portListen: LuaRawFunction = { L, context in
  host(L, context, "port.listen") { call in
    let (place, options) = try call.namedPort()
    let wanted = try call.wanted(options)
    let hub = try call.portHub()
    let (socket, hold) = try place.listen().split()
    let port = Loop.Port(
      name: place.name, capacity: wanted.capacity, handler: call.runtime.doors.message)
    let gate = call.loop.kernel.makeGate()
    let listener = PortListener(hub, name: place.name, to: port) { gate.open() }
    hub.change { _ in listener.begin(socket) }
    let link = PortLink {
      hold.release()  // At once: the name can be taken again.
      hub.change { _ in listener.finish() }
    }
    call.runtime.note(
      PortFarewell(label: port.label, gate: gate) { hub.change { _ in listener.abandon() } })
    return try call.finish(port, wanted, options, PortShape(link: link))
  }
}

/// `ml.port.connect(name [, { handler, capacity, modes, keep_alive, on_error }])`
let portConnect: LuaRawFunction = { L, context in
  host(L, context, "port.connect") { call in
    let (place, options) = try call.namedPort()
    let wanted = try call.wanted(options)
    let hub = try call.portHub()
    let socket = try place.connect()
    let port = Loop.Port(
      name: place.name, capacity: wanted.capacity, handler: call.runtime.doors.message)
    let gate = call.loop.kernel.makeGate()
    let owner = PortOwner(call.runtime, port)
    let connection = PortConnection(
      hub, label: port.label, peer: place.name, capacity: wanted.capacity, to: port,
      isListeners: false
    ) { reason in
      gate.open()
      owner.ended(reason)
    }
    let number = socket.release()
    hub.change { _ in connection.begin(number) }
    call.runtime.note(
      PortFarewell(label: port.label, gate: gate) {
        hub.change { _ in connection.end(.closed) }
      })
    let shape = PortShape(link: PortLink { hub.change { _ in connection.finish() } })
    shape.peer = PortRight(connection.outgoing, home: 0, isForeign: true)
    shape.holdsByHandler = wanted.mayHold
    return try call.finish(port, wanted, options, shape)
  }
}

/// What a script asks of a named port.
private struct NamedPortOptions {
  var capacity: Int
  var modes: [ModeName]
  /// Whether its handler holds a run.
  var mayHold: Bool
}

extension PortShape {
  fileprivate convenience init(link: PortLink) {
    self.init()
    self.link = link
  }
}

extension HostCall {
  fileprivate func namedPort() throws -> (PortPlace, Options) {
    try requireOpen()
    let name = try string(1, "the name")
    if let flaw = PortPlace.flaw(of: name) {
      throw mistake(
        "the name of a port \(flaw), got \(given(1))", hint: "such as \"org.example.app\"")
    }
    if isAbsent(2) {
      stack.setCount(1)
      stack.newTable()
    }
    let options = try options(
      2, namedOptions, example: "{ capacity = 64, function(port, message, reply) … end }")
    return (PortPlace(name), options)
  }

  fileprivate func wanted(_ options: Options) throws(ScriptMistake) -> NamedPortOptions {
    let capacity = try options.integer("capacity", in: 1...(1 << 24)) ?? 1 << 16
    let modes = try modesOption(options, isAdded: true) ?? [.default]
    if try options.pushHandler("[1]") { stack.pop() }  // Told before anything is opened.
    return NamedPortOptions(
      capacity: capacity, modes: modes, mayHold: try options.boolean("keep_alive") ?? true)
  }

  fileprivate func portHub() throws -> Loop {
    if Tape.refuses() {
      throw OperatingFailure(
        "\(name): what comes by a named port passes through another thread, and cannot be "
          + "recorded; run it without --record, or use a Unix socket (ml.net)", "ENOTSUP")
    }
    guard loop.kernel is LinuxKernel else {
      throw OperatingFailure("\(name): the loop is simulated, and has no sockets", "ENOTSUP")
    }
    do throws(SystemError) { return try PortHub.loop() } catch {
      throw OperatingFailure("\(name): cannot start a thread: \(error)", error.name)
    }
  }

  /// Makes the handle of a port, and adds it to its modes.
  fileprivate func finish(
    _ port: Loop.Port, _ wanted: NamedPortOptions, _ options: Options, _ shape: PortShape
  ) throws -> Int32 {
    port.maker.state = shape
    let hasHandler = try options.pushHandlerOrNil("[1]")
    _ = push(kinds.port, port)
    stack.rotate(-2, 1)
    stack.popSlot(1, of: -2)
    shape.waitsForHandler = !hasHandler
    if !hasHandler { port.setSuspended(true) }  // Messages wait for it.
    try applyCommonOptions(options, to: port)
    if shape.holdsByHandler && !hasHandler { loop.setKeepsAlive(port, false) }
    try addNew(port, to: wanted.modes)
    return 1
  }
}

/// The state whose port stands on a connection, as the hub knows it. Any thread; what it names is
/// touched on the thread of the loop alone, hence unchecked.
private final class PortOwner: @unchecked Sendable {
  private weak var runtime: Runtime?
  private let loop: Loop
  private weak var port: Loop.Port?

  init(_ runtime: Runtime, _ port: Loop.Port) {
    self.runtime = runtime
    loop = runtime.loop
    self.port = port
  }

  /// The connection is over: what has come is still delivered, then the port ends.
  func ended(_ reason: PortEnd) {
    if case .failed(let text, let code) = reason, let port {
      port.postAlways(
        PortNotice(text: "\(port.label): the connection was closed: \(text)", code: code))
    }
    loop.post(
      .change { [self] loop in
        guard let runtime, !runtime.state.isClosed, let port, port.isValid,
          let shape = port.maker.state as? PortShape
        else { return }
        if port.waiting == 0 { return runtime.end(port) }
        shape.endsWhenEmpty = true
        shape.holdsByHandler = false
        loop.setKeepsAlive(port, !shape.waitsForHandler || shape.receiver != nil)
      })
  }
}

extension Runtime {
  /// Something failed at the socket of a port.
  func hear(_ notice: PortNotice, _ port: Loop.Port) {
    report(LuaError(message: notice.text, code: notice.code), .item(port))
    let shape = port.maker.state as? PortShape
    if shape?.endsWhenEmpty ?? false, port.waiting == 0, port.isValid { end(port) }
  }
}
