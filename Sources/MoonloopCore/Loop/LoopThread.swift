// A thread with a loop of its own, which it runs until it is asked to end.

internal import CLinuxShims

/// A thread that runs a loop.
///
/// The signals of the program are for other threads, the stack has room for nested runs and for
/// what Lua may use of it, and the loop ends in order: sources hear of their cancelling, requests
/// are cancelled, and those that wait get an error. It runs until `stop`, held or not.
public final class LoopThread: Sendable {
  /// What the thread and its loop are called; the system shows the first 15 bytes.
  public let name: String
  /// The loop, which runs in the default mode even while nothing is in it.
  public let loop: Loop
  private let ended: any Gate

  /// 8 MB, of which the system gives out what is used: the depth that Lua allows in C takes 512 kB,
  /// and nested runs and sanitizers multiply that.
  package static let stackSize = 8 << 20

  /// Starts a thread, and waits until its loop is there.
  ///
  /// Traps if the system refuses what a loop or a thread needs; see `start`.
  public convenience init(name: String = "loop", clock: ClockMode = .real) {
    do { try self.init(starting: name, clock) } catch { fatalError("LoopThread: \(error)") }
  }

  /// The same for programs that go on without the thread.
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
  /// - Parameter body: Gets the loop, which ends when it returns.
  package init(
    name: String, kernel: LinuxKernel, body: @escaping @Sendable (Loop) -> Void
  ) throws(SystemError) {
    self.name = name
    let ended = kernel.makeGate()
    let made = kernel.makeGate()
    let place = Guarded<Result<Loop, SystemError>?>(nil)
    let box = Box(place: consume place)
    try startThread(name: name, stackSize: Self.stackSize, blocksSignals: true) {
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
  /// - Parameter timeout: How long to wait at most; nil: for ever.
  /// - Returns: false if the time was over first.
  @discardableResult
  public func join(timeout: Duration? = nil) -> Bool {
    if loop.isOnThread { fatalError("LoopThread.join: '\(name)' would wait for itself") }
    return ended.wait(atMost: timeout?.loopNanoseconds ?? .max)
  }
}
