// What a script may use: memory, time in one call-out, nesting.

internal import CLuaShims

/// What the scripts of one state may use.
public struct LuaLimits: Sendable, Equatable {
  /// The most bytes Lua may hold, or nil. A script that passes it is stopped, not refused.
  public var memory: Int?
  /// The most time one call-out may run, waits not counted, or nil.
  public var callout: Duration?
  /// How deep calls of Lua and the host may lie in one another.
  public var nesting: Int
  /// The most instructions of Lua that one call-out may take, or nil.
  ///
  /// Exact to the instruction and the same on every machine, but counting costs about half of the
  /// speed: mostly `callout` is the better limit. A coroutine of the script has a count of its own.
  public var instructions: Int?
  /// How many handles, timers and tasks the scripts of a state on a loop may have at once, or nil.
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

  /// The same, and nothing that a script calls shows an address or gives a value a finalizer.
  ///
  /// Once, before there are scripts.
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

  /// Has a body called when other limits are set.
  package func onLimits(_ body: @escaping (LuaLimits) -> Void) { self.body.onLimits = body }

  /// Sets other limits, from the next call-out on.
  public func setLimits(_ limits: LuaLimits) {
    guard body.isUsable("setLimits") else { return }
    let old = self.limits
    self.limits = limits
    setWords()
    body.onLimits?(limits)
    if limits.callout == old.callout { return }
    startWatchdog()
  }

  /// Calls a function for each line, as by `debug.sethook`, on all coroutines that the host runs:
  /// their hooks are not the script's otherwise. It takes the place of the limit of instructions.
  /// - Parameter function: To be kept for as long as scripts run.
  package func followLines(_ function: LuaReference) { cml_follow_lines(record, function.ref) }

  func setWords() {
    var words = cml_limits(memory: limits.memory ?? 0, nesting: Int32(clamping: limits.nesting))
    let instructions = limits.instructions.map { Int32(clamping: max($0, 1)) } ?? 0
    cml_set_limits(record, &words, instructions)
  }

  func startWatchdog() {
    guard let limit = limits.callout else {
      _ = cml_set_watchdog(record, 0)
      return
    }
    let (seconds, attoseconds) = limit.components
    let nanoseconds = seconds.clampedNanoseconds + attoseconds / 1_000_000_000
    _ = cml_set_watchdog(record, UInt64(max(nanoseconds, 1_000_000)))
  }

  /// Tells the watchdog that the host waits: the call-out below is not charged until the token is
  /// handed back. Call-outs made meanwhile have a budget of their own.
  package func suspendBudget() -> UInt64 { cml_budget_suspend(record) }
  package func resumeBudget(_ token: UInt64) { cml_budget_resume(record, token) }

  /// Stops the call-out that runs now. For a signal handler on any thread: hand it `record`.
  package static var interruptFunction: @convention(c) (OpaquePointer?) -> Bool { cml_interrupt }

  /// Has `onVisit` called in the middle of the call-out that runs now; as `interruptFunction`.
  package static var visitFunction: @convention(c) (OpaquePointer?) -> Bool { cml_visit }

  /// Tells call-outs apart: the number of the one that runs now, or 0. Also for a signal handler.
  package static var calloutFunction: @convention(c) (OpaquePointer?) -> UInt64 { cml_callout }

  /// The signal that this package uses to reach a busy thread; do not block or take it.
  public static var stopSignal: Int32 { cml_stop_signal() }
}

extension LuaState {
  /// The stack of the host's coroutine that runs innermost; it may have resumed others.
  package var callOut: LuaStack? { cml_callout_state(record).map { LuaStack(L: $0) } }

  /// From now on `visitFunction` has this called, between two instructions of the script, with the
  /// stack of the coroutine that runs. It may run Lua code; true stops the call-out.
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

extension Int64 {
  /// These seconds in nanoseconds, held at some 200 years.
  fileprivate var clampedNanoseconds: Int64 {
    Swift.min(Swift.max(self, 0), 6_000_000_000) * 1_000_000_000
  }
}

/// Stops what a state runs, from any thread.
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

  /// Ends the call-out that runs now with an error of kind `.interrupted`, which no `pcall`
  /// catches.
  ///
  /// A state that runs nothing, or is closed, is not affected.
  public func interrupt() {
    record.withLock { if let record = $0 { _ = cml_interrupt(record.pointer) } }
  }

  /// Tells call-outs apart: the number of the one that runs now, or 0. Any thread.
  package var callout: UInt64 {
    record.withLock { $0.map { cml_callout($0.pointer) } ?? 0 }
  }

  func close() { record.withLock { $0 = nil } }
}
