// A state, apart from the object that the program holds: that may be dropped on any
// thread, while Lua's side is working on the state's own.

internal import CLuaShims
internal import Synchronization

/// What the two objects of a state share: the program's, which closes the state when it is dropped,
/// and the one that Lua's side refers to, which lives until the state is closed.
// Sendable: used on the state's thread only, except `isClosed`, which is atomic, and
// `elsewhere`, which is set before any other thread knows the state.
final class LuaStateBody: @unchecked Sendable {
  let record: OpaquePointer
  private let thread = cml_thread_id()
  private let closed = Atomic<Bool>(false)
  /// Takes references dropped on other threads; shared with every reference.
  let releases: ReleaseList
  /// What the host holds for its scripts; shared with every charge.
  let held: HeldMemory
  /// The object that Lua's side refers to; nil once the state is closed.
  var inner: LuaState?
  /// The kinds of registered Swift classes, by type.
  var classes: [ObjectIdentifier: OpaquePointer] = [:]
  /// The same for types that are not registered, added on first use.
  var unregistered: [ObjectIdentifier: UnregisteredKind] = [:]
  /// All kinds whose userdata hold an object or a box.
  var objectKinds: Set<OpaquePointer> = []
  /// Contexts of the kinds of handles, kept here because C holds them without a reference.
  var kept: [AnyObject] = []
  /// The kind of userdata that carries a Swift error through Lua.
  var errorKind: OpaquePointer! = nil
  var attachment: AnyObject?
  var output: LuaOutput?
  var limits: LuaLimits
  var onLimits: ((LuaLimits) -> Void)?
  var onCloseError: ((LuaError) -> Void)?
  var onFailure: ((LuaStack, LuaError) -> Void)?
  var onFinalizerError: ((LuaError) -> Void)?
  var visit: ((LuaStack) -> Bool)?
  var willClose: (() -> Void)?
  var onClosed: (() -> Void)?
  /// The last error from a Lua call that a host function passed on: Lua gets its value,
  /// and its frames are added to those above when it leaves Lua again.
  var passing: LuaError?
  /// Where names are registered while a module is under definition; nil: among the globals.
  var definition: LuaReference?
  /// When call-outs were stopped by a limit; see `isCondemned`.
  var stops = StopRate()

  /// Runs something on the state's thread, soon, from any other thread.
  var elsewhere: ((@escaping @Sendable () -> Void) -> Void)?
  /// Runs something on the state's thread when the call-outs under way may be over.
  var later: ((@escaping () -> Void) -> Void)?
  /// How many calls of the program into the state are under way.
  // Unchecked: counted in each call, and nothing is called while it is.
  @exclusivity(unchecked) private(set) var calls = 0
  /// Whether the state closes as soon as its code is not running any more.
  @exclusivity(unchecked) private var closesLater = false  // as `calls`
  /// The state's loop has ended, which the program cannot foresee: its calls are ignored from then
  /// on.
  var lostItsLoop = false

  init(_ record: OpaquePointer, _ limits: LuaLimits) {
    self.record = record
    self.limits = limits
    releases = ReleaseList(record: record)
    held = HeldMemory(record: record)
    releases.body = .passUnretained(self)
  }

  var label: String { "the Lua state of thread \(thread)" }
  var isClosed: Bool { closed.load(ordering: .acquiring) }

  func noteClosed() {
    closesLater = false
    passing = nil
    closed.store(true, ordering: .releasing)
  }

  // MARK: Whether it may be used

  /// Stops the program on any thread but the state's, while the state is open.
  @inline(__always)
  func requireThread(_ what: StaticString) {
    if cml_thread_id() != thread && !isClosed { wrongThread(what) }
  }

  @inline(never)
  private func wrongThread(_ what: StaticString) -> Never {
    fatalError(
      "\(what): a Lua state belongs to thread \(thread), called on thread \(cml_thread_id()); "
        + "use perform or change of its loop to get there")
  }

  /// Whether the state can be used by a call that cannot throw: not if its loop has ended.
  /// Stops the program on another thread, and if the program has closed the state.
  @inline(__always)
  func isUsable(_ what: StaticString) -> Bool {
    if isClosed { return refuse(what) }
    requireThread(what)
    return true
  }

  @inline(never)
  private func refuse(_ what: StaticString) -> Bool {
    if lostItsLoop { return false }
    fatalError("\(what): \(label) is closed; ask isClosed first")
  }

  /// The same for a call that can throw.
  @inline(__always)
  func requireOpen(_ what: StaticString) throws(LuaError) {
    if isClosed { throw .closed }
    requireThread(what)
  }

  /// Like `LuaState.idleCollect`, for every pass that sleeps: here no reference is counted.
  func idleCollect() -> Bool {
    guard isUsable("idleCollect") else { return false }
    beginCall()
    defer { endCall() }
    releases.drain()
    return cml_idle_collect(record)
  }

