// Bytes in a row: appended at the end, taken at the front.

internal import Glibc

/// A queue of bytes, which has no memory while it is empty and was never large.
package struct StreamBuffer: ~Copyable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  /// The bytes are those from `head` up to `tail`.
  private var head = 0
  private var tail = 0

  /// An empty queue keeps so much for what comes next, and gives back what is more: it may be of a
  /// stream that is idle for long.
  private static let keptCapacity = 4096

  package init() {}

  deinit { free(base) }

  package var count: Int { tail - head }
  package var isEmpty: Bool { tail == head }

  /// Looks at the bytes, without taking them.
  package func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: base.map { $0 + head }, count: count))
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    if capacity - tail < bytes.count { makeRoom(for: bytes.count) }
    memcpy(base! + tail, source, bytes.count)
    tail += bytes.count
  }

  /// Takes so many bytes off the front; not more than there are.
  package mutating func drop(_ count: Int) {
    head += min(count, self.count)
    if head < tail { return }
    head = 0
    tail = 0
    if capacity > Self.keptCapacity { release() }
  }

  package mutating func removeAll() { drop(count) }

  /// Gives the memory back, when nothing is in it.
  package mutating func release() {
    guard isEmpty else { return }
    free(base)
    base = nil
    capacity = 0
  }

  private mutating func makeRoom(for more: Int) {
    let count = count
    if let base, head >= capacity / 2 && capacity - count >= more {
      memmove(base, base + head, count)
    } else {
      let wanted = max(capacity * 2, count + more, 64)
      guard let fresh = malloc(wanted) else { fatalError("no memory for \(wanted) bytes") }
      if let base, count > 0 { memcpy(fresh, base + head, count) }
      free(base)
      base = fresh
      capacity = wanted
    }
    head = 0
    tail = count
  }
}
