// A queue of bytes: appended at the end, taken from the front.

internal import Glibc

/// The memory of a queue, shared by the queue and readers of bytes that may be taken from it
/// meanwhile.
private final class StreamMemory {
  let base: UnsafeMutableRawPointer
  let capacity: Int

  init?(_ capacity: Int) {
    guard let base = malloc(capacity) else { return nil }
    self.base = base
    self.capacity = capacity
  }

  deinit { free(base) }
}

/// A queue of bytes. An empty queue keeps little memory.
package struct StreamBuffer: ~Copyable {
  private var memory: StreamMemory?
  /// The bytes are those from `head` up to `tail`.
  private var head = 0
  private var tail = 0

  /// How much an empty queue keeps for later bytes; it frees any more, since its stream may be idle
  /// for long.
  private static let keptCapacity = 4096

  init() {}

  private var base: UnsafeMutableRawPointer? { memory?.base }
  private var capacity: Int { memory?.capacity ?? 0 }

  package var count: Int { tail - head }
  package var isEmpty: Bool { tail == head }

  /// Accesses the bytes without taking them.
  func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: base.map { $0 + head }, count: count))
  }

  /// The bytes as they are now; they stay valid whatever happens to the queue.
  package struct Held {
    fileprivate let memory: StreamMemory?
    fileprivate let bytes: UnsafeRawBufferPointer

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
      withExtendedLifetime(memory) { body(bytes) }
    }
  }

  /// Keeps the bytes for a caller that takes them and then calls code that may use the queue again:
  /// what is appended meanwhile goes to other memory.
  func hold() -> Held {
    Held(
      memory: memory, bytes: UnsafeRawBufferPointer(start: base.map { $0 + head }, count: count))
  }

  /// - Returns: false, and nothing has changed, if the system has no memory for it.
  mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return true }
    if capacity - tail < bytes.count || !isKnownUniquelyReferenced(&memory) {
      if !makeRoom(for: bytes.count) { return false }
    }
    memcpy(base! + tail, source, bytes.count)
    tail += bytes.count
    return true
  }

  /// Appends what a closure puts into memory of this size.
  /// - Returns: How much that is, as the closure says; nil if the system has no memory for it.
  mutating func append(
    atMost most: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int
  ) -> Int? {
    if capacity - tail < most || !isKnownUniquelyReferenced(&memory) {
      if !makeRoom(for: most) { return nil }
    }
    let count = body(UnsafeMutableRawBufferPointer(start: base! + tail, count: most))
    tail += count
    return count
  }

  /// Takes this many bytes from the front; there must be as many.
  mutating func drop(_ count: Int) {
    head += min(count, self.count)
    if head < tail { return }
    head = 0
    tail = 0
    if capacity > Self.keptCapacity { release() }
  }

  package mutating func removeAll() { drop(count) }

  /// Frees the memory if the queue is empty.
  mutating func release() {
    if isEmpty { memory = nil }
  }

  private mutating func makeRoom(for more: Int) -> Bool {
    let count = count
    let isOwn = isKnownUniquelyReferenced(&memory)
    if let base, isOwn, head >= capacity / 2 && capacity - count >= more {
      memmove(base, base + head, count)
    } else {
      guard let fresh = StreamMemory(max(isOwn ? capacity * 2 : 0, count + more, 64)) else {
        return false
      }
      if let base, count > 0 { memcpy(fresh.base, base + head, count) }
      memory = fresh
    }
    head = 0
    tail = count
    return true
  }
}
