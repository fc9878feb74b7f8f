// Memory that the host holds for scripts, such as queued messages: it counts towards the memory
// limit of their state.

internal import CLuaShims
internal import Synchronization

/// The account of a state. Any thread.
final class HeldMemory: Sendable {
  /// Sendable: its only uses are one atomic addition, and freeing it with the last
  /// reference.
  private struct Account: @unchecked Sendable {
    let pointer: OpaquePointer
  }
  private let account: Account
  /// Whether what other threads give back waits in `returned` until the state asks for it. Set
  /// before any other thread knows a charge.
  let defersReturns = Atomic<Bool>(false)
  /// What was given back, and still counts.
  let returned = Atomic<Int>(0)

  init(record: OpaquePointer) { account = Account(pointer: cml_held_of(record)!) }

  func add(_ bytes: Int) { cml_held_add(account.pointer, Int64(bytes)) }

  deinit { cml_held_free(account.pointer) }
}

/// Bytes that are charged to a state until the last reference goes, on whatever thread.
package final class MemoryCharge: Sendable {
  private let memory: HeldMemory
  private let bytes: Guarded<Int>
  private let isDeferred: Bool

  fileprivate init(_ memory: HeldMemory, isDeferred: Bool = false) {
    self.memory = memory
    self.isDeferred = isDeferred
    bytes = Guarded(0)
  }

  fileprivate func set(_ count: Int) {
    let growth = bytes.withLock { bytes in
      defer { bytes = count }
      return count - bytes
    }
    memory.add(growth)
  }

  deinit {
    if isDeferred {
      memory.returned.add(bytes.withLock { $0 }, ordering: .relaxed)
    } else {
      set(0)
    }
  }
}

extension LuaState {
  /// Counts memory that stays until the state goes. Loop thread only.
  package func addNative(_ bytes: Int) { cml_add_native(record, bytes) }

  /// Charges bytes to the scripts, whose call-out is stopped if they pass their limit.
  /// Charges are for what scripts make the host hold: the stop comes when the call into the host
  /// has returned, as it does for Lua's own memory.
  /// - Parameter leaves: Another thread may drop the last reference, at any time.
  /// - Returns: What to keep with the bytes; nil if the scripts have no limit.
  package func charge(_ bytes: Int, leaves: Bool = false) -> MemoryCharge? {
    if body.limits.memory == nil || isClosed { return nil }
    let isDeferred = leaves && body.held.defersReturns.load(ordering: .relaxed)
    let charge = MemoryCharge(body.held, isDeferred: isDeferred)
    charge.set(bytes)
    cml_check_memory(record)
    return charge
  }

  /// Changes the charge for something that grows and shrinks.
  package func charge(_ bytes: Int, to charge: inout MemoryCharge?) {
    if bytes == 0 {
      charge = nil
    } else if let charge {
      charge.set(bytes)
      if !isClosed { cml_check_memory(record) }
    } else {
      charge = self.charge(bytes)
    }
  }

  /// From now on what other threads give back counts until `takeReturns`: for a state whose steps
  /// must depend on nothing that other threads do unseen. Call it before the first charge.
  package func deferReturns() { body.held.defersReturns.store(true, ordering: .relaxed) }

  package var defersReturns: Bool { body.held.defersReturns.load(ordering: .relaxed) }

  /// Whether other threads have given something back that still counts.
  package var hasReturns: Bool { body.held.returned.load(ordering: .relaxed) > 0 }

  /// The bytes that other threads have given back. They count until `giveBack`.
  package func takeReturns() -> Int { body.held.returned.exchange(0, ordering: .relaxed) }

  /// These bytes count no more.
  package func giveBack(_ bytes: Int) { body.held.add(-bytes) }
}
