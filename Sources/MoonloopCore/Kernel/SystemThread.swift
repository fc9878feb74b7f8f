// Starts threads of the system, with a name, a stack size of our choice, and no signals.

internal import CLinuxShims
internal import Glibc

private final class ThreadBody: Sendable {
  let name: String
  let run: @Sendable () -> Void

  init(_ name: String, _ run: @escaping @Sendable () -> Void) {
    self.name = name
    self.run = run
  }
}

/// Starts a detached thread.
/// - Parameters:
///   - name: What the system calls it, cut to 15 bytes; empty: as its maker.
///   - stackSize: In bytes. By default room for nested runs and for the depth that Lua allows in C,
///     whatever limit the process was started with.
///   - blocksSignals: Whether other threads take the program's signals.
///   - run: The thread's code.
/// - Throws: `SystemError` if the system refuses; then `run` is not called.
package func startThread(
  name: String = "", stackSize: Int = 4 << 20, blocksSignals: Bool = false,
  _ run: @escaping @Sendable () -> Void
) throws(SystemError) {
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  pthread_attr_setstacksize(&attributes, stackSize)
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  var thread = pthread_t()
  var mask = sigset_t()
  if blocksSignals {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &mask)  // inherited by the new thread
  }
  let body = Unmanaged.passRetained(ThreadBody(name, run))
  let code = pthread_create(
    &thread, &attributes,
    { context in
      guard let context else { return nil }
      let body = Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue()
      if !body.name.isEmpty { cmx_name_thread(body.name) }
      body.run()
      return nil
    }, body.toOpaque())
  if blocksSignals { pthread_sigmask(SIG_SETMASK, &mask, nil) }
  if code != 0 {
    body.release()
    throw SystemError(call: "pthread_create", code: code)
  }
}
