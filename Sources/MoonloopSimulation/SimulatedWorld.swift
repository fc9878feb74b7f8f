// A world without real time: the threads, clocks and descriptors that simulated kernels share.

internal import Glibc
package import MoonloopCore

/// Threads that take turns, and a time that passes only when all of them are blocked.
///
/// Only one thread runs at a time: the one with the *baton*. It passes the baton on when it blocks:
/// in a kernel's `wait`, a gate's `wait`, `sleep`, `join`, or at its end. The next is the thread
/// that became runnable first. When all are blocked, time jumps to the earliest deadline, and the
/// threads with that deadline become runnable, in the order in which they blocked. So the same
/// program has the same trace every time, on real threads.
///
/// A thread from outside the world may wake kernels, open gates and release holds. If it blocks, it
/// joins the world for that time; a program with one thread needs no more.
///
/// Unchecked Sendable: `lock` protects every variable, here and in the objects of the world
/// (`SimulatedThread`, `SimulatedKernel`, `SimulatedFile`).
package final class SimulatedWorld: TimeSource, @unchecked Sendable {
  let lock = WorldLock()
  private(set) var time: Int64
  private var wallOffset: Int64

  /// The thread with the baton.
  private var running: SimulatedThread?
  /// Threads waiting for the baton, first come, first served.
  private var runnable: [SimulatedThread] = []
  /// Threads waiting for something else, in order of blocking.
  private var blocked: [SimulatedThread] = []
  private var threads: [UInt: SimulatedThread] = [:]
  private var kernels: [WeakKernel] = []

  /// The descriptors, by number.
  var files: [Int32: SimulatedFile] = [:]
  /// There is no lower free number.
  var firstFree: Int32 = 1_000_000
  var readinessOrder = ReadinessOrder.arrival
  private var deadlockHandler: (@Sendable (String) -> Void)?

  /// Input on its way from outside: while there is any, time does not jump.
  package let holds = Holds()

  /// Makes a world.
  /// - Parameters:
  ///   - start: Its first time, in nanoseconds.
  ///   - wall: Its first wall time, in nanoseconds since 1970; by default a day in 2001.
  package init(start: Int64 = 0, wall: Int64 = 1_000_000_000_000_000_000) {
    time = start
    wallOffset = wall.subtractingSaturated(start)
    holds.whenReleased { [weak self] in self?.reconsider() }
  }

  // MARK: Time

  /// The time of the world, in nanoseconds.
  package var now: Int64 { lock.locked { time } }

  /// The wall clock of the world, in nanoseconds since 1970.
  package var wallTime: Int64 { lock.locked { time.addingSaturated(wallOffset) } }

  /// Blocks the calling thread for a time; 0 lets all other runnable threads go first.
  package func sleep(_ nanoseconds: Int64) {
    asThread { thread in
      let deadline = time.addingSaturated(max(0, nanoseconds))
      repeat { block(thread, "sleep", until: deadline) } while time < deadline
    }
  }

  /// Sets the wall clock forward, or back if negative. The kernels that watch it notice.
  package func stepWallClock(by nanoseconds: Int64) {
    lock.locked {
      wallOffset = wallOffset.addingSaturated(nanoseconds)
      for kernel in kernels { kernel.object?.wallClockHasStepped(by: nanoseconds) }
    }
  }

  /// Sets the order in which a poll reports descriptors that are ready together.
  package func setReadinessOrder(_ order: ReadinessOrder) { lock.locked { readinessOrder = order } }

  // MARK: Threads

  /// Runs a body as a thread of the world, on the calling thread.
  package func run<Value>(_ name: String = "main", _ body: () throws -> Value) rethrows -> Value {
    if lock.locked({ threads[Self.threadKey] != nil }) { return try body() }
    let thread = lock.locked { attach(name) }
    defer { lock.locked { end(thread) } }
    return try body()
  }

  /// Starts another thread of the world. It first runs when the caller blocks.
  package func thread(
    _ name: String, _ body: @escaping @Sendable () -> Void
  ) -> SimulatedThread {
    let thread = SimulatedThread(name: name)
    lock.locked { makeRunnable(thread) }
    do {
      try startThread { [self] in
        thread.takeBaton()
        lock.locked { threads[Self.threadKey] = thread }
        body()
        lock.locked { end(thread) }
      }
    } catch { fatalError("thread '\(name)': \(error)") }
    return thread
  }

  /// Blocks the calling thread until another has ended.
  package func join(_ other: SimulatedThread) {
    asThread { thread in
      while !other.hasEnded {
        other.joining.append(thread)
        block(thread, "join of '\(other.name)'", until: .max)
      }
    }
  }

  /// Sets what to do when every thread is blocked forever; by default the process ends.
  ///
  /// Called by the thread that blocked last, and may wake something; otherwise all stay blocked
  /// until a thread from outside wakes them. The text names each thread and what it waits for.
  package func whenDeadlocked(_ handler: @escaping @Sendable (String) -> Void) {
    lock.locked { deadlockHandler = handler }
  }
}

