// Stops runs that take too long, and counts descriptors, for tests of scripts that may do
// anything.

import Dispatch
import Glibc
import Moonloop
import Synchronization

/// Stops a script that takes too long, from outside: a run without a timeout in the handler
/// of a one-shot timer never ends by itself.
final class Warden: Sendable {
  private let runs = Mutex<[Int: (loop: Loop, began: ContinuousClock.Instant)]>([:])
  private let watching = Mutex<Watch?>(nil)

  init(limit: Duration = .seconds(1)) {
    watching.withLock { $0 = Watch { [self] in watch(limit) } }
  }

  func begin(_ run: Int, _ loop: Loop) { runs.withLock { $0[run] = (loop, .now) } }
  func end(_ run: Int) { _ = runs.withLock { $0.removeValue(forKey: run) } }

  /// Ends the thread that watches.
  func retire() {
    watching.withLock { watch in
      watch?.end()
      watch = nil  // the thread holds this
    }
  }

  private func watch(_ limit: Duration) {
    let all = runs.withLock { $0 }
    for run in all.values where ContinuousClock.now - run.began > limit { run.loop.stop() }
  }
}

/// A thread that repeats something until it is told to end.
private final class Watch: Sendable {
  private let ended = DispatchSemaphore(value: 0)
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        let watch = Unmanaged<Watch>.fromOpaque(context!).takeRetainedValue()
        while watch.ended.wait(timeout: .now() + 0.2) == .timedOut { watch.body() }
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    pthread_detach(thread)
  }

  func end() { ended.signal() }
}

/// How many descriptors this process has open.
func openDescriptors() -> Int {
  guard let folder = opendir("/proc/self/fd") else { return 0 }
  defer { closedir(folder) }
  var count = 0
  while readdir(folder) != nil { count += 1 }
  return count
}
