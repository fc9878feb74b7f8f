// Listeners in Lua: `ml.net.listen`, and what a server's handle offers (D25).

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

private let listenOptions: [StaticString] = [
  "host", "port", "path", "fd", "backlog", "reuse_port", "v6_only", "permissions",
  "max_connections", "nodelay", "keepalive", "timeout", "line_limit", "buffer_limit", "write_limit",
  "name", "modes",
  "keep_alive", "on_error", "handler", "tls",
]

/// Options of the listening socket itself.
private struct ListenRequest {
  var backlog = 1024
  var reusesPort = false
  var isV6Only = false
  var permissions: Int?

  init(_ options: Options) throws(ScriptMistake) {
    backlog = try options.integer("backlog", in: 0...65535) ?? 1024
    reusesPort = try options.boolean("reuse_port") ?? false
    isV6Only = try options.boolean("v6_only") ?? false
    permissions = try options.integer("permissions", in: 0...0o777)
  }
}

/// `ml.net.listen { host, port | path, backlog, …, handler }`
func netListen(_ call: HostCall) throws -> Int32 {
  try call.requireRoom()
  let options = try call.options(
    1, listenOptions, example: "{ port = 8080, function(stream, peer) … end }")
  let passed = try passedName(options, call)
  let places = try requestedPlaces(options, isPassed: passed != nil, call)
  let texts = passed.map { ["a socket passed by systemd " + $0] } ?? places.map(\.text)
  let requested = passed == nil ? places.map(\.key) : texts.map { Array($0.utf8) }
  let request = try ListenRequest(options)
  let modes = try options.modes()
  let limits = try StreamLimits(options)
  let noDelay = try options.boolean("nodelay") ?? true
  let keepAlive = try options.integer("keepalive", in: 1...32767)
  let most = try options.integer("max_connections", in: 1...Int.max)
  let name = try options.name()
  let hasHandler = try options.pushHandlerOrNil("[1]")
  let identity = name ?? texts.joined(separator: ",")
  let tls = try call.listenerTLS(options)
  let kept = try call.remake(
    ServerKind.self, identity, handlers: 1, options, modes: modes ?? [.default]
  ) { ScriptServer.of($0)?.requested == requested }
  if let kept, let server = ScriptServer.of(kept) {
    let wasOld = server.settings
    call.runtime.generations.load?.toUndo { server.change(to: wasOld) }
    server.change(
      to: ServerSettings(
        limits: limits, noDelay: noDelay, keepAlive: keepAlive, mostConnections: most ?? .max,
        hasHandler: hasHandler, tls: tls))
    return 1
  }
  let (socket, address) =
    if let passed { try takePassed(passed) } else { try listen(places, request) }
  let kind = call.kind(ServerKind.self)
  let source = Loop.DescriptorSource(
    socket, closesDescriptor: true, events: hasHandler ? .read : [], reenabled: .read,
    name: name ?? address.text, handler: kind.event)
  source.isNonBlocking = true
  source.onFailure = call.kind(DescriptorKind.self).failure
  let server = ScriptServer(call.runtime, source, address)
  server.settings = ServerSettings(
    limits: limits, noDelay: noDelay, keepAlive: keepAlive, mostConnections: most ?? .max,
    hasHandler: hasHandler, tls: tls)
  server.identity = identity
  server.requested = requested
  if passed == nil, address.family == .unix, !address.host.hasPrefix("@") {
    server.fileIdentity = Sockets.fileIdentity(address)
  }
  source.maker.state = server
  call.push(kind, source, handlers: 1)
  return try call.finish(source, options, modes: modes ?? call.runtime.currentModes)
}

/// The addresses to try; none for a passed socket.
private func requestedPlaces(
  _ options: Options, isPassed: Bool, _ call: HostCall
) throws(ScriptMistake) -> [SocketAddress] {
  let place = isPassed ? .name("*", port: 0) : try NetPlace(options, call, isServer: true)
  try call.requireGrant(for: place)
  return isPassed ? [] : try places(place, call)
}

