// Performs many scenarios in one process, several at a time, each on a thread of its own.

import Glibc

/// The trace of one scenario of a batch, and how its end is reported.
package final class BatchJob: Sendable {
  package let scenario: Scenario
  package let trace = Trace()
  private let index: Int
  private let done: Int32

  fileprivate init(_ scenario: Scenario, _ index: Int, done: Int32) {
    self.scenario = scenario
    self.index = index
    self.done = done
  }

  /// Ends the scenario, the first time it is called, and prints its line.
  package func finish(adding last: String? = nil) {
    guard let entries = trace.close(adding: last) else { return }
    let list = entries.map(JSON.quoted).joined(separator: ",")
    end(with: "\"trace\":[\(list)]", isOver: last == nil)
  }

  /// Ends the scenario with a trace that was made at once.
  package func finish(with entries: [String]) {
    for entry in entries { trace.add(entry) }
    finish()
  }

  /// Ends the scenario as one that cannot be run.
  package func refuse() {
    if trace.close() != nil { end(with: "\"unsupported\":true", isOver: true) }
  }

  private func end(with fields: String, isOver: Bool) {
    let line = Array("{\"id\":\(JSON.quoted(scenario.id)),\(fields)}\n".utf8)
    var rest = line[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0 && errno != EINTR { exit(2) }
      rest = rest.dropFirst(max(0, count))
    }
    _ = [Int32(index), isOver ? 0 : 1].withUnsafeBytes { write(done, $0.baseAddress, $0.count) }
  }

  /// Ends the scenario as one that goes no further, as does the calling thread.
  package func giveUp(adding last: String = "TIMEOUT") -> Never {
    finish(adding: last)
    while true { pause() }
  }
}

/// Performs many scenarios in one process.
package enum Batch {
  /// Performs scenarios, then ends the process, with status 3 if one took too long.
  ///
  /// A scenario of the main thread must be the only one, and this must be called there.
  /// - Parameters:
  ///   - jobs: How many are performed at the same time.
  ///   - limit: The nanoseconds after which one is given up. Its thread is left as it is.
  ///   - perform: Performs one on the calling thread, from the first object to the last step.
  package static func run(
    _ scenarios: [Scenario], jobs: Int, limit: UInt64,
    _ perform: @escaping @Sendable (BatchJob) -> Void
  ) -> Never {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { fail("cannot make a pipe") }
    let (read, write) = (ends[0], ends[1])
    guard let first = scenarios.first, first.onMainThread else {
      coordinate(scenarios, jobs, limit, (read, write)) { job in
        startSystemThread {
          perform(job)
          job.finish()
        }
      }
    }
    let main = BatchJob(first, 0, done: write)
    startSystemThread { coordinate([first], 1, limit, (read, write), using: main) { _ in } }
    perform(main)
    main.finish()
    while true { pause() }
  }

  private static func coordinate(
    _ scenarios: [Scenario], _ jobs: Int, _ limit: UInt64, _ done: (read: Int32, write: Int32),
    using main: BatchJob? = nil, start: (BatchJob) -> Void
  ) -> Never {
    var running: [Int: (job: BatchJob, deadline: UInt64)] = [:]
    var waiting = scenarios.enumerated().makeIterator()
    var status: Int32 = 0
    while true {
      while running.count < jobs, let (index, scenario) = waiting.next() {
        let job = main ?? BatchJob(scenario, index, done: done.write)
        running[index] = (job, monotonicNanoseconds() + limit)
        start(job)
      }
      // Threads that are still at work must not meet the process's destructors.
      if running.isEmpty { _exit(status) }
      var end = pollfd(fd: done.read, events: Int16(POLLIN), revents: 0)
      if poll(&end, 1, 50) > 0 {
        var message: [Int32] = [0, 0]
        _ = message.withUnsafeMutableBytes { Glibc.read(done.read, $0.baseAddress, $0.count) }
        running[Int(message[0])] = nil
        if message[1] != 0 { status = 3 }
      }
      let now = monotonicNanoseconds()
      for entry in running.values where entry.deadline < now { entry.job.finish(adding: "TIMEOUT") }
    }
  }
}
