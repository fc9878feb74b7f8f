// Threads and the clock of the system.

import Glibc

/// Starts a detached thread of the system.
package func startSystemThread(_ body: @escaping @Sendable () -> Void) {
  final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  let box = Unmanaged.passRetained(Box(body))
  let status = pthread_create(
    &thread, nil,
    { context in
      Unmanaged<Box>.fromOpaque(context!).takeRetainedValue().body()
      return nil
    }, box.toOpaque())
  guard status == 0 else { fail("cannot start a thread: \(String(cString: strerror(status)))") }
  pthread_detach(thread)
}

/// The system's name for the calling thread.
package func currentThreadID() -> UInt { UInt(pthread_self()) }

package func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Ends the process because of a mistake in usage or in a file.
package func fail(_ message: String) -> Never {
  let line = Array("conformance: \(message)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
  exit(2)
}
