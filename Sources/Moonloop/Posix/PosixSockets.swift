// The socket calls of `moonloop.posix`. An address is a numeric host and a port, or one path.

internal import Glibc
internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

let posixSocketEntries: [LuaEntry] = [
  .function("address") { host($0, $1, "address", posixAddress) },
  .function("socket") { hostValue($0, $1, "socket", posixSocket) },
  .function("bind") {
    hostDone($0, $1, "bind") { try Sockets.bind(try $0.posixNumber(), try $0.address(2)) }
  },
  .function("listen") { hostDone($0, $1, "listen", posixListen) },
  .function("accept") {
    hostValue($0, $1, "accept") { Int(try Sockets.accept(try $0.posixNumber())) }
  },
  // `connect(fd, host, port)` or `connect(fd, path)`: true when connected; false if under way: the
  // socket becomes writable when the outcome is known.
  .function("connect") {
    hostValue($0, $1, "connect") { try Sockets.connect(try $0.posixNumber(), try $0.address(2)) }
  },
  .function("disconnect") { hostDone($0, $1, "disconnect", posixDisconnect) },
  .function("failure") { hostDone($0, $1, "failure", posixFailure) },
  .function("name") { host($0, $1, "name", posixName) },
  .function("peer") { host($0, $1, "peer", posixPeer) },
  .function("get") { hostValue($0, $1, "get", posixGet) },
  .function("set") { hostDone($0, $1, "set", posixSet) },
  .function("reset_on_close") {
    hostDone($0, $1, "reset_on_close") { Sockets.resetOnClose(try $0.posixNumber()) }
  },
  // `shutdown(fd)`: ends writing.
  .function("shutdown") {
    hostDone($0, $1, "shutdown") { try Sockets.shut(try $0.posixNumber(), bothWays: false) }
  },
  .function("send") { hostDone($0, $1, "send", posixSend) },
  .function("receive") { host($0, $1, "receive", posixReceive) },
  .function("send_fd") { hostValue($0, $1, "send_fd", posixSendDescriptor) },
  .function("receive_fd") { host($0, $1, "receive_fd", posixReceiveDescriptor) },
  .function("membership") { hostDone($0, $1, "membership", posixMembership) },
  .function("multicast_interface") {
    hostDone($0, $1, "multicast_interface", posixMulticastInterface)
  },
]

extension HostCall {
  /// The address that begins at an index: a path alone, or a host and a port.
  fileprivate func address(_ index: Int32) throws(ScriptMistake) -> SocketAddress {
    if count <= index || stack.type(index + 1) == .nil {
      let path = try bytes(index, "the path")
      if let address = SocketAddress(path: path) { return address }
      throw mistake("the path must have 1 to 107 bytes, got \(path.count)")
    }
    let host = try string(index, "the host")
    let port = try stack.integer(index + 1, "the port", in: 0...65535)
    if let address = SocketAddress(numeric: host, port: port) { return address }
    throw mistake("the host must be an address in figures, got \"\(host)\"")
  }

  /// Pushes family, host and port of an address; the family and the path of a Unix socket.
  fileprivate func push(_ address: SocketAddress) -> Int32 {
    pushFamily(of: address)
    address.hostBytes.withUnsafeBytes { stack.push(bytes: $0) }
    guard let port = address.port else { return 2 }
    stack.push(port)
    return 3
  }

  fileprivate func pushFamily(of address: SocketAddress) {
    switch address.family {
    case .inet: stack.push("inet" as StaticString)
    case .inet6: stack.push("inet6" as StaticString)
    case .unix: stack.push("unix" as StaticString)
    }
  }
}

/// `address(host)`: the family of a numeric address; nil if it is none.
private func posixAddress(_ call: HostCall) throws -> Int32 {
  guard let address = SocketAddress(numeric: try call.systemText(1, "the host"), port: 0) else {
    call.stack.pushNil()
    return 1
  }
  call.pushFamily(of: address)
  return 1
}

/// `socket(family, isDatagram)`: a nonblocking descriptor.
private func posixSocket(_ call: HostCall) throws -> some LuaPushable {
  let family: SocketAddress.Family
  switch call.stack.string(1) {
  case "inet": family = .inet
  case "inet6": family = .inet6
  case "unix": family = .unix
  default: throw call.mistake("the family must be \"inet\", \"inet6\" or \"unix\"")
  }
  let socket = try Sockets.make(family, isDatagram: call.stack.boolean(2))
  return Int(socket.release())
}

private func posixListen(_ call: HostCall) throws {
  let backlog = try call.stack.integer(2, "the backlog", in: .min ... .max)
  try Sockets.listen(try call.posixNumber(), backlog: backlog)
}

