// References from Swift to Lua values: they may be dropped on any thread, and return to
// Lua on the state's own.

internal import CLuaShims
internal import Synchronization

/// Collects references that were dropped away from the state's thread.
///
/// It outlives the state: dropping a reference later has no effect.
final class ReleaseList: @unchecked Sendable {
  // Sendable: `record` is read and written on the owner thread only, `dropped` under its lock, the
  // rest is atomic or constant.
  private let record: OpaquePointer
  private let owner = cml_thread_id()
  /// The state, while it is open. Owner thread only.
  var body: Unmanaged<LuaStateBody>!  // it holds this list, and outlives its use
  private let open = Atomic<Bool>(true)
  private let dropped = Guarded<[Int32]>([])
  private let hasDropped = Atomic<Bool>(false)

  init(record: OpaquePointer) { self.record = record }

  var label: String { "the Lua state of thread \(owner)" }

  var isOnOwner: Bool { cml_thread_id() == owner }

  /// Whether the state is open; off its own thread it may close at any time. Any thread.
  var isOpen: Bool { open.load(ordering: .acquiring) }

  /// The state, for a use of one of its values.
  /// - Throws: `LuaError.closed`. Stops the program on a thread that is not the state's.
  func state(for what: StaticString) throws(LuaError) -> LuaState {
    try requireUse(what)
    return Unmanaged<LuaState>.fromOpaque(cml_owner(record)).takeUnretainedValue()
  }

  /// Only the check of `state(for:)`.
  @inline(__always)
  func requireUse(_ what: StaticString) throws(LuaError) {
    if !isOpen { throw .closed }
    if !isOnOwner { wrongThread(what) }
  }

  @inline(never)
  private func wrongThread(_ what: StaticString) -> Never {
    fatalError(
      "\(what): a Lua value belongs to thread \(owner), used on thread \(cml_thread_id()); "
        + "use perform or change of its loop to get there")
  }

  /// Gives a reference back, now or when the owner thread next drains.
  func release(_ ref: Int32) {
    if isOnOwner {
      if isOpen { cml_unref(cml_running(record), ref) }
    } else {
      dropped.withLock { $0.append(ref) }
      hasDropped.store(true, ordering: .releasing)
    }
  }

  /// Owner thread only. One load if nothing was dropped elsewhere.
  @inline(__always)
  func drain() {
    if hasDropped.load(ordering: .relaxed) { drainDropped() }
  }

  @inline(never)
  private func drainDropped() {
    hasDropped.store(false, ordering: .relaxed)
    let refs = dropped.withLock { list in
      defer { list.removeAll(keepingCapacity: false) }
      return list
    }
    guard isOpen else { return }
    for ref in refs { cml_unref(cml_running(record), ref) }
  }

  /// Owner thread only.
  func close() {
    drain()
    open.store(false, ordering: .releasing)
  }
}

/// A Lua value that Swift keeps: a table, a function, anything.
///
/// It may be dropped on any thread, even after its state was closed. Other threads may pass it on,
/// as to `LuaHost.call`, but do nothing else with it.
public final class LuaReference: Sendable {
  let ref: Int32
  let list: ReleaseList

  /// Pops the top value of the stack and keeps it. [-1, +0, raises: -]
  package init(popping stack: LuaStack) {
    list = stack.state.releases
    list.drain()
    ref = stack.popRef()
  }

  deinit { list.release(ref) }

  func state(for what: StaticString) throws(LuaError) -> LuaState { try list.state(for: what) }

  /// Whether the state is still open. Any thread; off the state's own, that may change at once.
  public var isValid: Bool { list.isOpen }

  /// Pushes the value; nil if the state is closed or the value belongs to another state. [-0, +1,
  /// raises: -]
  func put(on stack: LuaStack) {
    let state = stack.state
    guard list === state.releases else {
      fatalError(
        "a Lua value of \(list.label) was handed to another state, \(state.body.label); copy it "
          + "with LuaCopy")
    }
    stack.push(ref: ref)
  }

  /// Whether the value belongs to this state, which is open.
  package func belongs(to state: LuaState) -> Bool { list === state.releases && list.isOpen }
}
