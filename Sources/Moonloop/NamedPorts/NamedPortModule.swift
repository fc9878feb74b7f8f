// `ml.port.listen` and `ml.port.connect`: ports that other processes find by name (R59).

internal import LuaEmbed
internal import MoonloopCore

/// The functions of `ml.port`.
let namedPortEntries: [LuaEntry] = [
  .function("listen") { host($0, $1, "ml.port.listen", portListen) },
  .function("connect") { host($0, $1, "ml.port.connect", portConnect) },
]

private let namedOptions: [StaticString] = [
  "capacity", "modes", "keep_alive", "on_error", "handler",
]

/// `ml.port.listen(name [, { handler, capacity, modes, keep_alive, on_error }])`
func portListen(_ call: HostCall) throws -> Int32 {
  let (place, options) = try call.namedPort()
  let wanted = try call.wanted(options)
  if try call.isRemade(.listener, wanted, place, options) { return 1 }
  let port = call.makePort(place, wanted)
  let gate = call.loop.kernel.makeGate()
  let room = call.state.makeRoom(areNoted: !Intake.isPlain)
  var listener: PortListener?
  var link = PortLink(.listener) {}
  try call.open(port) { hub throws(OperatingFailure) in
    let (socket, hold) = try place.listen().split()
    let new = PortListener(hub, name: place.name, to: port, room) { gate.open() }
    listener = new
    hub.change { _ in new.begin(socket) }
    link = PortLink(.listener) {
      hold.release()  // at once, so that the name can be taken again
      hub.change { _ in new.finish() }
    }
  }
  call.runtime.farewells.note(
    PortFarewell(label: port.label, gate: gate) { [listener] in listener?.abandonSoon() })
  return try call.finish(port, wanted, options, PortShape(link: link))
}

/// `ml.port.connect(name [, { handler, capacity, modes, keep_alive, on_error }])`
func portConnect(_ call: HostCall) throws -> Int32 {
  let (place, options) = try call.namedPort()
  let wanted = try call.wanted(options)
  if try call.isRemade(.connection, wanted, place, options) { return 1 }
  let port = call.makePort(place, wanted)
  let gate = call.loop.kernel.makeGate()
  let owner = PortOwner(call.runtime, port)
  let room = call.state.makeRoom(areNoted: !Intake.isPlain)
  var connection: PortConnection?
  var link = PortLink(.connection) {}
  try call.open(port) { hub throws(OperatingFailure) in
    let number = try place.connect().release()
    let new = PortConnection(
      hub, label: port.label, peer: place.name, capacity: wanted.capacity, to: port, room: room,
      isListeners: false
    ) { reason in
      gate.open()
      owner.ended(reason)
    }
    connection = new
    hub.change { _ in new.begin(number) }
    link = PortLink(.connection) { hub.change { _ in new.finish() } }
  }
  call.runtime.farewells.note(
    PortFarewell(label: port.label, gate: gate) { [connection] in connection?.endSoon() })
  let shape = PortShape(link: link)
  // A replay has no connection; it asks the intake what happened to messages.
  let outgoing =
    connection?.outgoing
    ?? Loop.Port(name: place.name, capacity: wanted.capacity) { _, _ in }
  outgoing.noteForeign()
  shape.peer = PortRight(outgoing, home: 0, isForeign: true)
  shape.holdsByHandler = wanted.mayHold
  return try call.finish(port, wanted, options, shape)
}

