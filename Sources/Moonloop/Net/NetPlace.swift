// The place of a socket, as scripts write it: host and port, or a path.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// A place in the network.
enum NetPlace {
  case address(SocketAddress)
  /// A host that must be looked up.
  case name(String, port: Int)

  /// As one word.
  var text: String {
    switch self {
    case .address(let address): address.text
    case .name(let host, let port): "\(host):\(port)"
    }
  }

  /// Reads 'host' and 'port', or 'path'.
  init(_ options: Options, _ call: HostCall, isServer: Bool) throws(ScriptMistake) {
    let host = try options.systemText("host")
    let port = try options.integer("port", in: (isServer ? 0 : 1)...65535)
    if let path = try options.bytes("path") {
      if host != nil || port != nil {
        throw call.mistake("'path' is for Unix sockets, 'host' and 'port' for others; give one")
      }
      guard let address = SocketAddress(path: path) else {
        if path.contains(0) { throw call.mistake("'path' must not contain a zero byte") }
        throw call.mistake(
          "'path' must have 1 to 107 bytes, got \(path.count)",
          hint: "an abstract name, behind \"@\", may have 108")
      }
      self = .address(address)
      return
    }
    guard let port else { throw call.mistake("needs 'host' and 'port', or 'path'") }
    guard let host else {
      if !isServer { throw call.mistake("needs 'host'") }
      self = .name("*", port: port)
      return
    }
    self = try Self.host(host, port, call)
  }

  private static func host(
    _ host: String, _ port: Int, _ call: HostCall
  ) throws(ScriptMistake) -> NetPlace {
    if let address = SocketAddress(numeric: host, port: port) { return .address(address) }
    if host.isEmpty || host.utf8.count > 253 {
      throw call.mistake("'host' must be a name or an address, got \(host.utf8.count) bytes")
    }
    return .name(host, port: port)
  }
}

extension LuaStack {
  /// Pushes a table with an address: host, port and family, or path. [-0, +1, raises: -]
  func push(address: SocketAddress?) {
    newTable(fields: 4)
    guard let address else { return }
    switch address.family {
    case .unix: setField("path", bytes: address.hostBytes)
    case .inet, .inet6:
      setField("host", address.host)
      setField("port", address.port ?? 0)
    }
    setField("family", address.family.name)
  }

  /// The same for a socket's peer, with its process and user if the system knows them. [-0, +1,
  /// raises: -]
  func push(peerOf fd: Int32) {
    let address = Sockets.peer(of: fd)
    push(address: address)
    guard let address, address.family == .unix, let who = Sockets.credentials(of: fd) else {
      return
    }
    setField("pid", who.pid)
    setField("uid", who.uid)
    setField("gid", who.gid)
  }
}

extension SocketAddress.Family {
  fileprivate var name: String {
    switch self {
    case .inet: "inet"
    case .inet6: "inet6"
    case .unix: "unix"
    }
  }
}