  // MARK: Its end

  /// Whether a call of the program, or code of the state, is under way.
  var isBusy: Bool { calls > 0 || cml_is_busy(record) }

  /// A call of the program begins: the state stays open until its end, whatever it does.
  @inline(__always)
  func beginCall() { calls += 1 }

  @inline(__always)
  func endCall() {
    calls -= 1
    if closesLater { closeIfFree() }
  }

  @inline(never)
  private func closeIfFree() {
    if !isBusy { inner?.close() }
  }

  /// Like `LuaState.keepingOpen`.
  @inline(__always)
  func keepingOpen<R, E>(_ body: () throws(E) -> R) throws(E) -> R {
    calls += 1
    defer { calls -= 1 }
    return try body()
  }

  /// Closes the state when the call-outs under way are over.
  func closeWhenFree() {
    if closesLater { return }
    closesLater = true
    lookAgain()
  }

  private func lookAgain() {
    later? { [self] in
      if isClosed { return }
      if isBusy { lookAgain() } else { inner?.close() }
    }
  }

  /// The program has dropped its object, on any thread.
  func drop() {
    if isClosed { return }
    if cml_thread_id() == thread { return inner?.close() ?? () }
    guard let elsewhere else {
      fatalError(
        "a Lua state without a loop was dropped on thread \(cml_thread_id()), "
          + "and must be closed on its own, thread \(thread)")
    }
    elsewhere { [self] in inner?.close() }
  }
}

// The same words on either object.
extension LuaState {
  var releases: ReleaseList { body.releases }
  var classes: [ObjectIdentifier: OpaquePointer] {
    get { body.classes }
    set { body.classes = newValue }
  }
  var kept: [AnyObject] {
    get { body.kept }
    set { body.kept = newValue }
  }
  var errorKind: OpaquePointer { body.errorKind }
  /// What an embedding library keeps for as long as the state lives.
  package var attachment: AnyObject? {
    get { body.attachment }
    set { body.attachment = newValue }
  }
  /// Where its standard streams go, if redirected; kept for the state's life.
  var output: LuaOutput? {
    get { body.output }
    set { body.output = newValue }
  }
  /// What its scripts may use; see `setLimits`.
  public internal(set) var limits: LuaLimits {
    get {
      body.requireThread("limits")
      return body.limits
    }
    set { body.limits = newValue }
  }
  /// Called with an error that a `<close>` variable raised after another error.
  package var onCloseError: ((LuaError) -> Void)? {
    get { body.onCloseError }
    set { body.onCloseError = newValue }
  }
  /// Called with an error that ended a coroutine, before that is closed, with all calls intact.
  package var onFailure: ((LuaStack, LuaError) -> Void)? {
    get { body.onFailure }
    set { body.onFailure = newValue }
  }
  /// Called once for each error in a finalizer (`__gc`), about which Lua itself only warns.
  ///
  /// Called at the end of the call in which the finalizer ran, or by `close`. Without it the errors
  /// are written to stderr.
  public var onFinalizerError: ((LuaError) -> Void)? {
    get {
      body.requireThread("onFinalizerError")
      return body.onFinalizerError
    }
    set {
      body.requireThread("onFinalizerError")
      body.onFinalizerError = newValue
    }
  }
  /// See `onVisit`.
  var visit: ((LuaStack) -> Bool)? {
    get { body.visit }
    set { body.visit = newValue }
  }
  /// Called once when the state is about to be closed, for whatever reason: a caller that runs the
  /// state's code in answer to events stops doing so.
  package var willClose: (() -> Void)? {
    get { body.willClose }
    set { body.willClose = newValue }
  }
  /// Called when the state has been closed, just before its record goes: from then on it must not
  /// be interrupted.
  package var onClosed: (() -> Void)? {
    get { body.onClosed }
    set { body.onClosed = newValue }
  }
  var stops: StopRate {
    get { body.stops }
    set { body.stops = newValue }
  }

  /// Sets how to reach the state's thread: soon from any other, and when a call-out is over.
  ///
  /// Call it once, before any other thread knows the state.
  package func attach(
    elsewhere: @escaping (@escaping @Sendable () -> Void) -> Void,
    later: @escaping (@escaping () -> Void) -> Void
  ) {
    body.elsewhere = elsewhere
    body.later = later
  }

  /// Stops the program on any thread but the state's, and if the state is closed.
  /// - Returns: false if it was closed with its loop.
  package func isUsable(_ what: StaticString) -> Bool { body.isUsable(what) }

  /// Closes the state because its loop ends. State's thread only.
  package func closeWithLoop() {
    body.lostItsLoop = true
    close()
  }
}