/// `disconnect(fd)`: removes the peer of a datagram socket.
private func posixDisconnect(_ call: HostCall) throws {
  var nobody = sockaddr()
  nobody.sa_family = sa_family_t(AF_UNSPEC)
  let size = socklen_t(MemoryLayout<sockaddr>.size)
  try call.check("connect", Glibc.connect(try call.posixNumber(), &nobody, size))
}

/// `failure(fd)`: nothing, or `nil, message, code` of a background failure, once.
private func posixFailure(_ call: HostCall) throws {
  if let failure = Sockets.failure(of: try call.posixNumber()) { throw failure }
}

private func posixName(_ call: HostCall) throws -> Int32 {
  guard let address = Sockets.name(of: try call.posixNumber()) else {
    throw SystemError(call: "getsockname", code: EBADF)
  }
  return call.push(address)
}

private func posixPeer(_ call: HostCall) throws -> Int32 {
  guard let address = Sockets.peer(of: try call.posixNumber()) else {
    throw SystemError(call: "getpeername", code: ENOTCONN)
  }
  return call.push(address)
}

private struct NamedOption {
  let level: Int32
  let name: Int32
}

/// Socket options that are numbers.
private let socketOptions: [String: NamedOption] = [
  "reuse_address": NamedOption(level: SOL_SOCKET, name: SO_REUSEADDR),
  "reuse_port": NamedOption(level: SOL_SOCKET, name: SO_REUSEPORT),
  "keep_alive": NamedOption(level: SOL_SOCKET, name: SO_KEEPALIVE),
  "broadcast": NamedOption(level: SOL_SOCKET, name: SO_BROADCAST),
  "receive_buffer": NamedOption(level: SOL_SOCKET, name: SO_RCVBUF),
  "send_buffer": NamedOption(level: SOL_SOCKET, name: SO_SNDBUF),
  "no_delay": NamedOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY),
  "keep_idle": NamedOption(level: Int32(IPPROTO_TCP), name: TCP_KEEPIDLE),
  "v6_only": NamedOption(level: Int32(IPPROTO_IPV6), name: IPV6_V6ONLY),
  "ttl": NamedOption(level: Int32(IPPROTO_IP), name: IP_TTL),
  "multicast_ttl": NamedOption(level: Int32(IPPROTO_IP), name: IP_MULTICAST_TTL),
  "multicast_loop": NamedOption(level: Int32(IPPROTO_IP), name: IP_MULTICAST_LOOP),
  "hops6": NamedOption(level: Int32(IPPROTO_IPV6), name: IPV6_UNICAST_HOPS),
  "multicast_hops6": NamedOption(level: Int32(IPPROTO_IPV6), name: IPV6_MULTICAST_HOPS),
  "multicast_loop6": NamedOption(level: Int32(IPPROTO_IPV6), name: IPV6_MULTICAST_LOOP),
]

extension HostCall {
  fileprivate func option() throws(ScriptMistake) -> NamedOption {
    let name = try string(2, "the option")
    if let option = socketOptions[name] { return option }
    throw ScriptMistake.unknown("option", name, among: socketOptions.keys.sorted())
  }
}

/// `get(fd, option)`
private func posixGet(_ call: HostCall) throws -> some LuaPushable {
  let fd = try call.posixNumber()
  let option = try call.option()
  var value: Int32 = 0
  var size = socklen_t(MemoryLayout<Int32>.size)
  try call.check("getsockopt", getsockopt(fd, option.level, option.name, &value, &size))
  return Int(value)
}

/// `set(fd, option, number)`
private func posixSet(_ call: HostCall) throws {
  let fd = try call.posixNumber()
  let option = try call.option()
  let range = Int(Int32.min)...Int(Int32.max)
  var value = Int32(try call.stack.integer(3, "the value", in: range))
  let size = socklen_t(MemoryLayout<Int32>.size)
  try call.check("setsockopt", setsockopt(fd, option.level, option.name, &value, size))
}

/// `send(fd, datagram [, host, port])`
private func posixSend(_ call: HostCall) throws {
  let fd = try call.posixNumber()
  let address = call.count >= 3 && call.stack.type(3) != .nil ? try call.address(3) : nil
  let isSent: Void? = try call.stack.withBytes(2) { bytes in
    try Sockets.send(fd, bytes, to: address)
  }
  if isSent == nil { throw call.mistake("the text must be a string, got \(call.given(2))") }
}

/// `receive(fd)`: a datagram, whether it was cut, and its sender: family, host, port.
private func posixReceive(_ call: HostCall) throws -> Int32 {
  let scratch = call.runtime.loop.scratch
  let (count, from) = try Sockets.receive(try call.posixNumber(), into: scratch)
  let bytes = UnsafeRawBufferPointer(rebasing: scratch[0..<min(count, scratch.count)])
  call.stack.push(bytes: bytes)
  call.stack.push(count > scratch.count)
  return call.push(from) + 2
}

