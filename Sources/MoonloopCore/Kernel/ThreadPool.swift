// Threads for calls that block: names are looked up there, and files are read.

/// At most so many threads, started when there is work and gone when there is none. Any thread.
package final class ThreadPool: Sendable {
  /// Called once, on a thread of the pool; with the error, where the job was given, if the system
  /// refuses the only thread.
  package typealias Job = @Sendable (SystemError?) -> Void

  private struct State {
    var threads = 0
    var waiting: [Job] = []
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
      if state.threads == limit {
        state.waiting.append(job)
        return false
      }
      state.threads += 1
      return true
    }
    if isNew { start(job) }
  }

  /// Starts a thread. If the system refuses the first, the jobs fail.
  private func start(_ job: @escaping Job) {
    do {
      try startThread(stackSize: stackSize, blocksSignals: true) { self.work(job) }
    } catch {
      let rest = state.withLock { state in
        state.threads -= 1
        defer { if state.threads == 0 { state.waiting = [] } }
        return state.threads == 0 ? state.waiting : []
      }
      for job in [job] + rest { job(error) }
    }
  }

  /// Runs a thread: it ends when no job is waiting.
  private func work(_ first: @escaping Job) {
    var next: Job? = first
    while let job = next {
      job(nil)
      next = state.withLock { state in
        if state.waiting.isEmpty {
          state.threads -= 1
          return nil
        }
        return state.waiting.removeFirst()
      }
    }
  }
}
