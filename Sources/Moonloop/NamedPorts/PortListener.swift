// Accepts the connections of a named port.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// A listening socket and its connections. Hub thread only, hence unchecked.
final class PortListener: @unchecked Sendable {
  private let hub: Loop
  private let name: String
  private let incoming: Loop.Port
  private let room: MemoryRoom
  private var source: Loop.DescriptorSource?
  private var connections: [ObjectIdentifier: PortConnection] = [:]
  private var isWantReported = false
  /// Reported that the limit is reached; half of the connections have to go before the next time.
  private var isFull = false
  private var isFinishing = false
  private var whenOver: (@Sendable () -> Void)?

  /// How many processes may be connected at once.
  private static let connectionLimit = 4096
  private static let batch = 16
  /// How long it waits for descriptors to be closed.
  private static let pauseTime = Duration.milliseconds(100)

  init(
    _ hub: Loop, name: String, to incoming: Loop.Port, _ room: MemoryRoom,
    whenOver: @escaping @Sendable () -> Void
  ) {
    self.hub = hub
    self.name = name
    self.incoming = incoming
    self.room = room
    self.whenOver = whenOver
  }

  func begin(_ fd: Int32) {
    let source = Loop.DescriptorSource(
      fd, closesDescriptor: true, events: .read, reenabled: .read, name: name
    ) { [self] _, _ in acceptAll() }
    self.source = source
    do throws(LoopError) { try hub.add(source) } catch {
      tell("cannot listen: \(error)", error.code)
      finish()
    }
  }

  private func tell(_ text: String, _ code: String) {
    incoming.postAlways(PortNotice(text: "port '\(name)': \(text)", code: code))
  }

  private func acceptAll() {
    for _ in 0..<Self.batch {
      guard let source else { return }
      do throws(SystemError) {
        take(try Sockets.accept(source.fd))
        isWantReported = false
      } catch {
        switch error.name {
        case "EAGAIN": return
        case "ECONNABORTED", "EPROTO": continue
        default: return pause(error)
        }
      }
    }
  }

  private func take(_ fd: Int32) {
    let socket = Descriptor(owning: fd)
    let who = Sockets.credentials(of: fd)
    guard PortPlace.isTrusted(fd), let who else {
      return tell("refused a connection of user \(who?.uid ?? -1)", "EACCES")
    }
    if connections.count >= Self.connectionLimit {
      if isFull { return }
      isFull = true
      return tell("\(connections.count) processes are connected, which is the limit", "EAGAIN")
    }
    let peer = "process \(who.pid)"
    let key = KeyBox()
    let connection = PortConnection(
      hub, label: "port '\(name)', \(peer)", peer: peer, capacity: incoming.capacity,
      to: incoming, room: room, isListeners: true
    ) { [weak self] reason in self?.ended(key, reason, peer) }
    key.key = ObjectIdentifier(connection)
    connections[ObjectIdentifier(connection)] = connection
    connection.begin(socket.release())
  }

  /// Identifies a connection, for its end. Hub thread only.
  private final class KeyBox: @unchecked Sendable {
    var key: ObjectIdentifier?
  }

  private func ended(_ box: KeyBox, _ reason: PortEnd, _ peer: String) {
    if let key = box.key { connections[key] = nil }
    if connections.count < Self.connectionLimit / 2 { isFull = false }
    if case .failed(let text, let code) = reason {
      tell("the connection of \(peer) was closed: \(text)", code)
    }
    finishIfEmpty()
  }

  /// Out of descriptors or memory: tries again later, and reports it once.
  private func pause(_ error: SystemError) {
    if !isWantReported {
      isWantReported = true
      tell("no connection can be accepted for now: \(error.message)", error.name)
    }
    source?.disable(.read)
    hub.schedule(after: Self.pauseTime) { [weak self] _ in self?.source?.enable(.read) }
  }

  // MARK: The end

  /// Closes once what was sent is out.
  func finish() {
    isFinishing = true
    source?.invalidate()
    source = nil
    for connection in connections.values { connection.finish() }
    finishIfEmpty()
  }

  /// Closes without waiting. Any thread.
  func abandonSoon() { hub.change { [self] _ in abandon() } }

  private func abandon() {
    for connection in connections.values { connection.end(.closed) }
    finishIfEmpty()
  }

  private func finishIfEmpty() {
    guard isFinishing, connections.isEmpty else { return }
    let tell = whenOver
    whenOver = nil
    tell?()
  }
}
