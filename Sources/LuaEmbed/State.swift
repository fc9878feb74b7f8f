// One Lua state: its life, its limits, and the global names a host gives it.

internal import CLuaShims

#if !StaticLua
  private import MoonloopCLua
#endif

/// A Lua state that belongs to the thread that made it.
///
/// Every function of it, and of the values that came from it, is for that thread, and stops the
/// program elsewhere; references may be dropped on any.
/// - Note: Not Sendable. `interrupt` is reached from other threads through
/// `LuaState.interruptHandle`.
public final class LuaState {
  /// The C record; freed when the state is closed.
  package let record: OpaquePointer
  /// What this object and the one that Lua refers to share.
  let body: LuaStateBody
  /// Whether this is the program's object: dropping it closes the state.
  private let closesAtEnd: Bool
  /// Stops the running call-out, from any thread.
  public let interruptHandle: InterruptHandle

  /// Opens a state with the standard libraries, on the calling thread.
  /// - Throws: `LuaError` of kind `.memoryLimit` when there is no memory for it.
  public init(limits: LuaLimits = LuaLimits()) throws(LuaError) {
    var words = limits.words
    guard let record = cml_open(&words) else {
      throw LuaError(kind: .memoryLimit, message: "no memory for a Lua state")
    }
    self.record = record
    body = LuaStateBody(record, limits)
    interruptHandle = InterruptHandle(record: record)
    closesAtEnd = true
    let inner = LuaState(of: self)
    body.inner = inner
    let address = Unmanaged.passUnretained(inner).toOpaque()
    cml_set_owner(record, address)
    body.errorKind = inner.makeErrorKind()
    if limits.instructions != nil { setWords() }
    startWatchdog()
    cml_on_finalizer_error(record, tellFinalizerError, address)
  }

  /// Makes the object that Lua's side of the same state refers to.
  private init(of outer: LuaState) {
    record = outer.record
    body = outer.body
    interruptHandle = outer.interruptHandle
    closesAtEnd = false
  }

  deinit {
    if closesAtEnd { body.drop() }
  }

  /// The object that Lua's side refers to: it lives until the state is closed.
  package var inner: LuaState {
    guard let inner = body.inner else { fatalError("\(body.label) is closed") }
    return inner
  }

  /// Whether the state was closed. Any thread.
  public var isClosed: Bool { body.isClosed }

  /// Ends the state: finalizers run, host objects are released, references become empty.
  ///
  /// All finalizers together are one call-out, with its limits: those left when it is
  /// stopped are ended one by one.
  ///
  /// Closing twice has no effect. While the state's own code runs, as in one of its callbacks,
  /// closing takes effect when that call-out is over.
  public func close() {
    guard !isClosed else { return }
    body.requireThread("close")
    body.inner?.closeUnlessBusy()
  }

  private func closeUnlessBusy() {
    if body.isBusy { return body.closeWhenFree() }
    if let willClose {
      self.willClose = nil
      willClose()
    }
    guard !isClosed else { return }
    body.releases.close()
    cml_close(record)
    body.noteClosed()
    body.output = nil  // what has no end of a line yet is passed on, on this thread
    interruptHandle.close()
    onClosed?()
    freeTexts()
    cml_free(record)
    withExtendedLifetime(self) { body.inner = nil }
  }

  /// Frees the strings that were kept because they crossed often; see `LuaStack.text`.
  private func freeTexts() {
    guard let room = cml_kept_texts(record)?.assumingMemoryBound(to: String.self) else { return }
    room.deinitialize(count: Int(CML_KNOWN_COUNT))
    room.deallocate()
  }

  /// The stack of whatever is running. [-0, +0, -]
  package var stack: LuaStack { LuaStack(L: cml_running(record)) }

  /// The object that raw host functions get as their context; not retained.
  package func setHost(_ host: UnsafeMutableRawPointer?) { cml_set_host(record, host) }

  /// The bytes that count towards the memory limit.
  ///
  /// They are Lua's own, and what the host holds for scripts, such as queued messages and the
  /// objects behind their handles.
  public var bytesInUse: Int { body.isUsable("bytesInUse") ? cml_bytes(record) : 0 }

  /// The release of Lua that is linked, such as "Lua 5.4.4".
  public static var luaVersion: String { String(cString: cml_lua_version_text()) }

  /// The library file that Lua was loaded from; nil if it is linked into this program.
  package static var libraryPath: String? {
    cml_lua_library().map { String(cString: $0) }
  }

  /// How deeply calls of the host and Lua are nested now; 0 outside Lua.
  public var depth: Int {
    if isClosed { return 0 }
    body.requireThread("depth")
    return Int(cml_depth(record))
  }

  /// How many calls of handlers and functions there were.
  package var callouts: Int { isClosed ? 0 : Int(truncatingIfNeeded: cml_callouts(record)) }

  /// Does a small step of the collector if anything was allocated since the last one.
  ///
  /// Call it before the host sleeps. Also releases references dropped elsewhere.
  /// - Returns: Whether there was work to do.
  @discardableResult
  public func idleCollect() -> Bool {
    body.idleCollect()
  }

  /// Collects everything that can be collected now.
  public func collect() {
    guard body.isUsable("collect") else { return }
    body.beginCall()
    defer { body.endCall() }
    releases.drain()
    cml_collect(record)
  }

  /// Whether no collection starts by itself: during the host's set-up there is no garbage.
  package func pauseCollector(_ pauses: Bool) { cml_pause_collector(record, pauses) }

  /// Debug builds: the n-th allocation from now that may fail does, alone or with all after it;
  /// 0 switches that off.
  /// - Returns: false in release builds, which cannot do it.
  @discardableResult
  package func failAllocation(_ n: UInt64, forGood: Bool = false) -> Bool {
    cml_fail_allocation(record, n, forGood)
  }

  /// How many allocations are left before the one that fails; 0 once it did.
  package var allocationsUntilFailure: UInt64 { cml_fault_countdown(record) }
}
