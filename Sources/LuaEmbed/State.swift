// One Lua state: its life, its limits, and the global names a host gives it.

internal import CLuaShims

/// A Lua state that belongs to the thread that made it.
///
/// Every function of it, and of the values that came from it, is for that thread; references may be
/// dropped on any.
/// - Note: Not Sendable. `interrupt` is reached from other threads through
/// `LuaState.interruptHandle`.
public final class LuaState {
  /// The C record; freed when the state is closed.
  package let record: OpaquePointer
  package private(set) var isClosed = false
  /// Takes references dropped on other threads; shared with every reference.
  let releases: ReleaseList
  /// The kinds of registered Swift classes, by type.
  var classes: [ObjectIdentifier: OpaquePointer] = [:]
  /// Contexts of the kinds of handles: C holds them without a reference.
  var kept: [AnyObject] = []
  /// The kind of userdata that carries a Swift error through Lua.
  private(set) var errorKind: OpaquePointer! = nil
  /// Stops the call-out that runs, from any thread.
  public let interruptHandle: InterruptHandle
  /// What an embedding library keeps for as long as the state lives.
  package var attachment: AnyObject?
  /// Where its standard streams go, if not to the program's; as old as the state.
  var output: LuaOutput?
  /// What its scripts may use; see `setLimits`.
  public internal(set) var limits: LuaLimits
  /// Told of an error that a `<close>` variable raised after another error; the host reports it.
  package var onCloseError: ((LuaError) -> Void)?
  /// Told of an error that ended a coroutine, before that is closed: its calls are as they were.
  package var onFailure: ((LuaStack, LuaError) -> Void)?
  /// Told of an error in a finalizer (`__gc`), which Lua itself only warns of; once for each.
  ///
  /// Called at the end of the call in which the finalizer ran, or by `close`. Without it the errors
  /// are written to stderr.
  public var onFinalizerError: ((LuaError) -> Void)?
  /// See `onVisit`.
  var visit: ((LuaStack) -> Bool)?
  /// Called once when the state is about to be closed, also by its end: whoever runs code of it in
  /// answer to events lets go of those.
  package var willClose: (() -> Void)?
  /// Called when the state has been closed and just before its record goes: from then on nothing
  /// may interrupt it.
  package var onClosed: (() -> Void)?
  /// When call-outs were stopped by a limit; see `isCondemned`.
  var stops = StopRate()

  /// Opens a state with the standard libraries, on the calling thread.
  /// - Throws: `LuaError` of kind `.memoryLimit` when there is no memory for it.
  public init(limits: LuaLimits = LuaLimits()) throws(LuaError) {
    self.limits = limits
    var words = cml_limits(memory: limits.memory ?? 0, nesting: Int32(clamping: limits.nesting))
    guard let record = cml_open(&words) else {
      throw LuaError(kind: .memoryLimit, message: "no memory for a Lua state")
    }
    self.record = record
    releases = ReleaseList(record: record)
    interruptHandle = InterruptHandle(record: record)
    cml_set_owner(record, Unmanaged.passUnretained(self).toOpaque())
    errorKind = makeErrorKind()
    if limits.instructions != nil { setWords() }
    startWatchdog()
    cml_on_finalizer_error(record, tellFinalizerError, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { close() }

  /// Ends the state: finalizers run, host objects are released, references become empty.
  ///
  /// The finalizers together are one call-out, with its limits: those that are left when it is
  /// stopped are ended one by one.
  ///
  /// Closing twice has no effect. Closing while Lua code of this state runs traps.
  public func close() {
    if let willClose {
      self.willClose = nil
      willClose()
    }
    guard !isClosed else { return }
    precondition(cml_depth(record) == 0, "a Lua state was closed while its code runs")
    precondition(cml_is_owner(record), "a Lua state was closed on another thread than its own")
    releases.close()
    cml_close(record)
    isClosed = true
    interruptHandle.close()
    onClosed?()
    cml_free(record)
  }

  /// The stack of whatever runs now. [-0, +0, -]
  package var stack: LuaStack { LuaStack(L: cml_running(record)) }

  /// The object that raw host functions get as their context; not retained.
  package func setHost(_ host: UnsafeMutableRawPointer?) { cml_set_host(record, host) }

  /// Bytes that Lua holds now.
  public var bytesInUse: Int { cml_bytes(record) }

  /// The release of Lua that is linked, such as "Lua 5.4".
  public static var luaVersion: String { String(cString: cml_lua_version_text()) }

  /// How deep calls of the host and Lua lie in one another now; 0 is outside of Lua.
  public var depth: Int { Int(cml_depth(record)) }

  /// Does a small step of the collector if anything was allocated since the last one.
  ///
  /// Meant for the moment before a host sleeps. Also releases references dropped elsewhere.
  /// - Returns: Whether there was work to do.
  @discardableResult
  public func idleCollect() -> Bool {
    releases.drain()
    return cml_idle_collect(record)
  }

  /// Collects everything that can be collected now.
  public func collect() {
    releases.drain()
    cml_collect(record)
  }

  /// Whether no collection begins by itself: while a host sets its things up, nothing is garbage.
  package func pauseCollector(_ pauses: Bool) { cml_pause_collector(record, pauses) }

  /// Debug builds: the n-th allocation from now that may fail does, alone or with all after it;
  /// 0 switches that off.
  /// - Returns: false in release builds, which cannot do it.
  @discardableResult
  package func failAllocation(_ n: UInt64, forGood: Bool = false) -> Bool {
    cml_fail_allocation(record, n, forGood)
  }

  /// What is left to the allocation that fails; 0 once it did.
  package var allocationsUntilFailure: UInt64 { cml_fault_countdown(record) }
}