/// The options of a named port.
private struct NamedPortOptions {
  var capacity: Int
  var modes: [ModeName]
  /// Whether its handler keeps a run going.
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
    try requireRoom()
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
    let modes = try modesOption(options, .loop) ?? [.default]
    if try options.pushHandler("[1]") { stack.pop() }  // reported before anything is opened
    return NamedPortOptions(
      capacity: capacity, modes: modes, mayHold: try options.boolean("keep_alive") ?? true)
  }

  /// Whether the file has made this end of the port before; then its handle is on top.
  fileprivate func isRemade(
    _ end: PortLink.End, _ wanted: NamedPortOptions, _ place: PortPlace, _ options: Options
  ) throws -> Bool {
    let hasHandler = try options.pushHandlerOrNil("[1]")
    let port = try remake(
      PortKind.self, place.name, handlers: 1, options, modes: wanted.modes
    ) { port in
      let shape = PortShape.of(port)
      return shape?.link?.end == end && shape?.endsWhenEmpty == false
        && (end == .listener || port.capacity == wanted.capacity)
    }
    guard let port else {
      stack.pop()
      return false
    }
    if port.capacity != wanted.capacity {
      throw mistake(
        "the port listens with a capacity of \(port.capacity), which a reload does not change",
        hint: "restart the program to change it")
    }
    runtime.setHandler(of: port, hasHandler)
    if let shape = PortShape.of(port), end == .connection {
      let mayHold = shape.holdsByHandler
      runtime.generations.load?.toUndo { shape.holdsByHandler = mayHold }
      shape.holdsByHandler = wanted.mayHold
      if !hasHandler { loop.setKeepsAlive(port, false) }
    }
    return true
  }

  fileprivate func makePort(_ place: PortPlace, _ wanted: NamedPortOptions) -> Loop.Port {
    let port = Loop.Port(
      name: place.name, capacity: wanted.capacity, parcels: kind(PortKind.self).parcel)
    port.arrive(at: loop)
    return port
  }

  /// Opens the socket of a port, and makes the hub serve it; the intake has no part in that, and a
  /// replay has the results.
  fileprivate func open(
    _ port: Loop.Port, _ body: (_ hub: Loop) throws(OperatingFailure) -> Void
  ) throws {
    let (name, kernel) = (name, loop.kernel)
    do throws(OperatingFailure) {
      try Intake.attempt { () throws(OperatingFailure) in
        guard kernel is LinuxKernel else {
          throw OperatingFailure("\(name): the loop is simulated, and has no sockets", "ENOTSUP")
        }
        let hub: Loop
        do throws(SystemError) { hub = try PortHub.loop() } catch {
          throw OperatingFailure("\(name): cannot start a thread: \(error)", error.name)
        }
        try body(hub)
      }
    } catch {
      port.invalidate()
      throw error
    }
  }

  /// Makes the handle of a port, and adds it to its modes.
  fileprivate func finish(
    _ port: Loop.Port, _ wanted: NamedPortOptions, _ options: Options, _ shape: PortShape
  ) throws -> Int32 {
    port.maker.state = shape
    let hasHandler = try options.pushHandlerOrNil("[1]")
    push(kind(PortKind.self), port, handlers: 1)
    shape.waitsForHandler = !hasHandler
    if !hasHandler { port.setSuspended(true) }  // messages wait for a handler
    if shape.holdsByHandler && !hasHandler { loop.setKeepsAlive(port, false) }
    return try finish(port, options, modes: wanted.modes)
  }
}

/// The state whose port uses a connection, as the hub sees it. Any thread; the things it refers to
/// are used only on the loop's thread, hence unchecked.
private final class PortOwner: @unchecked Sendable {
  private weak var runtime: Runtime?
  private let loop: Loop
  private weak var port: Loop.Port?
  /// Where the end is recorded, if the loop is; keeps this alive until then.
  private var arrivals: Arrivals?

  init(_ runtime: Runtime, _ port: Loop.Port) {
    self.runtime = runtime
    loop = runtime.loop
    self.port = port
    arrivals = loop.makeArrivals { [self] _ in
      arrivals?.end()
      endPort()
    }
  }

  /// The connection is over: what has arrived is still delivered, then the port ends.
  func ended(_ reason: PortEnd) {
    if case .failed(let text, let code) = reason, let port {
      port.postAlways(
        PortNotice(text: "\(port.label): the connection was closed: \(text)", code: code))
    }
    if let arrivals {
      arrivals.post(reason)
    } else {
      loop.post(.change { [self] _ in endPort() })
    }
  }

  /// Loop thread only.
  private func endPort() {
    guard let runtime, !runtime.isClosing, let port, port.isValid,
      let shape = PortShape.of(port)
    else { return }
    if port.waiting == 0 { return runtime.end(port) }
    shape.endsWhenEmpty = true
    shape.holdsByHandler = false
    loop.setKeepsAlive(port, !shape.waitsForHandler || shape.receiver != nil)
  }
}
