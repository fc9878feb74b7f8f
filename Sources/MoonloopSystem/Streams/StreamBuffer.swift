// Bytes in a row: appended at the end, taken at the front.

internal import Glibc

/// The memory of a queue: held by that, and by whoever looks at bytes that others may take
/// meanwhile.
private final class StreamMemory {
  let base: UnsafeMutableRawPointer
  let capacity: Int

  init(_ capacity: Int) {
    guard let base = malloc(capacity) else { fatalError("no memory for \(capacity) bytes") }
    self.base = base
    self.capacity = capacity
  }

  deinit { free(base) }
}

/// A queue of bytes, which has no memory while it is empty and was never large.
package struct StreamBuffer: ~Copyable {
  private var memory: StreamMemory?
  /// The bytes are those from `head` up to `tail`.
  private var head = 0
  private var tail = 0

  /// An empty queue keeps so much for what comes next, and gives back what is more: it may be of a
  /// stream that is idle for long.
  private static let keptCapacity = 4096

  package init() {}

  private var base: UnsafeMutableRawPointer? { memory?.base }
  private var capacity: Int { memory?.capacity ?? 0 }

  package var count: Int { tail - head }
  package var isEmpty: Bool { tail == head }

  /// Looks at the bytes, without taking them.
  package func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: base.map { $0 + head }, count: count))
  }

  /// The bytes as they are now, whatever becomes of the queue.
  package struct Held {
    fileprivate let memory: StreamMemory?
    fileprivate let bytes: UnsafeRawBufferPointer

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
      withExtendedLifetime(memory) { body(bytes) }
    }
  }

  /// Holds the bytes for somebody who takes them, and then calls what may use the queue again: what
  /// is appended meanwhile goes into other memory.
  package func hold() -> Held {
    Held(
      memory: memory, bytes: UnsafeRawBufferPointer(start: base.map { $0 + head }, count: count))
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    if capacity - tail < bytes.count || !isKnownUniquelyReferenced(&memory) {
      makeRoom(for: bytes.count)
    }
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
    if isEmpty { memory = nil }
  }

  private mutating func makeRoom(for more: Int) {
    let count = count
    let isOwn = isKnownUniquelyReferenced(&memory)
    if let base, isOwn, head >= capacity / 2 && capacity - count >= more {
      memmove(base, base + head, count)
    } else {
      let fresh = StreamMemory(max(isOwn ? capacity * 2 : 0, count + more, 64))
      if let base, count > 0 { memcpy(fresh.base, base + head, count) }
      memory = fresh
    }
    head = 0
    tail = count
  }
}
