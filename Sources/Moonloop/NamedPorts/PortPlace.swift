// Where a named port is found: a socket in a folder of the user, and a lock beside it that says
// which process has the name.

internal import Glibc
internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// The files of one name.
struct PortPlace {
  let name: String

  /// The maximum length of a name: what fits a socket's path in a folder of usual length.
  static let longestName = 64

  /// What is wrong with a name, as text; nil: nothing.
  static func flaw(of name: String) -> String? {
    if name.isEmpty { return "is empty" }
    if name.utf8.count > longestName {
      return "has \(name.utf8.count) bytes; the limit is \(longestName)"
    }
    let isPlain = name.utf8.allSatisfy { byte in
      switch byte {
      case 48...57, 65...90, 97...122, 45, 46, 95: true
      default: false
      }
    }
    if !isPlain { return "may contain only letters, digits, '.', '-' and '_'" }
    return name.hasPrefix(".") ? "begins with a dot" : nil
  }

  init(_ name: String) { self.name = name }

  private func failure(_ what: String, _ code: String) -> OperatingFailure {
    OperatingFailure("port '\(name)': \(what)", code)
  }

  private func failure(_ what: String, _ error: SystemError) -> OperatingFailure {
    failure("\(what): \(error.message)", error.name)
  }

  /// Where its socket and its lock are.
  private func paths() throws(OperatingFailure) -> (socket: String, lock: String) {
    do throws(PrivateFolder.Refusal) {
      let folder = try PrivateFolder.own()
      return ("\(folder)/\(name).port", "\(folder)/\(name).lock")
    } catch {
      let folder = error.path
      switch error.flaw {
      case .failed(let error): throw failure("cannot make the folder \(folder)", error)
      case .noFolder: throw failure("\(folder) is not a folder; remove it", "ENOTDIR")
      case .ofAnotherUser: throw failure("\(folder) belongs to another user", "EACCES")
      case .openToOthers:
        throw failure(
          "\(folder) is open to other users; make it private with chmod 700", "EACCES")
      }
    }
  }

  private func address(_ socketPath: String) throws(OperatingFailure) -> SocketAddress {
    guard let address = SocketAddress(path: socketPath) else {
      throw failure("the path \(socketPath) is too long for a socket", "ENAMETOOLONG")
    }
    return address
  }

  /// Takes the name, and listens.
  func listen() throws(OperatingFailure) -> PortListening {
    let (socketPath, lockPath) = try paths()
    let address = try address(socketPath)
    let lock: Descriptor
    do throws(PrivateFiles.Refusal) { lock = try PrivateFiles.lock(lockPath) } catch {
      switch error {
      case .taken(let pid):
        let owner = pid.map { $0 == Int(getpid()) ? "this process" : "process \($0)" }
        throw failure(
          "the name is taken: \(owner ?? "another process") listens on it", "EADDRINUSE")
      case .failed(let error): throw failure("cannot lock \(lockPath)", error)
      }
    }
    // No other process can be using the name: a socket that is left belongs to a process that has
    // ended.
    if PrivateFiles.isTaken(socketPath) {
      throw failure("\(socketPath) is not a socket; remove it", "EEXIST")
    }
    Sockets.removeFile(socketPath)
    do throws(SystemError) {
      let socket = try Sockets.make(.unix)
      Sockets.setPermissions(socket.number, 0o600)
      try Sockets.bind(socket.number, address)
      try Sockets.listen(socket.number, backlog: 1024)
      return PortListening(
        socket: socket, lock: lock, socketPath: socketPath, lockPath: lockPath)
    } catch {
      Sockets.removeFile(lockPath)
      throw failure("cannot listen at \(socketPath)", error)
    }
  }

  /// Connects to the listener.
  func connect() throws(OperatingFailure) -> Descriptor {
    let (socketPath, _) = try paths()
    let address = try address(socketPath)
    do throws(SystemError) {
      let socket = try Self.connect(to: address)
      if Self.isTrusted(socket.number) { return socket }
    } catch {
      switch error.name {
      case "ENOENT", "ECONNREFUSED": throw failure("no process is listening on it", "ECONNREFUSED")
      case "EAGAIN": throw failure("too many connections are waiting", "EAGAIN")
      default: throw failure("cannot connect to \(socketPath)", error)
      }
    }
    throw failure("it belongs to another user", "EACCES")
  }

  private static func connect(to address: SocketAddress) throws(SystemError) -> Descriptor {
    let socket = try Sockets.make(.unix)
    _ = try Sockets.connect(socket.number, address)
    return socket
  }

  /// Whether the other end of a socket is a process of this user.
  static func isTrusted(_ fd: Int32) -> Bool {
    Sockets.credentials(of: fd)?.uid == PrivateFiles.user
  }
}

/// A name that was taken: a listening socket, and the lock. Its owner ends it once.
struct PortListening: ~Copyable {
  let socket: Descriptor
  let lock: Descriptor
  let socketPath: String
  let lockPath: String

  /// The socket, and everything else.
  consuming func split() -> (socket: Int32, hold: PortNameHold) {
    (socket.release(), PortNameHold(lock, socketPath, lockPath))
  }
}

/// The right to a name; returned once. Any thread.
final class PortNameHold: Sendable {
  private let lock: Guarded<Int32>
  private let socketPath: String
  private let lockPath: String

  init(_ lock: consuming Descriptor, _ socketPath: String, _ lockPath: String) {
    self.lock = Guarded(lock.release())
    self.socketPath = socketPath
    self.lockPath = lockPath
  }

  /// Gives up the name, in an order that never leaves two processes with it.
  func release() {
    let number = lock.withLock { number in
      defer { number = -1 }
      return number
    }
    if number < 0 { return }
    Sockets.removeFile(socketPath)
    Sockets.removeFile(lockPath)
    _ = Descriptor(owning: number)
  }

  deinit { release() }
}
