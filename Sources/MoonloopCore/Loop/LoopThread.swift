// A thread with its own loop, which it runs until it is asked to end.

internal import CLinuxShims

/// A thread that runs a loop.
///
/// Other threads take the program's signals, the stack has room for nested runs and for
/// Lua, and the loop ends in order: sources get their cancel calls, requests
/// are cancelled, and waiting callers get an error. It runs until `stop`, held or not.
public final class LoopThread: Sendable {
  /// What the thread and its loop are called; the system shows the first 15 bytes.
  public let name: String
  /// The loop, which runs in the default mode even while that is empty.
  public let loop: Loop
  private let ended: any Gate

  /// 8 MiB, of which the system allocates what is used: Lua's maximum depth in C takes 512 kB,
  /// and nested runs and sanitizers multiply that.
  static let stackSize = 8 << 20

  /// Starts a thread, and waits until its loop is there.
  ///
  /// Traps if the system refuses what a loop or a thread needs; see `start`.
  public convenience init(name: String = "loop", clock: ClockMode = .real) {
    do { try self.init(starting: name, clock) } catch { fatalError("LoopThread: \(error)") }
  }

  /// Starts a thread, and waits until its loop is there; for programs that can go on without it.
  /// - Throws: `SystemError` if the system refuses; then nothing is left.
  public static func start(
    name: String = "loop", clock: ClockMode = .real
  ) throws(SystemError) -> LoopThread {
    try LoopThread(starting: name, clock)
  }

  private convenience init(starting name: String, _ clock: ClockMode) throws(SystemError) {
    try self.init(name: name, kernel: try LinuxKernel(clock: clock)) { loop in
      let holder = Loop.Port(name: "keeps the thread", capacity: 1) { _, _ in }
      try? loop.add(holder)
      while !loop.mustEnd { loop.run() }
      holder.invalidate()
    }
  }

  /// Starts a thread that does what a body says, instead of running the loop until `stop`.
  /// - Parameters:
  ///   - stackSize: In bytes. All of it counts where a process may have little memory.
  ///   - body: Gets the loop, which ends when it returns.
  package init(
    name: String, kernel: LinuxKernel, stackSize: Int = LoopThread.stackSize,
    body: @escaping @Sendable (Loop) -> Void
  ) throws(SystemError) {
    self.name = name
    let ended = kernel.makeGate()
    let made = kernel.makeGate()
    let place = Guarded<Result<Loop, SystemError>?>(nil)
    let box = Box(place: consume place)
    try startThread(name: name, stackSize: stackSize, blocksSignals: true) {
      let loop = Result { () throws(SystemError) -> Loop in try Loop.makeIsolated(name, kernel) }
      box.place.withLock { $0 = loop }
      made.open()
      if case .success(let loop) = loop {
        loop.isolate { loop in body(loop) }
      }
      kernel.clock.leaveSharedTime()
      ended.open()
    }
    _ = made.wait(atMost: .max)
    guard let result = box.place.withLock({ $0 }) else {
      throw SystemError(call: "pthread_create", code: Errno.cancelled)
    }
    self.ended = ended
    loop = try result.get()
  }

  private final class Box: Sendable {
    let place: Guarded<Result<Loop, SystemError>?>
    init(place: consuming Guarded<Result<Loop, SystemError>?>) { self.place = place }
  }

  /// Asks the thread to end: its runs end as if they had been stopped, and later ones at once. Any
  /// thread; idempotent.
  public func stop() { loop.endRuns() }

  /// Whether the thread is done with the loop. Any thread.
  public var hasEnded: Bool { loop.hasEnded }

  /// Waits for the end of the thread. Any thread but that one.
  /// - Parameter timeout: The maximum time to wait; nil: forever.
  /// - Returns: false if the time ran out first.
  @discardableResult
  public func join(timeout: Duration? = nil) -> Bool {
    if loop.isOnThread { fatalError("LoopThread.join: '\(name)' would wait for itself") }
    return loop.wait(at: ended, atMost: timeout, "LoopThread.join")
  }
}
