// UDP: datagrams, whole or not at all.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// What a datagram socket has besides its descriptor. Loop thread only.
final class ScriptDatagrams {
  unowned(unsafe) let runtime: Runtime  // as in `ScriptServer`
  unowned(unsafe) let source: Loop.DescriptorSource  // holds this
  var hasHandler = false
  var isConnected = false
  /// As for a server.
  var identity = ""
  /// The keys of its addresses.
  var requested: [[UInt8]] = []
  var waiting: DatagramWait?

  init(_ runtime: Runtime, _ source: Loop.DescriptorSource) {
    self.runtime = runtime
    self.source = source
  }

  /// The socket of a source of that kind; nil once it has ended.
  static func of(_ source: Loop.DescriptorSource) -> ScriptDatagrams? {
    source.state(as: ScriptDatagrams.self)
  }

  func settle() {
    guard source.isValid else { return }
    if hasHandler || waiting?.isActive ?? false {
      source.enable(.read)
      runtime.loop.setKeepsAlive(source, true)
    } else {
      source.disable(.read)
      runtime.loop.setKeepsAlive(source, false)
    }
  }

  /// Receives one datagram, and pushes it and its sender, or why not. [-0, +n]
  /// - Returns: nil if there is none now.
  func receive(on stack: LuaStack) -> Int? {
    let scratch = runtime.loop.scratch
    do throws(SystemError) {
      let (count, from) = try Sockets.receive(source.fd, into: scratch)
      stack.push(bytes: UnsafeRawBufferPointer(rebasing: scratch[0..<min(count, scratch.count)]))
      stack.push(address: from)
      return 2
    } catch {
      if error.name == "EAGAIN" { return nil }
      return stack.pushFailure("\(runtime.label(of: .item(source))): \(error)", error.name)
    }
  }

  func ended() {
    waiting?.socketEnded()
    waiting = nil
  }
}

/// A task that waits for a datagram.
final class DatagramWait: ArrivalWait {
  private let socket: ScriptDatagrams

  init(_ socket: ScriptDatagrams, _ label: String) {
    self.socket = socket
    super.init(socket.runtime, socket.source, label)
  }

  override var what: String { "a datagram for \(label)" }
  override func enterItem() { socket.waiting = self }
  override func leaveItem() { if socket.waiting === self { socket.waiting = nil } }
  override func settleItem() { socket.settle() }

  func socketEnded() {
    if close(), let waiter { runtime.tasks.makeReady(waiter, .answer) }
  }

  override func pushArrival(on stack: LuaStack) -> Int {
    defer { socket.settle() }
    return socket.receive(on: stack) ?? stack.pushFailure("\(label): it was lost", "EAGAIN")
  }
}

private let udpOptions: [StaticString] = [
  "host", "port", "connect", "broadcast", "reuse_port", "name", "modes", "keep_alive", "on_error",
  "handler",
]

/// `ml.net.udp { host, port, broadcast, reuse_port, connect, handler }`
func netUDP(_ call: HostCall) throws -> Int32 {
  try call.requireRoom()
  let options = try call.options(
    1, udpOptions, example: "{ port = 5353, function(socket, data, peer) … end }")
  let host = try options.systemText("host") ?? "0.0.0.0"
  let port = try options.integer("port", in: 0...65535) ?? 0
  guard let local = datagramAddress(host, port) else {
    throw call.mistake(
      "'host' must be an address or \"localhost\", got \"\(host)\"",
      hint: "ask ml.net.resolve for one")
  }
  if port > 0 || options.has("host") { try call.requireGrant(for: local) }
  let modes = try options.modes()
  let reusesPort = try options.boolean("reuse_port") ?? false
  let broadcasts = try options.boolean("broadcast") ?? false
  let remote = try call.remote(options)
  if let remote { try call.requireGrant(for: remote) }
  let name = try options.name()
  let hasHandler = try options.pushHandlerOrNil("[1]")
  let identity = name ?? (port > 0 ? local.text : "")
  let requested = [local.key] + [remote].compactMap { $0?.key }
  let kept = try call.remake(
    DatagramsKind.self, identity, handlers: 1, options, modes: modes ?? [.default]
  ) { ScriptDatagrams.of($0)?.requested == requested }
  if let kept, let socket = ScriptDatagrams.of(kept) {
    let hadHandler = socket.hasHandler
    call.runtime.generations.load?.toUndo {
      socket.hasHandler = hadHandler
      socket.settle()
    }
    socket.hasHandler = hasHandler
    socket.settle()
    return 1
  }
  let fd: Int32
  do throws(SystemError) {
    let socket = try Sockets.make(local.family, isDatagram: true)
    if reusesPort { try Sockets.set(socket.number, .reusePort) }
    if broadcasts { try Sockets.set(socket.number, .broadcast) }
    try Sockets.bind(socket.number, local)
    if let remote { _ = try Sockets.connect(socket.number, remote) }
    fd = socket.release()
  } catch { throw OperatingFailure("udp on \(local.text): \(error)", error.name) }
  let kind = call.kind(DatagramsKind.self)
  let source = Loop.DescriptorSource(
    fd, closesDescriptor: true, events: [], reenabled: .read,
    name: name ?? Sockets.name(of: fd)?.text ?? "", handler: kind.event)
  source.isNonBlocking = true
  source.onFailure = call.kind(DescriptorKind.self).failure
  let socket = ScriptDatagrams(call.runtime, source)
  socket.hasHandler = hasHandler
  socket.isConnected = remote != nil
  socket.identity = identity
  socket.requested = requested
  source.maker.state = socket
  call.push(kind, source, handlers: 1)
  let results = try call.finish(source, options, modes: modes ?? call.runtime.currentModes)
  socket.settle()
  return results
}

