// A thread of a simulated world: its name, its blockers, and its wait for the baton.

internal import CLinuxShims
internal import Glibc
internal import MoonloopCore

/// A thread of a simulated world.
///
/// Unchecked Sendable: the world's lock protects the variables; the gate is atomic.
package final class SimulatedThread: @unchecked Sendable {
  let name: String
  /// Whether it was ever made runnable.
  var isKnown = false
  var hasEnded = false
  /// What it waits for, and until when.
  var reason = ""
  var deadline = Int64.max
  /// The threads waiting for its end.
  var joining: [SimulatedThread] = []

  private let baton = cmx_gate_make()

  init(name: String) { self.name = name }

  deinit { cmx_gate_free(baton) }

  /// Lets it run; the lock is held.
  func giveBaton() { cmx_gate_open(baton) }

  /// Waits until it may run. Called by the thread itself, without the lock.
  func takeBaton() {
    _ = cmx_gate_wait(baton, -1)
    // No other thread can open it now, because this one has the baton.
    cmx_gate_shut(baton)
  }
}

/// The lock of a world. Unlike a `Mutex` it can be released in the middle of a function that
/// blocks.
///
/// Recursive, because the last reference to a kernel may be dropped, and its deinit lock, while the
/// lock is held. Unchecked Sendable: the pointer never changes, and its target is made for several
/// threads.
final class WorldLock: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init() {
    mutex.initialize(to: pthread_mutex_t())
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }

  func locked<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    lock()
    defer { unlock() }
    return try body()
  }
}
