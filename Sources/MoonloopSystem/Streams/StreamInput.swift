// What was read ahead of what was asked for, and what a read takes out of it.

/// The bytes that came in and were not asked for yet. Loop thread only.
package struct StreamInput: ~Copyable {
  package private(set) var queue = StreamBuffer()
  /// Up to here no newline was found.
  private var searched = 0
  /// The rest of a line that was too long is dropped as it comes.
  package var isSkipping = false
  /// How long a line may be.
  package var lineLimit = Self.defaultLineLimit
  /// How much is held at most, for reads of all and of many bytes.
  package var limit = Self.defaultLimit

  package static let defaultLineLimit = 1 << 20
  package static let defaultLimit = 64 << 20

  package init() {}

  package var count: Int { queue.count }
  package var isEmpty: Bool { queue.isEmpty }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes
    if isSkipping {
      let found = StreamFormat.line(keepsNewline: true).find(
        in: bytes, from: 0, isAtEnd: false, limit: .max)
      guard case .piece(_, let next) = found else { return }
      isSkipping = false
      rest = UnsafeRawBufferPointer(rebasing: bytes[next...])
    }
    queue.append(rest)
  }

  /// The limit that holds for a format.
  package func limit(for format: StreamFormat) -> Int {
    if case .line = format { lineLimit } else { limit }
  }

  /// Looks for a format from a place on, without taking anything.
  package func find(_ format: StreamFormat, from start: Int, isAtEnd: Bool) -> StreamFormat.Found {
    queue.withBytes {
      format.find(
        in: $0, from: start, searched: start == 0 ? searched : 0, isAtEnd: isAtEnd,
        limit: limit(for: format))
    }
  }

  /// Remembers that the bytes which are there hold no newline.
  package mutating func noteSearched() { searched = queue.count }

  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    queue.withBytes(body)
  }

  /// See `StreamBuffer.hold`.
  package func hold() -> StreamBuffer.Held { queue.hold() }

  /// Takes so many bytes off the front.
  package mutating func drop(_ count: Int) {
    queue.drop(count)
    searched = max(0, searched - count)
  }

  package mutating func removeAll() {
    queue.removeAll()
    searched = 0
  }

  /// Gives back what an idle stream need not hold.
  package mutating func release() { queue.release() }
}
