// Which loop is whose: found, never constructed (R1).

internal import CLinuxShims
internal import Synchronization

extension Loop {
  /// The loop of the calling thread, made on first request and gone with the thread (R1).
  ///
  /// Traps if the system refuses what a loop needs; see `makeCurrent`. Counterpart:
  /// `CFRunLoopGetCurrent`.
  public static var current: Loop {
    do { return try makeCurrent() } catch { fatalError("Loop.current: \(error)") }
  }

  /// The loop of the calling thread, made if there is none yet.
  /// - Throws: `SystemError` if the system refuses what a loop needs; nothing is left behind.
  public static func makeCurrent() throws(SystemError) -> Loop {
    if let loop = ofThisThread { return loop }
    if cmx_is_main_thread() {
      let loop = try mainLoop.get()
      adopt(loop)
      return loop
    }
    let thread = cmx_thread_id()
    let loop = try Loop(
      name: "the loop of thread \(thread)", kernel: try LinuxKernel(), thread: thread)
    adopt(loop)
    return loop
  }

  /// The loop of the main thread; it serves the libdispatch main queue (R122). Any thread.
  ///
  /// Counterpart: `CFRunLoopGetMain`.
  public static var main: Loop {
    if cmx_is_main_thread() { return current }
    do { return try mainLoop.get() } catch { fatalError("Loop.main: \(error)") }
  }

  private static let mainLoop = Result { () throws(SystemError) -> Loop in
    try Loop(
      name: "the main loop",
      kernel: try LinuxKernel(servesMainQueue: servesMainQueue.load(ordering: .relaxed)),
      thread: cmx_main_thread_id())
  }

  /// Whether the main loop, when it is made, will serve the libdispatch main queue.
  static let servesMainQueue = Atomic<Bool>(true)

  /// The loop of the calling thread, if it has one already. Cheap.
  @inline(__always)
  static var ofThisThread: Loop? {
    guard let pointer = cmx_thread_loop() else { return nil }
    return Unmanaged<Loop>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Makes a loop that of the calling thread; the thread holds it until it ends.
  static func adopt(_ loop: Loop) {
    cmx_on_thread_end { pointer in
      guard let pointer else { return }
      let loop = Unmanaged<Loop>.fromOpaque(pointer).takeRetainedValue()
      loop.end()
      HomeThreads.note(nil)
    }
    cmx_set_thread_loop(Unmanaged.passRetained(loop).toOpaque())
    HomeThreads.note(loop)
  }

  /// Runs a body with a fresh loop as the calling thread's; the loop ends with it.
  ///
  /// For tests: with a virtual clock an hour passes at once if nothing else is due before.
  /// - Parameters:
  ///   - clock: How the time of the loop runs.
  ///   - body: Gets the loop, which is `Loop.current` meanwhile.
  /// - Note: Traps if the system refuses what a loop needs.
  public static func isolated<Result>(
    clock: ClockMode = .virtual, _ body: (Loop) throws -> Result
  ) rethrows -> Result {
    let kernel: LinuxKernel
    do { kernel = try LinuxKernel(clock: clock) } catch { fatalError("Loop.isolated: \(error)") }
    return try isolated(kernel: kernel, body)
  }

  /// The same on any kernel.
  package static func isolated<Result>(
    name: String = "an isolated loop", kernel: any Kernel, _ body: (Loop) throws -> Result
  ) rethrows -> Result {
    let loop: Loop
    do { loop = try makeIsolated(name, kernel) } catch { fatalError("Loop.isolated: \(error)") }
    return try loop.isolate(body)
  }

  /// Makes a loop of the calling thread that is not its own yet: see `isolate`.
  package static func makeIsolated(
    _ name: String, _ kernel: any Kernel
  ) throws(SystemError) -> Loop {
    try Loop(name: name, kernel: kernel, thread: cmx_thread_id())
  }

  /// Runs a body with this loop as the calling thread's, and ends it.
  package func isolate<Result>(_ body: (Loop) throws -> Result) rethrows -> Result {
    let outer = beginIsolation()
    defer { endIsolation(outer) }
    return try body(self)
  }

  /// The same in two halves: from now on this loop is the calling thread's.
  /// - Returns: For `endIsolation`, which must be called once, in reverse order of the begins.
  package func beginIsolation() -> OuterLoop {
    let outer = OuterLoop(pointer: cmx_thread_loop())
    cmx_set_thread_loop(Unmanaged.passUnretained(self).toOpaque())
    HomeThreads.note(self)
    return outer
  }

  package func endIsolation(_ outer: OuterLoop) {
    end()
    cmx_set_thread_loop(outer.pointer)
    HomeThreads.note(Self.ofThisThread)
  }

  /// The loop that the thread had before.
  package struct OuterLoop { fileprivate let pointer: UnsafeMutableRawPointer? }
}
