// The loop as the executor of actors: jobs in nested runs, and jobs of a loop that has ended.

internal import MoonloopCore
internal import Testing

@Suite struct ExecutorTests {
  private actor Reentrant {
    private let loop: Loop
    private(set) var trace: [String] = []

    init(_ loop: Loop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func outer(performsJobs: Bool) -> Task<Void, Never> {
      trace.append("outer begins")
      let other = Task { note("other") }
      loop.perform { [self] in assumeIsolated { $0.trace.append("block") } }
      for _ in 1...2 { loop.run(mode: .default, for: .zero, performsJobs: performsJobs) }
      trace.append("outer ends")
      return other
    }

    func note(_ line: String) { trace.append(line) }
  }

  @Test(arguments: [false, true])
  func `a nested run performs no job in the middle of another, unless it asks for them`(
    asks: Bool
  ) async {
    let thread = LoopThread(name: "reentrant")
    let actor = Reentrant(thread.loop)
    await actor.outer(performsJobs: asks).value
    let trace = await actor.trace
    #expect(
      trace
        == (asks
          ? ["outer begins", "other", "block", "outer ends"]
          : ["outer begins", "block", "outer ends", "other"]))
    thread.stop()
    #expect(thread.join(timeout: .seconds(60)))
  }

  private actor Late {
    private let loop: Loop
    private var count = 0

    init(_ loop: Loop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func increment() -> Int {
      assertIsolated()
      count += 1
      return count
    }

    /// The results of everything that a job may ask of a loop that has ended.
    func use() -> String {
      let timer = loop.schedule(after: .zero) { _ in }
      let observer = loop.observe { _, _ in }
      let result = loop.run(mode: .default, for: .seconds(1))
      return "\(timer.isValid) \(observer.isValid) \(result) \(loop.modeNames)"
    }
  }

  @Test func `an actor whose loop has ended goes on, one job after the other`() async {
    let thread = LoopThread(name: "ends")
    let actor = Late(thread.loop)
    #expect(await actor.increment() == 1)
    thread.stop()
    #expect(thread.join(timeout: .seconds(60)))
    let counts = await withTaskGroup(of: Int.self) { group in
      for _ in 1...50 { group.addTask { await actor.increment() } }
      return await group.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    #expect(counts == Set(2...51))
    #expect(await actor.use() == "false false finished [default]")
  }

  @Test func `a job that comes while the loop ends is performed once`() async {
    for _ in 1...400 {
      let thread = LoopThread(name: "ends")
      let actor = Late(thread.loop)
      await withTaskGroup(of: Void.self) { group in
        for task in 1...9 {
          group.addTask { if task == 5 { thread.stop() } else { _ = await actor.increment() } }
        }
      }
      #expect(await actor.increment() == 9)
    }
  }
}
