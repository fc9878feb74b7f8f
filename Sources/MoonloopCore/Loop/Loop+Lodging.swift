// A loop that lodges in another one of the same thread, which pumps it.

internal import CLinuxShims

extension Loop {
  /// Makes a loop for another one of this thread to pump; they share their time.
  ///
  /// - Parameter touched: Called when a port of the loop gets a message on this thread, of which
  ///   the poll descriptor does not tell: ask for `nextDate`.
  /// - Throws: `SystemError` if the system refuses what a loop needs.
  package func makeLodger(
    _ name: String, touched: @escaping () -> Void
  ) throws(SystemError) -> Loop {
    requireThread("makeLodger")
    // The machine's time needs no mirror, and may go on to other threads.
    let kernel =
      clock.isMachines ? try LinuxKernel() : try LinuxKernel(Clock(mirroring: clock))
    let lodger = try Loop.makeIsolated(name, kernel)
    lodger.hooks.whenTouched = touched
    return lodger
  }

  /// Runs a body with this loop as the calling thread's, which goes on afterwards.
  package func inPlace<Result>(_ body: () throws -> Result) rethrows -> Result {
    requireThread("inPlace")
    let outer = cmx_thread_loop()
    cmx_set_thread_loop(Unmanaged.passUnretained(self).toOpaque())
    defer { cmx_set_thread_loop(outer) }
    return try body()
  }
}
