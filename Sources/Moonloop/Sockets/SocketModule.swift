// Sockets by kind of callback in Lua: `loop:socket_source` (R151).

internal import LuaEmbed
internal import MoonloopCore

private let socketOptions: [StaticString] = [
  "fd", "read", "accept", "data", "connect", "write", "close", "name", "modes", "keep_alive",
  "on_error",
]

/// `loop:socket_source { fd, read | accept | data, connect, write, close, name, modes, … }`
let loopSocketSource: LuaRawFunction = { L, context in
  hostLoop(L, context, "loop:socket_source") { call in
    try call.requireRoom()
    let options = try call.options(
      2, socketOptions, example: "{ fd = 3, data = function(socket, bytes) … end }", unnamed: 0)
    guard let fd = try options.integer("fd", in: 0...Int(Int32.max)) else {
      throw call.mistake("needs 'fd', the number of an open socket")
    }
    let name = try options.name() ?? ""
    let closes = try options.boolean("close") ?? false
    let modes = try options.modes() ?? [.default]
    let reading = try call.pushReading(options)
    let writes = try options.pushHandlerOrNil("write")
    let connects = try options.pushHandlerOrNil("connect")
    if reading == nil && !writes && !connects {
      throw call.mistake("needs a handler: 'read', 'accept', 'data', 'connect' or 'write'")
    }
    let kept = try call.remake(
      SocketKind.self, name.isEmpty ? "#\(fd)" : name, handlers: 3, options, modes: modes
    ) {
      $0.fd == Int32(fd) && $0.closesDescriptor == closes
        && $0.state(as: SocketSource.self)?.reading == reading
    }
    if let kept {
      if !writes { kept.state(as: SocketSource.self)?.disableWriting() }
      return 1
    }
    let kind = call.kind(SocketKind.self)
    // Unowned: the runtime holds the kind, and ends all items before it goes.
    let socket = SocketSource(
      Int32(fd), on: call.loop, reading: reading, connects: connects, writes: writes,
      closesDescriptor: closes, name: name
    ) { [unowned kind] in kind.deliver($1, of: $0) }
    socket.source.onFailure = call.kind(DescriptorKind.self).failure
    do throws(SystemError) { try socket.source.inspect(call.loop.kernel) } catch {
      _ = socket.source.releaseDescriptor()
      socket.source.invalidate()
      throw OperatingFailure(
        "loop:socket_source: descriptor \(fd) cannot be watched: \(error.message) (\(error.name))",
        error.name)
    }
    socket.source.maker.state = socket
    call.push(kind, socket.source, handlers: 3)
    return try call.finish(socket.source, options, modes: modes)
  }
}

extension HostCall {
  /// Pushes the handler of the reading side, or nil. [-0, +1]
  fileprivate func pushReading(
    _ options: Options
  ) throws(ScriptMistake) -> SocketSource.Reading? {
    var found: SocketSource.Reading?
    let kinds: [(name: StaticString, value: SocketSource.Reading)] = [
      ("read", .read), ("accept", .accept), ("data", .data),
    ]
    for (name, value) in kinds where try options.pushHandler(name) {
      if found != nil { throw mistake("takes one of 'read', 'accept' and 'data'") }
      found = value
    }
    if found == nil { stack.pushNil() }
    return found
  }

  func selfSocket() throws(ScriptMistake) -> SocketSource {
    let source = try selfItem(of: SocketKind.self)
    guard source.isValid, let socket = source.state(as: SocketSource.self) else {
      throw invalid(try selfItem())
    }
    return socket
  }
}

/// `socket:enable_writing()`: its 'write' handler is called once more.
let socketEnableWriting: LuaRawFunction = { L, context in
  hostAction(L, context, "socket_source:enable_writing") { call in
    let socket = try call.selfSocket()
    call.stack.pushSlot(2, of: 1)
    if call.stack.type(-1) != .function { throw call.mistake("there is no 'write' handler") }
    socket.enableWriting()
  }
}

/// What a handle offers.
let socketSourceEntries: [LuaEntry] =
  [
    .method("enable_writing", socketEnableWriting),
    .method("set_reading") {
      hostAction($0, $1, "socket_source:set_reading") {
        try $0.selfSocket().setReading(try $0.boolean(2))
      }
    },
    .field("fd") {
      hostValue($0, $1, "socket_source.fd") { Int(try $0.selfItem(of: SocketKind.self).fd) }
    },
  ] + itemEntries
