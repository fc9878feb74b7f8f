// Other threads against a loop, on the real kernel: nothing is lost, races or hangs.
//
// The counts are those of an ordinary run; ThreadSanitizer runs a twentieth. MOONLOOP_THREAD_SCALE
// sets another factor.

internal import Glibc
internal import MoonloopCore
internal import Synchronization
internal import Testing

@Suite(.serialized) struct ThreadTests {
  static let scale: Double = {
    if let text = getenv("MOONLOOP_THREAD_SCALE"), let scale = Double(String(cString: text)) {
      return scale
    }
    if dlsym(nil, "__tsan_init") != nil { return 0.05 }
    return dlsym(nil, "__asan_init") == nil ? 1 : 0.1
  }()

  static func scaled(_ count: Int) -> Int { max(50, Int(Double(count) * scale)) }

  @Test func `a loop belongs to a thread, is made on request, and ends with it`() throws {
    // R1, R2
    let box = Guarded<[Loop]>([])
    let cancelled = Atomic<Int>(0)
    let ends = Crew()
    for _ in 0..<2 {
      ends.start {
        let loop = Loop.current
        #expect(Loop.current === loop)
        let source = Loop.Source(
          cancel: { _, _, _ in cancelled.add(1, ordering: .relaxed) }, perform: { _ in })
        #expect(throws: Never.self) { try loop.add(source, modes: ["a", "b"]) }
        box.withLock { $0.append(loop) }
      }
    }
    ends.join()
    let loops = box.withLock { $0 }
    #expect(loops.count == 2 && loops[0] !== loops[1])
    #expect(cancelled.load(ordering: .relaxed) == 4)
    for loop in loops {
      #expect(loop.hasEnded)
      #expect(!loop.stop())
      loop.wakeUp()
      #expect(loop.perform {}.isCancelled)
      #expect(!loop.change { _ in })
      #expect(loop.performAndWait {} == .ended)
      #expect(!loop.changeAndWait { _ in })
    }
  }

  @Test func `no wake-up of a million signals is lost`() throws {
    // R3, R39, R117: each thread counts up, signals and wakes, and then waits for the answer.
    let threads = 4
    let rounds = Self.scaled(250_000)
    let served = RunningLoop()
    let sent = Counters(threads)
    let seen = Counters(threads)
    let crew = Crew()
    for thread in 0..<threads {
      let source = served.addSource { seen.store(thread, sent.load(thread)) }
      crew.start {
        for round in 1...rounds {
          sent.store(thread, round)
          source.signal()
          served.loop.wakeUp()
          // Now and then the answer is waited for; else signals may be coalesced.
          if round % 64 == 0 || round == rounds {
            if !eventually({ seen.load(thread) >= round }) {
              Issue.record("thread \(thread): signal \(round) was not seen in time")
              return
            }
          }
        }
      }
    }
    crew.join()
    for thread in 0..<threads { #expect(seen.load(thread) == rounds) }
    served.end()
  }

  @Test func `posts from eight threads while loops start, run and end`() throws {
    // R3, R16, R118: a thread may end while others hold its loop.
    let current = Guarded<Loop?>(nil)
    let isOver = Atomic<Bool>(false)
    let performed = Atomic<Int>(0)
    let crew = Crew()
    for thread in 0..<8 {
      crew.start {
        var random = Random(seed: UInt64(thread) + 1)
        while !isOver.load(ordering: .acquiring) {
          guard let loop = current.withLock({ $0 }), loop.shared.inbox.waiting < 500 else {
            sched_yield()
            continue
          }
          switch random.below(6) {
          case 0: loop.perform { performed.add(1, ordering: .relaxed) }
          case 1:
            loop.perform(wakes: false, asSource: true) { performed.add(1, ordering: .relaxed) }
          case 2: loop.wakeUp()
          case 3: loop.stop()
          case 4: loop.change { loop in loop.schedule(after: .zero) { _ in } }
          default:
            let source = Loop.Source { $0.invalidate() }
            loop.change { loop in try? loop.add(source) }
            source.signal()
          }
        }
      }
    }
    for number in 0..<Self.scaled(1_000) {
      let one = Crew()
      one.start {
        let loop = Loop.current
        current.withLock { $0 = loop }
        for _ in 0..<3 { loop.run(for: .microseconds(200)) }
        if number.isMultiple(of: 2) { current.withLock { $0 = nil } }
      }
      one.join()
    }
    isOver.store(true, ordering: .releasing)
    crew.join()
    #expect(performed.load(ordering: .relaxed) > 0)
  }

  @Test func `perform and wait performs, times out, or says that the loop has ended`() throws {
    // R113
    let served = RunningLoop()
    let ran = Atomic<Int>(0)
    for _ in 0..<Self.scaled(2_000) {
      #expect(served.loop.performAndWait { ran.add(1, ordering: .relaxed) } == .performed)
    }
    #expect(ran.load(ordering: .relaxed) == Self.scaled(2_000))
    #expect(
      served.loop.performAndWait(modes: ["never run"], timeout: .milliseconds(1)) {}
        == .timedOut(.otherModeOrBusy))
    served.end()
    #expect(served.loop.performAndWait {} == .ended)
  }

