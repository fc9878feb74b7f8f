// The loop as the executor of actors: their jobs are performed on its thread.

internal import Synchronization

extension Loop: SerialExecutor {
  /// Performs a job of an actor in the common modes, in order with the loop's blocks. Any thread.
  ///
  /// An actor pins itself to the loop by `nonisolated var unownedExecutor: UnownedSerialExecutor {
  /// loop.asUnownedSerialExecutor() }`. While a job is performed no other is, also in a run that it
  /// begins, unless that asks for them: see `run`. When the loop has ended its jobs are performed
  /// on a thread of their own, one after the other, so that those that wait for them go on: items
  /// cannot be added then, and Lua states are closed.
  public func enqueue(_ job: consuming ExecutorJob) {
    enqueue(UnownedJob(job)) { [self] in $0.runSynchronously(on: asUnownedSerialExecutor()) }
  }

  /// - Parameter run: Runs the job, on the loop's thread.
  func enqueue(_ job: UnownedJob, run: @escaping @Sendable (UnownedJob) -> Void) {
    let queued = QueuedBlock(
      modes: [.common], asSource: false, request: PerformRequest(), job: job
    ) { [self] in
      let outer = pending.holdsJobs
      pending.holdsJobs = true
      run(job)
      pending.holdsJobs = outer
    }
    // What the loop has taken is its own, also if it ends at this moment.
    if accept(queued) { wakeUp() } else { shared.lateJobs.append(job, of: self) }
  }

  /// Stops the program unless the caller is on the loop's thread. Any thread.
  public func checkIsolated() { requireThread("checkIsolated") }
}

/// The jobs of actors that are left when their loop ends, and those that come later: a job cannot
/// be cancelled, and a caller waits for each. Any thread.
final class LateJobs: Sendable {
  private struct Content {
    var jobs: [UnownedJob] = []
    /// Whether the loop has finished ending.
    var hasBegun = false
    /// Whether a thread is at work on them.
    var isServed = false

    /// Whether a thread must be started.
    mutating func needsThread() -> Bool {
      if !hasBegun || isServed || jobs.isEmpty { return false }
      isServed = true
      return true
    }
  }
  private let content = Guarded(Content())

  /// The loop has ended and left these jobs.
  func begin(with jobs: [UnownedJob], of loop: Loop) {
    let starts = content.withLock { content in
      content.jobs = jobs + content.jobs
      content.hasBegun = true
      return content.needsThread()
    }
    if starts { start(loop) }
  }

  func append(_ job: UnownedJob, of loop: Loop) {
    let starts = content.withLock { content in
      content.jobs.append(job)
      return content.needsThread()
    }
    if starts { start(loop) }
  }

  private func start(_ loop: Loop) {
    do {
      try startThread(name: "late jobs", blocksSignals: true) {
        while let jobs = self.take() {
          loop.takeOver {
            for job in jobs { job.runSynchronously(on: loop.asUnownedSerialExecutor()) }
          }
        }
      }
    } catch {
      fatalError("enqueue: \(loop.name) has ended, and no thread can be had for its jobs: \(error)")
    }
  }

  /// All that wait; nil if none does, and the thread is done.
  private func take() -> [UnownedJob]? {
    content.withLock { content in
      if content.jobs.isEmpty {
        content.isServed = false
        return nil
      }
      defer { content.jobs = [] }
      return content.jobs
    }
  }
}
