// Runs many scenarios, each in a process of its own, several at a time, and reports on them.

import ConformanceFormat
import Glibc

struct Suite {
  private(set) var options: Options

  init(_ options: Options) { self.options = options }

  private enum Outcome {
    case passed
    /// It failed at first, but passed alone with stretched times: the machine was busy.
    case late(String)
    case skipped(String)
    case failed(String)
  }

  private struct Job {
    let path: String
    let scenario: Scenario
  }

  private struct Running {
    var child: Child
    let job: Int
    /// When it is killed, in nanoseconds of the monotonic clock.
    let deadline: UInt64
    /// The longest that this process was held up meanwhile, in nanoseconds.
    var longestStall: UInt64 = 0
  }

  /// The longest that this process sleeps while it waits, in milliseconds.
  private static let patience: UInt64 = 20

  /// - Returns: The exit status.
  func run() -> Int32 {
    var jobs: [Job] = []
    for path in options.files.flatMap(Self.files) {
      do { jobs.append(Job(path: path, scenario: try Scenario.read(file: path))) } catch {
        fail(error.message)
      }
    }
    if options.checksOnly {
      print("\(jobs.count) scenarios read")
      return 0
    }
    jobs = Array(repeatElement(jobs, count: options.times).joined())
    let outcomes = runAll(jobs)
    return report(
      jobs, options.retries && options.kernel == .real ? retry(jobs, outcomes) : outcomes)
  }

  /// The scenario files in a folder, by name; a file stands for itself.
  private static func files(_ path: String) -> [String] {
    guard let folder = opendir(path) else { return [path] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(".json") { names.append(name) }
    }
    return names.sorted().map { "\(path)/\($0)" }
  }

  // MARK: Processes

  private func runAll(_ jobs: [Job]) -> [Outcome] {
    var outcomes: [Outcome?] = jobs.map { job in
      Driver.reasonNotToRun(job.scenario, options).map { .skipped($0) }
    }
    var waiting = jobs.indices.filter { outcomes[$0] == nil }[...]
    var running: [Running] = []
    while !waiting.isEmpty || !running.isEmpty {
      while running.count < options.jobs, let job = waiting.popFirst() {
        do { running.append(try start(jobs[job], job)) } catch { fail(error.message) }
      }
      var descriptors = running.map {
        pollfd(fd: $0.child.output, events: Int16(POLLIN), revents: 0)
      }
      let before = monotonicNanoseconds()
      _ = poll(&descriptors, nfds_t(descriptors.count), Int32(Self.patience))
      let pause = monotonicNanoseconds() - before
      let stall = pause - min(pause, Self.patience * 1_000_000)
      for index in running.indices.reversed() {
        running[index].longestStall = max(running[index].longestStall, stall)
        if descriptors[index].revents != 0, !running[index].child.readOutput() {
          let ended = running.remove(at: index)
          outcomes[ended.job] = outcome(of: ended, jobs[ended.job].scenario)
        } else if monotonicNanoseconds() > running[index].deadline {
          let hung = running.remove(at: index)
          hung.child.kill()
          _ = hung.child.finish()
          outcomes[hung.job] = .failed("neither finished nor gave up")
        }
      }
    }
    return outcomes.map { $0! }
  }

  private func start(_ job: Job, _ index: Int) throws(FormatError) -> Running {
    let child = try Child(
      program: options.face == .cf ? "ConformanceReference" : nil,
      arguments: [
        "--face", options.face.rawValue, "--kernel", options.kernel.rawValue, "--json", job.path,
      ])
    // It gives up by itself; this is for one that cannot.
    let limit = UInt64(Scenario.limit * timeScale() + 10_000_000_000)
    return Running(child: child, job: index, deadline: monotonicNanoseconds() + limit)
  }

  /// Runs failures once more, one at a time and stretched: what was late on a busy machine then
  /// passes, and is reported as such; a real failure fails again.
  private func retry(_ jobs: [Job], _ outcomes: [Outcome]) -> [Outcome] {
    var slow = self
    slow.options.jobs = 1
    let scale = getenv("CONFORMANCE_SCALE").map { String(cString: $0) }
    setenv("CONFORMANCE_SCALE", String(timeScale() * 5), 1)
    defer {
      if let scale { setenv("CONFORMANCE_SCALE", scale, 1) } else { unsetenv("CONFORMANCE_SCALE") }
    }
    return zip(jobs, outcomes).map { job, outcome in
      guard case .failed(let difference) = outcome else { return outcome }
      guard case .passed = slow.runAll([job])[0] else { return outcome }
      return .late(difference)
    }
  }

  // MARK: Comparison

  private func outcome(of running: Running, _ scenario: Scenario) -> Outcome {
    let child = running.child
    if let failure = child.finish() { return .failed(failure) }
    if String(decoding: child.text, as: UTF8.self).hasSuffix("\"unsupported\":true}\n") {
      return .skipped("it was refused")
    }
    guard let trace = trace(in: child.text, of: scenario) else {
      return .failed("printed no trace: \(String(decoding: child.text, as: UTF8.self))")
    }
    guard var difference = compare(trace, expected(of: scenario)) else { return .passed }
    if options.face.isEither, trace == scenario.expect { return .passed }
    if options.kernel == .real, running.longestStall > 20_000_000 {
      difference +=
        " (the machine stood still for \(running.longestStall / 1_000_000) ms meanwhile)"
    }
    return .failed(difference)
  }

  private func expected(of scenario: Scenario) -> [String] {
    options.face.isCF || options.face.isEither ? scenario.cf ?? scenario.expect : scenario.expect
  }

  private func trace(in text: [UInt8], of scenario: Scenario) -> [String]? {
    guard var fields = try? Fields(JSON.parse(text), place: "line"),
      (try? fields.string("id")) == scenario.id
    else { return nil }
    return try? fields.strings("trace")
  }

  /// - Returns: The first difference; nil if there is none.
  private func compare(_ trace: [String], _ expect: [String]) -> String? {
    func entry(_ entries: [String], _ index: Int) -> String {
      index < entries.count ? "\"\(entries[index])\"" : "the end"
    }
    let count = max(trace.count, expect.count)
    guard
      let index = (0..<count).first(where: {
        $0 >= trace.count || $0 >= expect.count || trace[$0] != expect[$0]
      })
    else { return nil }
    return "entry \(index + 1) is \(entry(trace, index)), expected \(entry(expect, index))"
  }

  private func report(_ jobs: [Job], _ outcomes: [Outcome]) -> Int32 {
    var passed = 0
    var failed = 0
    var skipped = 0
    for (job, outcome) in zip(jobs, outcomes) {
      switch outcome {
      case .passed: passed += 1
      case .late(let difference):
        passed += 1
        print("LATE \(job.scenario.id): \(difference); passed when stretched 5-fold")
      case .skipped(let reason):
        skipped += 1
        print("SKIP \(job.scenario.id): \(reason)")
      case .failed(let difference):
        failed += 1
        print("FAIL \(job.scenario.id): \(difference)")
      }
    }
    print("\(passed) passed, \(failed) failed" + (skipped == 0 ? "" : ", \(skipped) skipped"))
    return failed == 0 ? 0 : 1
  }
}