  @Test func `a wait without a limit ends when the loop ends`() throws {
    // R113, and the trap of the hidden thread.
    for waitsForChange in [false, true] {
      let box = Guarded<Loop?>(nil)
      let mayEnd = Atomic<Bool>(false)
      let owner = Crew()
      owner.start {
        let loop = Loop.current
        box.withLock { $0 = loop }
        _ = eventually { mayEnd.load(ordering: .acquiring) && loop.shared.inbox.waiting > 0 }
        // The request is accepted, but never performed.
        if !waitsForChange { loop.run(mode: "empty") }
      }
      _ = eventually { box.withLock { $0 != nil } }
      let loop = try #require(box.withLock { $0 })
      mayEnd.store(true, ordering: .releasing)
      if waitsForChange {
        #expect(!loop.changeAndWait { _ in })
      } else {
        #expect(loop.performAndWait(modes: ["other"]) {} == .ended)
      }
      owner.join()
    }
  }

  @Test func `a stop that says it met a run ends it, and the second form is never lost`() throws {
    // R15, R16, R99: the joining thread never hangs.
    for remembers in [false, true] {
      for _ in 0..<Self.scaled(1_000) {
        let box = Guarded<Loop?>(nil)
        let owner = Crew()
        owner.start {
          let loop = Loop.current
          loop.perform(modes: ["other"]) {}
          let source = Loop.Source { _ in }
          try? loop.add(source)
          box.withLock { $0 = loop }
          #expect(loop.run(for: .seconds(20)) == .stopped)
        }
        _ = eventually { box.withLock { $0 != nil } }
        guard let loop = box.withLock({ $0 }) else { return }
        if remembers { loop.stopWhenNextLooking() } else { _ = eventually { loop.stop() } }
        owner.join()
      }
    }
  }

  @Test func `changes are invisible to a sleeping loop, adding a source is not`() throws {
    // R50, R85
    let served = RunningLoop()
    let passes = { () -> UInt64 in
      let box = Guarded<UInt64>(0)
      served.loop.changeAndWait { loop in box.withLock { $0 = loop.passes } }
      return box.withLock { $0 }
    }
    _ = eventually { served.loop.isWaiting }
    let before = passes()
    for _ in 0..<100 {
      served.loop.changeAndWait { loop in loop.schedule(after: .seconds(1000)) { $0.invalidate() } }
    }
    #expect(passes() == before)
    let wasPerformed = Atomic<Bool>(false)
    served.loop.change { loop in
      let source = Loop.Source { _ in wasPerformed.store(true, ordering: .releasing) }
      try? loop.add(source)
      source.signal()
    }
    #expect(eventually { wasPerformed.load(ordering: .acquiring) })
    served.end()
  }

  @Test func `a source in two loops is performed once for each signal that is seen`() throws {
    // R48, R127: also while one of the two threads invalidates it.
    for _ in 0..<Self.scaled(300) {
      let one = RunningLoop()
      let two = RunningLoop()
      let count = Atomic<Int>(0)
      let source = Loop.Source { _ in count.add(1, ordering: .relaxed) }
      one.loop.changeAndWait { try? $0.add(source) }
      two.loop.changeAndWait { try? $0.add(source) }
      for _ in 0..<20 {
        source.signal()
        one.loop.wakeUp()
        two.loop.wakeUp()
      }
      #expect(eventually { !source.isSignalled })
      source.signal()
      one.loop.wakeUp()
      two.loop.wakeUp()
      one.loop.changeAndWait { _ in source.invalidate() }
      one.end()
      two.end()
      #expect(count.load(ordering: .relaxed) >= 1 && count.load(ordering: .relaxed) <= 21)
    }
  }

