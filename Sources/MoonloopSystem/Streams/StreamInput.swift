// Bytes read ahead, and what reads take from them.

internal import Glibc

/// The bytes received but not asked for yet. Loop thread only.
package struct StreamInput: ~Copyable {
  private(set) var queue = StreamBuffer()
  /// There is no newline before this.
  private var searched = 0
  /// The rest of a line that was too long is dropped as it comes.
  package var isSkipping = false
  /// Length limit for a line.
  package var lineLimit = Self.defaultLineLimit
  /// Limit for reads of everything and of many bytes.
  package var limit = Self.defaultLimit

  static let defaultLineLimit = 1 << 20
  static let defaultLimit = 64 << 20

  package init() {}

  package var count: Int { queue.count }
  package var isEmpty: Bool { queue.isEmpty }

  /// - Returns: false if the system has no memory for it.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes
    if isSkipping {
      let found = StreamFormat.line(keepsNewline: true).find(
        in: bytes, from: 0, isAtEnd: false, limit: .max)
      guard case .piece(_, let next) = found else { return true }
      isSkipping = false
      rest = UnsafeRawBufferPointer(rebasing: bytes[next...])
    }
    return queue.append(rest)
  }

  /// The limit for a format.
  package func limit(for format: StreamFormat) -> Int {
    switch format {
    case .line, .lines: lineLimit
    default: limit
    }
  }

  /// Looks for a format from a position on, without taking anything.
  package func find(_ format: StreamFormat, from start: Int, isAtEnd: Bool) -> StreamFormat.Found {
    queue.withBytes {
      format.find(
        in: $0, from: start, searched: start == 0 ? searched : 0, isAtEnd: isAtEnd,
        limit: limit(for: format))
    }
  }

  /// Takes a line that is here and fits, without its newline. A copy of few bytes costs less than
  /// to look at them and to hold their memory.
  /// - Returns: Its length, or nil.
  package mutating func takeLine(into copy: UnsafeMutableRawBufferPointer) -> Int? {
    let length = queue.withBytes { bytes -> Int? in
      let most = min(bytes.count, copy.count, lineLimit &+ 1)
      guard let base = bytes.baseAddress, let found = memchr(base, 10, most) else { return nil }
      let length = UnsafeRawPointer(found) - base
      copy.baseAddress!.copyMemory(from: base, byteCount: length)
      return length
    }
    if let length { drop(length + 1) }
    return length
  }

  /// Remembers that the current bytes contain no newline.
  package mutating func noteSearched() { searched = queue.count }

  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    queue.withBytes(body)
  }

  /// See `StreamBuffer.hold`.
  package func hold() -> StreamBuffer.Held { queue.hold() }

  /// Takes this many bytes from the front.
  package mutating func drop(_ count: Int) {
    queue.drop(count)
    searched = max(0, searched - count)
  }

  /// Takes the blanks at the front: a read of a number skips them, and looks at none of them twice.
  package mutating func dropBlanks() { drop(queue.withBytes { StreamFormat.blanks(in: $0) }) }

  package mutating func removeAll() {
    queue.removeAll()
    searched = 0
  }
}
