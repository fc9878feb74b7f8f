// What a script may use: memory, time per call-out, nesting.

internal import CLuaShims

/// Limits for the scripts of one state.
public struct LuaLimits: Sendable, Equatable {
  /// Memory limit for Lua in bytes, or nil. A script that exceeds it is stopped, not refused.
  public var memory: Int?
  /// Time limit for one call-out, not counting waits, or nil.
  public var callout: Duration?
  /// How deeply calls of Lua and the host may be nested.
  public var nesting: Int
  /// The most that `nesting` can be: beyond that Lua itself refuses calls.
  package static let deepest = 60
  /// Limit for Lua instructions in one call-out, or nil.
  ///
  /// Exact to the instruction and the same on every machine, but counting costs about half of the
  /// speed: usually `callout` is the better limit. Each coroutine of the script has its own count.
  public var instructions: Int?
  /// Limit for the handles, timers and tasks that a state's scripts may have at once, or nil.
  public var handles: Int?

  /// Limits; nil is no limit.
  /// - Parameters:
  ///   - memory: Bytes, at least 1 MiB to be of use: the libraries alone take 25 kB.
  ///   - callout: The time of one call-out; from 10 ms.
  ///   - nesting: 1 to 60.
  ///   - instructions: At least 1000.
  ///   - handles: At least 1. One more is refused with an error.
  public init(
    memory: Int? = nil, callout: Duration? = nil, nesting: Int = 32, instructions: Int? = nil,
    handles: Int? = nil
  ) {
    self.memory = memory
    self.callout = callout
    self.nesting = nesting
    self.instructions = instructions
    self.handles = handles
  }
}

extension LuaLimits {
  /// As C has them: there 0 is no limit, so none of ours may be 0 or below.
  var words: cml_limits {
    cml_limits(memory: memory.map { max($0, 1) } ?? 0, nesting: Int32(clamping: nesting))
  }
}

/// Counts stops, and says when they are too many: more than ten in a minute.
struct StopRate {
  static let bound = 10
  private static let minute: UInt64 = 60_000_000_000
  private var times: [UInt64] = []
  private(set) var isExceeded = false
  private(set) var total = 0

  mutating func note(at now: UInt64 = cml_clock_ns()) {
    total += 1
    times.append(now)
    times.removeAll { now - $0 > Self.minute }
    if times.count > Self.bound { isExceeded = true }
  }
}

extension LuaState {
  /// Whether scripts of this state were stopped more than ten times within a minute.
  ///
  /// It stays true; the host is expected to end such a state.
  public var isCondemned: Bool {
    body.requireThread("isCondemned")
    return stops.isExceeded
  }

  /// From now on `load` takes text only, whatever mode a script asks for: a damaged binary chunk
  /// can crash liblua.
  public func allowTextOnly() {
    if body.isUsable("allowTextOnly") { cml_set_text_only(record) }
  }

  /// From now on `load` takes text only, and nothing that a script calls reaches outside the state,
  /// shows an address, or gives a value a finalizer.
  ///
  /// Call it once, before there are scripts.
  /// - Throws: `LuaError` if there is no memory for it.
  package func makeSafe() throws(LuaError) {
    if cml_make_safe(record) { return }
    throw LuaError(kind: .memoryLimit, message: "no memory for safe libraries")
  }

  /// How many call-outs were stopped by a limit or an interrupt.
  public var stopCount: Int {
    body.requireThread("stopCount")
    return stops.total
  }

  /// How many Lua instructions were counted while there was a limit on them, to within 250 or more
  /// for each call-out.
  package var instructionCount: Int { Int(truncatingIfNeeded: cml_instructions(record)) }

  /// Whether the running call-out must end: for what takes long in the host.
  package var mustStop: Bool { cml_must_stop(record) }

  /// Sets a body that is called when the limits change.
  package func onLimits(_ body: @escaping (LuaLimits) -> Void) { self.body.onLimits = body }