  @Test func `a source that one thread alone handles gets each signal of another`() throws {
    // R39: it has one mark for its own thread and one for the others; neither loses a signal.
    let served = RunningLoop()
    let sent = Atomic<Int>(0)
    let seen = Atomic<Int>(0)
    let calls = Atomic<Int>(0)
    let source = Loop.Source(
      order: 0, name: "", schedule: nil, cancel: nil, isConfined: true
    ) { source in
      seen.store(sent.load(ordering: .relaxed), ordering: .relaxed)
      // Every other call answers a signal of its own.
      if calls.add(1, ordering: .relaxed).newValue % 2 == 1 { source.signal() }
    }
    served.loop.changeAndWait { try? $0.add(source) }
    for number in 1...Self.scaled(20_000) {
      sent.store(number, ordering: .relaxed)
      source.signal()
      served.loop.wakeUp()
      try #require(eventually { seen.load(ordering: .relaxed) == number }, "signal \(number)")
    }
    served.loop.changeAndWait { _ in source.invalidate() }
    served.end()
  }

  @Test func `what was written before a signal that is not repeated is seen`() throws {
    // R39, R117: a signal or wake-up that is pending already is not repeated.
    let served = RunningLoop()
    let sent = Atomic<Int>(0)
    let seen = Atomic<Int>(0)
    let source = Loop.Source { _ in
      seen.store(sent.load(ordering: .relaxed), ordering: .relaxed)
    }
    served.loop.changeAndWait { try? $0.add(source) }
    for round in 1...Self.scaled(20_000) {
      for number in round * 10..<round * 10 + 3 {
        sent.store(number, ordering: .relaxed)
        source.signal()
        served.loop.wakeUp()
      }
      let last = round * 10 + 2
      try #require(eventually { seen.load(ordering: .relaxed) == last }, "round \(round)")
    }
    served.loop.changeAndWait { _ in source.invalidate() }
    served.end()
  }

  @Test func `messages between loops are neither lost nor doubled nor reordered`() throws {
    // R54, R55
    let count = Self.scaled(100_000)
    let served = RunningLoop()
    let got = Guarded<[Int]>([])
    let port = Loop.Port(capacity: 1_000) { _, message in
      if let number = message as? Int { got.withLock { $0.append(number) } }
    }
    served.loop.changeAndWait { try? $0.add(port) }
    for number in 0..<count {
      while true {
        do {
          try port.post(number)
          break
        } catch { sched_yield() }
      }
    }
    #expect(eventually { got.withLock { $0.count } >= count })
    #expect(got.withLock { $0 } == Array(0..<count))
    served.end()
  }
}

// MARK: - Helpers

/// Waits for a condition, at most half a minute, which only a failure takes.
func eventually(_ condition: () -> Bool) -> Bool {
  var rounds = 0
  let limit = cmxLimit()
  while !condition() {
    rounds += 1
    if rounds > 50 { sched_yield() }
    if rounds % 1024 == 0 && cmxLimit() - limit > 30 { return false }
  }
  return true
}

private func cmxLimit() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec
}

/// Numbers that several threads read and write. Unchecked Sendable: each is atomic.
private final class Counters: @unchecked Sendable {
  private final class Cell { let value = Atomic<Int>(0) }
  private let cells: [Cell]
  init(_ count: Int) { cells = (0..<count).map { _ in Cell() } }
  func load(_ index: Int) -> Int { cells[index].value.load(ordering: .acquiring) }
  func store(_ index: Int, _ value: Int) {
    cells[index].value.store(value, ordering: .releasing)
  }
}

/// Threads that are joined. Unchecked Sendable: used by the thread that made it.
final class Crew: @unchecked Sendable {
  private var threads: [pthread_t] = []
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  func start(_ run: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let body = Unmanaged.passRetained(Body(run))
    let code = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, body.toOpaque())
    precondition(code == 0, "pthread_create: \(code)")
    threads.append(thread)
  }

  func join() {
    for thread in threads { pthread_join(thread, nil) }
    threads = []
  }
}

/// A loop on a thread of its own that runs until it is ended. Unchecked Sendable: nothing changes.
final class RunningLoop: @unchecked Sendable {
  let loop: Loop
  private let crew = Crew()

  init() {
    let box = Guarded<Loop?>(nil)
    let held = Held(box: consume box)
    crew.start {
      let loop = Loop.current
      let holder = Loop.Source(name: "holds the run") { _ in }
      try? loop.add(holder)
      held.box.withLock { $0 = loop }
      loop.run()
      holder.invalidate()
    }
    _ = eventually { held.box.withLock { $0 != nil } }
    loop = held.box.withLock { $0! }
  }

  private final class Held: Sendable {
    let box: Guarded<Loop?>
    init(box: consuming sending Guarded<Loop?>) { self.box = box }
  }

  func addSource(_ perform: @escaping @Sendable () -> Void) -> Loop.Source {
    let source = Loop.Source { _ in perform() }
    loop.changeAndWait { try? $0.add(source) }
    return source
  }

  /// Ends the run and waits for the thread.
  func end() {
    loop.stopWhenNextLooking()
    crew.join()
  }
}