private func datagramAddress(_ host: String, _ port: Int) -> SocketAddress? {
  SocketAddress(numeric: host == "localhost" ? "127.0.0.1" : host, port: port)
}

extension HostCall {
  /// The option 'connect', a table with host and port.
  fileprivate func remote(_ options: Options) throws(ScriptMistake) -> SocketAddress? {
    let type = options.push("connect")
    defer { stack.pop() }
    if type == .nil { return nil }
    let inner = try self.options(
      stack.absolute(-1), ["host", "port"], example: "{ host = \"127.0.0.1\", port = 53 }")
    guard let host = try inner.string("host"), let port = try inner.integer("port", in: 1...65535),
      let address = datagramAddress(host, port)
    else { throw mistake("'connect' needs 'host', an address, and 'port'") }
    return address
  }

  func selfDatagrams() throws(ScriptMistake) -> ScriptDatagrams {
    let source = try selfItem(of: DatagramsKind.self)
    guard let socket = ScriptDatagrams.of(source) else { throw invalid(itemHandle(1)!) }
    return socket
  }
}

/// `socket:send(data [, host, port])`: true; never waits.
func datagramSend(_ call: HostCall) throws -> Int32 {
  let socket = try call.selfDatagrams()
  guard call.stack.type(2) == .string else {
    throw call.mistake("the data must be a string, got \(call.given(2))")
  }
  var to: SocketAddress?
  if call.count >= 3 {
    let host = try call.systemText(3, "the host")
    guard call.stack.type(4) == .number, let port = call.stack.integer(4),
      (1...65535).contains(port)
    else { throw call.mistake("the port must be from 1 to 65535, got \(call.given(4))") }
    to = datagramAddress(host, port)
    if to == nil {
      throw call.mistake(
        "the host must be an address, got \"\(host)\"", hint: "ask ml.net.resolve for one")
    }
    if let to { try call.requireGrant(for: to) }
  } else if !socket.isConnected {
    throw call.mistake("needs host and port: the socket is not connected")
  }
  var failure: SystemError?
  _ = call.stack.withBytes(2) { bytes in
    do throws(SystemError) { try Sockets.send(socket.source.fd, bytes, to: to) } catch {
      failure = error
    }
  }
  if let failure {
    let label = call.runtime.label(of: .item(socket.source))
    return Int32(call.stack.pushFailure("\(label): \(failure)", failure.name))
  }
  call.stack.push(true)
  return 1
}

/// `socket:receive([{ timeout }])`: a datagram and its sender.
func datagramReceive(_ call: HostCall) throws -> Int32 {
  let socket = try call.selfDatagrams()
  var timeout: Int64?
  _ = try call.deadline(&timeout)
  let label = call.runtime.label(of: .item(socket.source))
  if socket.hasHandler { throw call.mistake("\(label) has a handler, which gets the datagrams") }
  if socket.waiting?.isActive ?? false {
    throw call.mistake("\(label): another task waits to receive already")
  }
  if let count = socket.receive(on: call.stack) { return Int32(count) }
  let coroutine = try call.requireWaiting()
  return try call.wait(DatagramWait(socket, label), coroutine, timeout)
}