/// The order in which a poll reports descriptors that are ready together.
package enum ReadinessOrder: Sendable {
  /// The order of becoming ready; what was reported goes to the end, as in epoll.
  case arrival
  /// A random order, from a seed.
  case seeded(UInt64)
}

// MARK: - For the objects of the world

/// All of these are called, and return, with the lock held.
extension SimulatedWorld {
  func add(_ kernel: SimulatedKernel) {
    kernels.removeAll { $0.object == nil }
    kernels.append(WeakKernel(object: kernel))
  }

  /// Whether a thread waits for the baton.
  var hasRunnable: Bool { !runnable.isEmpty }

  /// Blocks the thread with the baton until it is made runnable or the time has come.
  func block(_ thread: SimulatedThread, _ reason: @autoclosure () -> String, until deadline: Int64)
  {
    thread.reason = reason()
    thread.deadline = deadline
    blocked.append(thread)
    running = nil
    pass(from: thread)
  }

  /// Makes a blocked or new thread wait for the baton; no effect on others.
  func makeRunnable(_ thread: SimulatedThread) {
    if let index = blocked.firstIndex(where: { $0 === thread }) {
      blocked.remove(at: index)
    } else if thread.isKnown {
      return
    }
    thread.isKnown = true
    runnable.append(thread)
    if running == nil { _ = handBaton() }
  }

  /// Runs a body as a thread of the world, with the lock held.
  func asThread<Value>(_ body: (SimulatedThread) throws -> Value) rethrows -> Value {
    lock.lock()
    defer { lock.unlock() }
    if let thread = threads[Self.threadKey] { return try body(thread) }
    let guest = attach("guest")
    // It may wake those it leaves behind later, so they are not deadlocked.
    defer { end(guest, reportsDeadlock: false) }
    return try body(guest)
  }
}

// MARK: - The baton

extension SimulatedWorld {
  private static var threadKey: UInt { UInt(pthread_self()) }

  private func attach(_ name: String) -> SimulatedThread {
    let thread = SimulatedThread(name: name)
    thread.isKnown = true
    threads[Self.threadKey] = thread
    runnable.append(thread)
    pass(from: thread)
    return thread
  }

  private func end(_ thread: SimulatedThread, reportsDeadlock: Bool = true) {
    threads[Self.threadKey] = nil
    thread.hasEnded = true
    thread.joining.forEach(makeRunnable)
    thread.joining = []
    running = nil
    pass(from: nil, reportsDeadlock: reportsDeadlock)
  }

  /// Passes the baton on, and waits until `thread` gets it back.
  private func pass(from thread: SimulatedThread?, reportsDeadlock: Bool = true) {
    let report = running == nil ? handBaton(from: thread) : nil
    let deadlock = reportsDeadlock ? report : nil
    if running === thread, deadlock == nil { return }
    let handler = deadlockHandler
    lock.unlock()
    if let deadlock {
      guard let handler else { fatalError(deadlock) }
      handler(deadlock)
    }
    thread?.takeBaton()
    lock.lock()
  }

  /// Passes the free baton to the next thread, if there is one.
  /// - Returns: The report, if all are blocked forever.
  private func handBaton(from blocking: SimulatedThread? = nil) -> String? {
    if runnable.isEmpty, let deadlock = passTime() { return deadlock }
    if runnable.isEmpty { return nil }
    let next = runnable.removeFirst()
    running = next
    if next !== blocking { next.giveBaton() }
    return nil
  }

  /// Advances time until a thread is runnable.
  private func passTime() -> String? {
    let earliest = blocked.reduce(Int64.max) { min($0, $1.deadline) }
    if earliest == .max { return deadlockReport() }
    if earliest > time {
      if holds.areOpen { return nil }
      time = earliest
    }
    let due = blocked.filter { $0.deadline <= time }
    blocked.removeAll { $0.deadline <= time }
    // Equal deadlines keep the order of blocking: the index is the second sort key.
    let order = due.enumerated().sorted {
      ($0.element.deadline, $0.offset) < ($1.element.deadline, $1.offset)
    }
    runnable += order.map(\.element)
    return nil
  }

  private func deadlockReport() -> String? {
    let isHeld = holds.areOpen || kernels.contains { $0.object?.clock.holds.areOpen ?? false }
    if blocked.isEmpty || isHeld { return nil }
    let list = blocked.map { "'\($0.name)' in \($0.reason)" }.joined(separator: ", ")
    return "simulated world: at \(time) ns every thread is blocked for ever: \(list)"
  }

  /// Checks again whether time may advance, after a hold was released.
  private func reconsider() {
    lock.lock()
    let deadlock = running == nil ? handBaton() : nil
    let handler = deadlockHandler
    lock.unlock()
    guard let deadlock else { return }
    guard let handler else { fatalError(deadlock) }
    handler(deadlock)
  }
}

private struct WeakKernel {
  weak var object: SimulatedKernel?
}
