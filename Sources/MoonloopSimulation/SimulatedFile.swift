// Descriptors of a simulated world: ends of stream sockets, and always-ready files.

internal import MoonloopCore

/// A simulated descriptor. Protected by the lock of its world.
///
/// Behaves like its model in Linux: a stream end like a Unix stream socket.
final class SimulatedFile {
  enum Kind {
    case stream
    case file
  }

  let kind: Kind
  /// Limit for bytes in `incoming`.
  let capacity: Int
  /// For a stream, what the peer wrote; for a file, its unread contents.
  private var incoming = ByteQueue()
  /// The other end of a stream; nil once closed.
  private weak var peer: SimulatedFile?
  /// Whether the peer was closed with unread bytes; reported once.
  private var isReset = false
  /// The registrations to notify of changes.
  var watchers: [SimulatedRegistration] = []

  private init(_ kind: Kind, capacity: Int) {
    self.kind = kind
    self.capacity = capacity
  }

  static func file(_ contents: [UInt8]) -> SimulatedFile {
    let file = SimulatedFile(.file, capacity: .max)
    contents.withUnsafeBytes { file.incoming.append($0) }
    return file
  }

  static func streamPair(capacity: Int) -> (SimulatedFile, SimulatedFile) {
    let pair = (
      SimulatedFile(.stream, capacity: capacity), SimulatedFile(.stream, capacity: capacity)
    )
    pair.0.peer = pair.1
    pair.1.peer = pair.0
    return pair
  }

  /// Its readiness; everything if the peer is gone, so that a read or write finds out.
  var readiness: Interest {
    guard kind == .stream, let peer else { return [.read, .write] }
    var ready: Interest = []
    if !incoming.isEmpty { ready.insert(.read) }
    if peer.incoming.count < peer.capacity { ready.insert(.write) }
    return ready
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    if buffer.isEmpty { return 0 }
    if !incoming.isEmpty {
      let count = incoming.remove(into: buffer)
      peer?.tellWatchers()
      return count
    }
    if isReset {
      isReset = false
      throw SystemError(call: SystemCall.read.name, code: Errno.connectionReset)
    }
    if kind == .stream && peer != nil {
      throw SystemError(call: SystemCall.read.name, code: Errno.wouldBlock)
    }
    return 0
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
    if kind == .file {
      incoming.append(bytes)
      return bytes.count
    }
    guard let peer else { throw SystemError(call: SystemCall.write.name, code: Errno.brokenPipe) }
    let room = peer.capacity - peer.incoming.count
    if room == 0 && !bytes.isEmpty {
      throw SystemError(call: SystemCall.write.name, code: Errno.wouldBlock)
    }
    let count = min(room, bytes.count)
    peer.incoming.append(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
    peer.tellWatchers()
    return count
  }

  /// Called when its last descriptor is closed.
  func close() {
    for watcher in watchers { watcher.leave() }
    watchers = []
    guard let other = peer else { return }
    peer = nil
    other.peer = nil
    other.isReset = !incoming.isEmpty
    other.tellWatchers()
  }

  private func tellWatchers() {
    for watcher in watchers { watcher.update() }
  }
}

/// Bytes in order of arrival.
private struct ByteQueue {
  private var bytes: [UInt8] = []
  private var head = 0

  var count: Int { bytes.count - head }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

  mutating func remove(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let taken = min(count, buffer.count)
    bytes[head..<(head + taken)].withUnsafeBytes { buffer.copyMemory(from: $0) }
    head += taken
    // Moved to the front only when fewer bytes are left than were taken, so each byte moves once.
    if head * 2 >= bytes.count {
      bytes.removeFirst(head)
      head = 0
    }
    return taken
  }
}