  /// Sets new limits, from the next call-out on.
  public func setLimits(_ limits: LuaLimits) {
    guard body.isUsable("setLimits") else { return }
    let old = self.limits
    self.limits = limits
    setWords()
    body.onLimits?(limits)
    if limits.callout == old.callout { return }
    startWatchdog()
  }

  /// Calls a function for each line, like `debug.sethook`, on all coroutines that the host runs,
  /// whose hooks the script cannot set meanwhile. It replaces the limit on instructions.
  /// - Parameter function: To be kept for as long as scripts run.
  package func followLines(_ function: LuaReference) { cml_follow_lines(record, function.ref) }

  func setWords() {
    var words = limits.words
    let instructions = limits.instructions.map { Int32(clamping: max($0, 1)) } ?? 0
    cml_set_limits(record, &words, instructions)
  }

  func startWatchdog() {
    guard let limit = limits.callout else {
      _ = cml_set_watchdog(record, 0)
      return
    }
    // At most some 200 years: the clock of the watchdog is added to it.
    let nanoseconds = min(max(limit.attoseconds / 1_000_000_000, 1_000_000), 6 << 60)
    _ = cml_set_watchdog(record, UInt64(nanoseconds))
  }

  /// Tells the watchdog that the host is waiting: the call-out below is not charged until the token
  /// is returned. Call-outs made meanwhile have their own budget.
  package func suspendBudget() -> UInt64 { cml_budget_suspend(record) }
  package func resumeBudget(_ token: UInt64) { cml_budget_resume(record, token) }

  /// Stops the running call-out, and those of all states of its thread. For a signal handler on any
  /// thread: pass it `record`.
  package static var interruptFunction: @convention(c) (OpaquePointer?) -> Bool {
    cml_thread_interrupt
  }

  /// Makes `onVisit` run in the middle of the running call-out; otherwise like `interruptFunction`.
  package static var visitFunction: @convention(c) (OpaquePointer?) -> Bool { cml_visit }

  /// Identifies the running call-outs of all states of its thread by a number, or 0. Also for a
  /// signal handler.
  package static var calloutFunction: @convention(c) (OpaquePointer?) -> UInt64 {
    cml_thread_callouts
  }

  /// From now on a stop also ends the statements of the connections that SQLite opens.
  package static func stopSQLite() { cml_stop_sqlite() }

  /// The signal that this package uses to reach a busy thread; do not block or take it.
  public static var stopSignal: Int32 { cml_stop_signal() }
}

extension LuaState {
  /// The stack of the innermost running coroutine of the host; it may have resumed others.
  package var callOut: LuaStack? { cml_callout_state(record).map { LuaStack(L: $0) } }

  /// From now on `visitFunction` makes this run, between two instructions of the script, with the
  /// stack of the running coroutine. It may run Lua code; true stops the call-out.
  package func onVisit(_ body: @escaping (LuaStack) -> Bool) {
    visit = body
    cml_on_visit(
      record,
      { context, L in
        Unmanaged<LuaState>.fromOpaque(context!).takeUnretainedValue().visit?(LuaStack(L: L!))
          ?? false
      }, Unmanaged.passUnretained(inner).toOpaque())
  }
}

/// Stops what a state is running, from any thread.
public final class InterruptHandle: Sendable {
  // Sendable: only handed to `cml_interrupt`, under the lock.
  private struct Record: @unchecked Sendable {
    // Only handed to `cml_interrupt`, which may be called anywhere, under the lock.
    let pointer: OpaquePointer
  }
  private let record: Guarded<Record?>

  init(record: OpaquePointer) {
    self.record = Guarded(Record(pointer: record))
  }

  /// Ends the running call-out with an error of kind `.interrupted`, which no `pcall` catches.
  ///
  /// No effect if the state is idle or closed.
  public func interrupt() {
    record.withLock { if let record = $0 { _ = cml_interrupt(record.pointer) } }
  }

  /// Identifies the running call-out by a number, or 0. Any thread.
  package var callout: UInt64 {
    record.withLock { $0.map { cml_callout($0.pointer) } ?? 0 }
  }

  func close() { record.withLock { $0 = nil } }
}
