// A thread of a simulated world: its name, what it waits for, and its wait for the baton.

internal import CLinuxShims
internal import Glibc
internal import MoonloopCore

/// A thread of a simulated world.
///
/// Unchecked Sendable: the variables are protected by the lock of the world; the gate is atomic.
package final class SimulatedThread: @unchecked Sendable {
  package let name: String
  /// Whether it was ever made runnable.
  var isKnown = false
  var hasEnded = false
  /// What it blocks for, and until when.
  var reason = ""
  var deadline = Int64.max
  /// The threads that wait for its end.
  var joining: [SimulatedThread] = []

  private let baton = cmx_gate_make()

  init(name: String) { self.name = name }

  deinit { cmx_gate_free(baton) }

  /// Lets it run; the lock is held.
  func giveBaton() { cmx_gate_open(baton) }

  /// Waits until it may run. The thread itself, without the lock.
  func takeBaton() {
    _ = cmx_gate_wait(baton, -1)
    // Nobody else can open it now: the baton is here.
    cmx_gate_shut(baton)
  }
}

/// The lock of a world; unlike a `Mutex` it can be given up in the middle of a function that
/// blocks.
///
/// Recursive, because the last reference to a kernel may go, and its deinit lock, with the lock
/// held. Unchecked Sendable: the pointer never changes, and what it points to is for several
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
