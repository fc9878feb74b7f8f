// A value behind a mutex whose order of uses ThreadSanitizer can see.

internal import Synchronization

/// A value that one thread at a time uses.
///
/// The standard library's `Mutex` waits in code that ThreadSanitizer does not see: a contended use
/// then looks like a race. Each use therefore also acquires and releases an atomic of our own,
/// which costs two plain moves. Under the lock, call nothing that could use this value again.
package struct Guarded<Value: ~Copyable>: ~Copyable {
  private let mutex: Mutex<Value>
  private let order = Atomic<UInt8>(0)

  package init(_ value: consuming sending Value) { mutex = Mutex(value) }

  package borrowing func withLock<Result>(
    _ body: (inout sending Value) -> sending Result
  ) -> sending Result {
    mutex.withLock { value in
      _ = order.load(ordering: .acquiring)
      defer { order.store(0, ordering: .releasing) }
      return body(&value)
    }
  }
}

extension Guarded: @unchecked Sendable where Value: ~Copyable {}  // As `Mutex`, which it is.
