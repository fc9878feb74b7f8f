// Starts threads of the system, with a stack size of our choice.

internal import Glibc

private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Starts a detached thread.
/// - Parameters:
///   - stackSize: In bytes. By default room for nested runs and for the depth that Lua allows in C,
///     whatever limit the process was started with.
///   - run: What it does.
package func startThread(stackSize: Int = 4 << 20, _ run: @escaping @Sendable () -> Void) {
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  pthread_attr_setstacksize(&attributes, stackSize)
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  var thread = pthread_t()
  let body = Unmanaged.passRetained(ThreadBody(run))
  let code = pthread_create(
    &thread, &attributes,
    { context in
      if let context { Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run() }
      return nil
    }, body.toOpaque())
  precondition(code == 0, "\(SystemError(call: "pthread_create", code: code))")
}
