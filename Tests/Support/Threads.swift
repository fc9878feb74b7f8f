// Threads that tests start and wait for.

import Glibc

/// Runs a closure on a thread of its own and waits for it.
/// - Parameter stackBytes: The size of its stack; nil: the system's own.
package func onThread(stackBytes: Int? = nil, _ body: @escaping @Sendable () -> Void) {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  if let stackBytes { pthread_attr_setstacksize(&attributes, stackBytes) }
  var thread = pthread_t()
  pthread_create(
    &thread, &attributes,
    {
      Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Box(body)).toOpaque())
  pthread_join(thread, nil)
  pthread_attr_destroy(&attributes)
}
