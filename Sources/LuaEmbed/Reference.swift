// References from Swift to Lua values: they may be dropped on any thread, and are given back to
// Lua on the state's own.

internal import CLuaShims
internal import Synchronization

/// Collects references that were dropped away from the state's thread.
///
/// It outlives the state: a reference dropped later finds it closed and does nothing.
final class ReleaseList: @unchecked Sendable {
  // Sendable: `record` and `isOpen` are read and written on the owner thread only, `dropped` under
  // its lock, `owner` never changes.
  private let record: OpaquePointer
  private let owner = ThreadIdentity.current
  private(set) var isOpen = true
  private let dropped = Guarded<[Int32]>([])
  private let hasDropped = Atomic<Bool>(false)

  init(record: OpaquePointer) { self.record = record }

  var isOnOwner: Bool { ThreadIdentity.current == owner }

  /// Gives a reference back, now or when the owner thread next drains.
  func release(_ ref: Int32) {
    if isOnOwner {
      if isOpen { cml_unref(cml_running(record), ref) }
    } else {
      dropped.withLock { $0.append(ref) }
      hasDropped.store(true, ordering: .releasing)
    }
  }

  /// Owner thread only. One load when nothing was dropped elsewhere.
  func drain() {
    guard hasDropped.load(ordering: .relaxed) else { return }
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
    isOpen = false
  }
}

/// Says whether two moments are on the same thread; cheaper than asking the system.
struct ThreadIdentity: Equatable, Sendable {
  private let value: UInt

  static var current: ThreadIdentity { ThreadIdentity(value: cml_thread_identity()) }
}

/// A Lua value that Swift keeps: a table, a function, anything.
///
/// It may be dropped on any thread, also after its state was closed; it is used on the state's.
public final class LuaReference: Sendable {
  let ref: Int32
  private let list: ReleaseList

  /// Pops the top value of the stack and keeps it. [-1, +0, raises: -]
  public init(popping stack: LuaStack) {
    list = stack.state.releases
    list.drain()
    ref = stack.popRef()
  }

  deinit { list.release(ref) }

  /// Whether the state still exists. Owner thread only.
  public var isValid: Bool { list.isOpen }

  /// Pushes the value; nil once the state is closed or if it is another state's. [-0, +1, raises:
  /// -]
  func put(on stack: LuaStack) {
    precondition(list === stack.state.releases, "a Lua value was used in a state it is not of")
    stack.push(ref: ref)
  }

  /// Whether the value is of this state, which is open.
  package func belongs(to state: LuaState) -> Bool { list === state.releases && list.isOpen }
}
