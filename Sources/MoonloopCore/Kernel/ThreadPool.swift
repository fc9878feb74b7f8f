// Threads for calls that block: names are looked up there, and files are read.

/// A limited number of threads, started when there is work and gone when there is none. Any thread.
package final class ThreadPool: Sendable {
  /// Called once, on a thread of the pool; with the error, where the job was given, if the system
  /// refuses the only thread.
  package typealias Job = @Sendable (SystemError?) -> Void

  private struct State: ~Copyable {
    var threads = 0
    /// What no thread has begun.
    var waiting = Queue<Job>()
  }

  private let limit: Int
  private let stackSize: Int
  private let state = Guarded(State())

  /// - Parameter stackSize: Bytes for the stack of each thread.
  package init(limit: Int, stackSize: Int) {
    self.limit = limit
    self.stackSize = stackSize
  }

  /// Has a job done, after those that were given before if all threads are busy.
  package func run(_ job: @escaping Job) {
    let isNew = state.withLock { state in
      _ = state.waiting.append(job)
      if state.threads == limit { return false }
      state.threads += 1
      return true
    }
    if isNew { start() }
  }

  /// Starts a thread. If the system refuses the only one, the jobs fail.
  private func start() {
    do {
      try startThread(stackSize: stackSize, blocksSignals: true) {
        while let job = self.next() { job(nil) }
      }
    } catch {
      let isOnly = state.withLock { $0.threads == 1 }
      if !isOnly { return state.withLock { $0.threads -= 1 } }
      while let job = next() { job(error) }
    }
  }

  /// The next job for a thread; nil, and the thread counts no more, when there is none.
  private func next() -> Job? {
    state.withLock { state in
      let job = state.waiting.takeFirst()
      if job == nil { state.threads -= 1 }
      return job
    }
  }
}
