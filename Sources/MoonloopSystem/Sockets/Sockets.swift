// Linux calls that only sockets need. The simulated world has no network: these are for real
// descriptors.

internal import CLinuxShims
package import MoonloopCore

/// Socket calls, one system call each. All descriptors are non-blocking, closed on exec, and owned
/// by the caller.
package enum Sockets {
  package static func make(
    _ family: SocketAddress.Family, isDatagram: Bool = false
  ) throws(SystemError) -> Descriptor {
    try SystemCall.socket.descriptor(cmx_socket(raw(family), isDatagram))
  }

  private static func raw(_ family: SocketAddress.Family) -> cmx_family {
    switch family {
    case .inet: cmx_family_inet
    case .inet6: cmx_family_inet6
    case .unix: cmx_family_unix
    }
  }

  package static func bind(_ fd: Int32, _ address: SocketAddress) throws(SystemError) {
    var address = address.raw
    _ = try SystemCall.bind.check(cmx_bind(fd, &address))
  }

  package static func listen(_ fd: Int32, backlog: Int) throws(SystemError) {
    _ = try SystemCall.listen.check(cmx_listen(fd, Int32(clamping: backlog)))
  }

  /// - Throws: EAGAIN if no connection is waiting.
  package static func accept(_ fd: Int32) throws(SystemError) -> Int32 {
    var peer = cmx_address()
    return try SystemCall.accept.check(cmx_accept(fd, &peer))
  }

  /// Starts to connect.
  /// - Returns: Whether it is done; otherwise the socket becomes writable when it is: see
  ///   `failure(of:)`.
  package static func connect(
    _ fd: Int32, _ address: SocketAddress
  ) throws(SystemError) -> Bool {
    var address = address.raw
    let result = cmx_connect(fd, &address)
    if result == -Errno.inProgress { return false }
    _ = try SystemCall.connect.check(result)
    return true
  }

  /// The pending error of a socket, cleared by this call; nil if there is none.
  package static func failure(of fd: Int32) -> SystemError? {
    let code = cmx_socket_error(fd)
    return code == 0 ? nil : SystemError(call: SystemCall.connect.name, code: code)
  }

  /// The address of a socket; nil if it is not a socket.
  package static func name(of fd: Int32) -> SocketAddress? { name(of: fd, isPeer: false) }

  /// The peer's address of a connected socket; nil if there is none (any more).
  package static func peer(of fd: Int32) -> SocketAddress? { name(of: fd, isPeer: true) }

  private static func name(of fd: Int32, isPeer: Bool) -> SocketAddress? {
    var address = cmx_address()
    if cmx_socket_name(fd, isPeer, &address) < 0 { return nil }
    return SocketAddress(raw: address)
  }

  /// The process and user at the other end of a Unix socket.
  package struct Credentials {
    package let pid: Int
    package let uid: Int
    package let gid: Int
  }

  package static func credentials(of fd: Int32) -> Credentials? {
    var pid: Int32 = 0
    var uid: UInt32 = 0
    var gid: UInt32 = 0
    guard cmx_socket_credentials(fd, &pid, &uid, &gid) else { return nil }
    return Credentials(pid: Int(pid), uid: Int(uid), gid: Int(gid))
  }

  package enum Option {
    case reuseAddress, reusePort, v6Only, noDelay, keepAlive, keepIdle, keepInterval, broadcast
    case receiveBuffer, sendBuffer

    fileprivate var raw: cmx_socket_option {
      switch self {
      case .reuseAddress: cmx_option_reuse_address
      case .reusePort: cmx_option_reuse_port
      case .v6Only: cmx_option_v6_only
      case .noDelay: cmx_option_no_delay
      case .keepAlive: cmx_option_keep_alive
      case .keepIdle: cmx_option_keep_idle
      case .keepInterval: cmx_option_keep_interval
      case .broadcast: cmx_option_broadcast
      case .receiveBuffer: cmx_option_receive_buffer
      case .sendBuffer: cmx_option_send_buffer
      }
    }
  }

  package static func set(
    _ fd: Int32, _ option: Option, _ value: Int32 = 1
  ) throws(SystemError) {
    _ = try SystemCall.setOption.check(cmx_socket_set(fd, option.raw, value))
  }

  /// Makes closing the socket send a reset to the peer.
  package static func resetOnClose(_ fd: Int32) { _ = cmx_socket_reset_on_close(fd) }

  /// Tells the peer that no more will be sent; with `bothWays`, nothing more is received either.
  /// - Throws: ENOTSOCK if it is not a socket, ENOTCONN if the peer is gone.
  package static func shut(_ fd: Int32, bothWays: Bool) throws(SystemError) {
    _ = try SystemCall.shutdown.check(cmx_shutdown(fd, bothWays))
  }

  // MARK: Datagrams

  /// Sends one datagram, whole or not at all.
  package static func send(
    _ fd: Int32, _ bytes: UnsafeRawBufferPointer, to address: SocketAddress?
  ) throws(SystemError) {
    let result: Int
    if var raw = address?.raw {
      result = cmx_send_to(fd, bytes.baseAddress, bytes.count, &raw)
    } else {
      result = cmx_send_to(fd, bytes.baseAddress, bytes.count, nil)
    }
    _ = try SystemCall.sendTo.check(result)
  }

  /// Receives one datagram.
  /// - Returns: Its length, larger than the buffer if it was cut; and the sender.
  package static func receive(
    _ fd: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> (count: Int, from: SocketAddress) {
    var from = cmx_address()
    let count = cmx_receive_from(fd, buffer.baseAddress, buffer.count, &from)
    return (try SystemCall.receiveFrom.check(count), SocketAddress(raw: from))
  }

  // MARK: Descriptors

  /// Sends at least one byte, with a descriptor, of which the receiver gets a copy.
  package static func send(
    _ fd: Int32, _ bytes: UnsafeRawBufferPointer, with passed: Int32
  ) throws(SystemError) -> Int {
    try SystemCall.sendMessage.check(
      cmx_send_descriptor(fd, bytes.baseAddress, bytes.count, passed))
  }

  /// Receives bytes and the descriptor sent with them, which the caller owns; -1: none.
  package static func receiveDescriptor(
    _ fd: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> (count: Int, passed: Int32) {
    var passed: Int32 = -1
    let count = cmx_receive_descriptor(fd, buffer.baseAddress, buffer.count, &passed)
    return (try SystemCall.receiveMessage.check(count), passed)
  }

  // MARK: Socket files

  /// The identity of the socket file at an address; nil: none.
  package static func fileIdentity(_ address: SocketAddress) -> UInt64? {
    let identity = withPath(of: address) { cmx_file_identity($0) }
    return identity == 0 ? nil : identity
  }

  private static func withPath<R>(
    of address: SocketAddress, _ body: (UnsafePointer<CChar>) -> R
  ) -> R {
    (address.hostBytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer {
      body($0.baseAddress!)
    }
  }

  /// Whether two paths lead to one file, of whatever kind.
  package static func isSameFile(_ one: String, _ other: String) -> Bool {
    one == other || cmx_is_same_file(one, other)
  }

  package static func removeFile(_ path: String) { _ = cmx_unlink(path) }

  package static func removeFile(_ address: SocketAddress) {
    _ = withPath(of: address) { cmx_unlink($0) }
  }

  /// Sets the permissions of the file of a socket that is not bound yet.
  package static func setPermissions(_ fd: Int32, _ mode: Int) {
    _ = cmx_set_mode(fd, UInt32(mode))
  }
}