/// `send_fd(fd, text, passed)`: how many bytes went, with a descriptor.
private func posixSendDescriptor(_ call: HostCall) throws -> some LuaPushable {
  let fd = try call.posixNumber()
  let passed = try call.posixNumber(3)
  let count = try call.stack.withBytes(2) { try Sockets.send(fd, $0, with: passed) }
  guard let count else { throw call.mistake("the text must be a string, got \(call.given(2))") }
  return count
}

/// `receive_fd(fd)`: bytes, and the descriptor that came with them or nil.
private func posixReceiveDescriptor(_ call: HostCall) throws -> Int32 {
  let scratch = call.runtime.loop.scratch
  let (count, passed) = try Sockets.receiveDescriptor(try call.posixNumber(), into: scratch)
  call.stack.push(bytes: UnsafeRawBufferPointer(rebasing: scratch[0..<count]))
  if passed >= 0 { call.stack.push(Int(passed)) } else { call.stack.pushNil() }
  return 2
}

/// `membership(fd, joins, group, interface or nil [, source])`
private func posixMembership(_ call: HostCall) throws {
  let fd = try call.posixNumber()
  let joins = call.stack.boolean(2)
  let group = try call.systemText(3, "the group")
  let interface =
    call.count < 4 || call.stack.type(4) == .nil ? nil : try call.systemText(4, "the interface")
  let source =
    call.count < 5 || call.stack.type(5) == .nil ? nil : try call.systemText(5, "the source")
  guard let address = SocketAddress(numeric: group, port: 0) else {
    throw SystemError(call: "setsockopt", code: EINVAL)
  }
  if address.family == .inet {
    try membership4(call, fd, joins, group, interface, source)
  } else {
    try membership6(call, fd, joins, group, interface, source)
  }
}

/// `multicast_interface(fd, address)`: where datagrams to groups are sent from; for IPv6 its name
/// or number follows a "%".
private func posixMulticastInterface(_ call: HostCall) throws {
  let fd = try call.posixNumber()
  let text = try call.systemText(2, "the interface")
  if text.contains(":") {
    let scope = String(text.split(separator: "%").dropFirst().first ?? "")
    var index = UInt32(scope) ?? if_nametoindex(scope)
    let size = socklen_t(MemoryLayout<UInt32>.size)
    try call.check(
      "setsockopt", setsockopt(fd, Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, &index, size))
  } else {
    var address = in_addr(s_addr: 0)
    if !text.isEmpty && inet_pton(AF_INET, text, &address) != 1 {
      throw SystemError(call: "setsockopt", code: EINVAL)
    }
    let size = socklen_t(MemoryLayout<in_addr>.size)
    try call.check(
      "setsockopt", setsockopt(fd, Int32(IPPROTO_IP), IP_MULTICAST_IF, &address, size))
  }
}

private func membership4(
  _ call: HostCall, _ fd: Int32, _ joins: Bool, _ group: String, _ interface: String?,
  _ source: String?
) throws {
  var on = in_addr(s_addr: 0)
  if let interface, inet_pton(AF_INET, interface, &on) != 1 {
    throw SystemError(call: "setsockopt", code: EINVAL)
  }
  var address = in_addr()
  inet_pton(AF_INET, group, &address)
  guard let source else {
    var request = ip_mreq(imr_multiaddr: address, imr_interface: on)
    let name = joins ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP
    let size = socklen_t(MemoryLayout<ip_mreq>.size)
    try call.check("setsockopt", setsockopt(fd, Int32(IPPROTO_IP), name, &request, size))
    return
  }
  var from = in_addr()
  if inet_pton(AF_INET, source, &from) != 1 { throw SystemError(call: "setsockopt", code: EINVAL) }
  var request = ip_mreq_source(imr_multiaddr: address, imr_interface: on, imr_sourceaddr: from)
  let name = joins ? IP_ADD_SOURCE_MEMBERSHIP : IP_DROP_SOURCE_MEMBERSHIP
  let size = socklen_t(MemoryLayout<ip_mreq_source>.size)
  try call.check("setsockopt", setsockopt(fd, Int32(IPPROTO_IP), name, &request, size))
}

private func membership6(
  _ call: HostCall, _ fd: Int32, _ joins: Bool, _ group: String, _ interface: String?,
  _ source: String?
) throws {
  if source != nil { throw SystemError(call: "setsockopt", code: ENOSYS) }
  var request = ipv6_mreq()
  inet_pton(AF_INET6, String(group.prefix { $0 != "%" }), &request.ipv6mr_multiaddr)
  if let scope = interface?.split(separator: "%").dropFirst().first {
    request.ipv6mr_interface = if_nametoindex(String(scope))
  }
  let name = joins ? IPV6_ADD_MEMBERSHIP : IPV6_DROP_MEMBERSHIP
  let size = socklen_t(MemoryLayout<ipv6_mreq>.size)
  try call.check("setsockopt", setsockopt(fd, Int32(IPPROTO_IPV6), name, &request, size))
}
