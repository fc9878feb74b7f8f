// The output queue of a named port's socket: bytes, and descriptors with some of them.

internal import MoonloopCore
internal import MoonloopSystem

/// A queue of frames. Hub thread only.
struct PortOutput: ~Copyable {
  private struct Piece {
    var bytes: [UInt8]
    var sent = 0
    /// They go with the first byte, and are then closed.
    var descriptors: [Int32]
  }

  private var pieces: [Piece] = []
  /// How many bytes are queued.
  private(set) var count = 0

  /// Small frames share a system call up to this size.
  private static let shared = 1 << 16

  mutating func append(_ frame: PortFrame, _ descriptors: [Int32]) {
    let bytes = frame.bytes
    count += bytes.count
    if descriptors.isEmpty, let last = pieces.indices.last,
      pieces[last].bytes.count + bytes.count <= Self.shared
    {
      pieces[last].bytes += bytes
    } else {
      pieces.append(Piece(bytes: bytes, descriptors: descriptors))
    }
  }

  /// Writes what fits.
  /// - Returns: Whether everything is out.
  mutating func flush(to fd: Int32) throws(SystemError) -> Bool {
    var done = 0
    defer { pieces.removeFirst(done) }
    while done < pieces.count {
      let piece = pieces[done]
      let passed = piece.sent == 0 ? piece.descriptors : []
      var result: Result<Int, SystemError> = .success(0)
      piece.bytes.withUnsafeBytes { bytes in
        let rest = UnsafeRawBufferPointer(rebasing: bytes[piece.sent...])
        result = Result { () throws(SystemError) in try Sockets.send(fd, rest, with: passed) }
      }
      switch result {
      case .success(let sent):
        count -= sent
        for descriptor in passed { _ = Descriptor(owning: descriptor) }
        pieces[done].descriptors = []
        pieces[done].sent += sent
        if pieces[done].sent == piece.bytes.count { done += 1 }
      case .failure(let error):
        if error.name == "EAGAIN" { return false }
        throw error
      }
    }
    return true
  }

  mutating func removeAll() {
    for piece in pieces {
      for descriptor in piece.descriptors { _ = Descriptor(owning: descriptor) }
    }
    pieces = []
    count = 0
  }
}
