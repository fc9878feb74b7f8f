// The loop as the executor of actors: their jobs are performed on its thread.

extension Loop: SerialExecutor {
  /// Performs a job of an actor in the common modes, in order with the loop's blocks. Any thread.
  ///
  /// An actor pins itself to the loop by `nonisolated var unownedExecutor: UnownedSerialExecutor {
  /// loop.asUnownedSerialExecutor() }`. Jobs that still wait when the loop ends are never run: end
  /// the tasks first. Traps if the loop has ended.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    let request = perform(modes: [.common]) { job.runSynchronously(on: executor) }
    precondition(!request.isCancelled, "enqueue: \(name) has ended; nothing can run on it")
  }

  /// Traps unless the caller is on the loop's thread. Any thread.
  public func checkIsolated() { requireThread("checkIsolated") }
}