/// The addresses to try: without a host the whole machine, by IPv6 if available.
private func places(_ place: NetPlace, _ call: HostCall) throws(ScriptMistake) -> [SocketAddress] {
  switch place {
  case .address(let address): return [address]
  case .name("*", let port):
    return ["::", "0.0.0.0"].compactMap { SocketAddress(numeric: $0, port: port) }
  case .name("localhost", let port):
    return ["127.0.0.1"].compactMap { SocketAddress(numeric: $0, port: port) }
  case .name(let host, _):
    throw call.mistake(
      "'host' must be an address, \"localhost\" or \"*\", got \"\(host)\"",
      hint: "a listener never looks up names; ask ml.net.resolve")
  }
}

private func listen(
  _ places: [SocketAddress], _ request: ListenRequest
) throws(OperatingFailure) -> (Int32, SocketAddress) {
  var last: (error: SystemError, place: SocketAddress)?
  for place in places {
    do throws(SystemError) {
      let socket = try bind(place, request)
      try Sockets.listen(socket.number, backlog: request.backlog)
      let address = Sockets.name(of: socket.number) ?? place
      return (socket.release(), address)
    } catch {
      last = (error, place)
      // Without IPv6 there is the other address to try.
      if error.name != "EAFNOSUPPORT" && error.name != "EADDRNOTAVAIL" { break }
    }
  }
  let text = last.map { "\($0.place.text): \($0.error)" } ?? "no address"
  throw OperatingFailure("listen on \(text)", last?.error.name ?? "EADDRNOTAVAIL")
}

private func bind(
  _ place: SocketAddress, _ request: ListenRequest
) throws(SystemError) -> Descriptor {
  let socket = try Sockets.make(place.family)
  if place.family == .unix {
    if let mode = request.permissions { Sockets.setPermissions(socket.number, mode) }
  } else {
    try Sockets.set(socket.number, .reuseAddress)
    if request.reusesPort { try Sockets.set(socket.number, .reusePort) }
    if place.family == .inet6 {
      try Sockets.set(socket.number, .v6Only, request.isV6Only ? 1 : 0)
    }
  }
  do throws(SystemError) { try Sockets.bind(socket.number, place) } catch {
    guard error.name == "EADDRINUSE", place.family == .unix, isStale(place) else { throw error }
    Sockets.removeFile(place)
    try Sockets.bind(socket.number, place)
  }
  return socket
}

/// Whether a socket file was left behind by a process that has ended.
private func isStale(_ place: SocketAddress) -> Bool {
  guard Sockets.fileIdentity(place) != nil, let probe = try? Sockets.make(.unix) else {
    return false
  }
  do throws(SystemError) { _ = try Sockets.connect(probe.number, place) } catch {
    return error.name == "ECONNREFUSED"
  }
  return false
}

// MARK: Methods

extension HostCall {
  func selfServer() throws(ScriptMistake) -> ScriptServer {
    let source = try selfItem(of: ServerKind.self)
    guard let server = ScriptServer.of(source) else { throw invalid(itemHandle(1)!) }
    return server
  }
}

/// `server:accept([{ timeout }])`: the next connection, and its peer; for servers without a
/// handler.
func serverAccept(_ call: HostCall) throws -> Int32 {
  let server = try call.selfServer()
  var timeout: Int64?
  _ = try call.deadline(&timeout)
  let label = call.runtime.label(of: .item(server.source))
  if server.hasHandler {
    throw call.mistake("\(label) has a handler, which gets the connections")
  }
  if server.accepting?.isActive ?? false {
    throw call.mistake("\(label): another task waits to accept already")
  }
  if let connection = server.acceptNow() {
    guard server.makeStream(connection, on: call.stack) != nil else {
      return Int32(call.stack.pushFailure("\(label): the connection was lost", "ECONNABORTED"))
    }
    call.stack.push(peerOf: connection.fd)
    return 2
  }
  let coroutine = try call.requireWaiting()
  return try call.wait(AcceptWait(server, label), coroutine, timeout)
}

func serverAddress(_ call: HostCall) throws -> Int32 {
  call.stack.push(address: try call.selfServer().address)
  return 1
}

/// How many handshakes with clients have failed, and why the last one did.
func serverFailures(_ call: HostCall) throws -> some LuaPushable {
  let server = try call.selfServer()
  return server.settings.tls == nil ? 0 : server.handshakes.failures
}

func serverFailure(_ call: HostCall) throws -> some LuaPushable {
  let server = try call.selfServer()
  return server.settings.tls == nil ? nil : server.handshakes.lastFailure
}
