// Memory that the host holds for scripts, such as queued messages: it counts towards the memory
// limit of their state.

internal import CLuaShims

/// The account of a state. Any thread.
final class HeldMemory: Sendable {
  /// Sendable: its only uses are one atomic addition, and freeing it with the last
  /// reference.
  private struct Account: @unchecked Sendable {
    let pointer: OpaquePointer
  }
  private let account: Account

  init(record: OpaquePointer) { account = Account(pointer: cml_held_of(record)!) }

  func add(_ bytes: Int) { cml_held_add(account.pointer, Int64(bytes)) }

  deinit { cml_held_free(account.pointer) }
}

/// Bytes that are charged to a state until the last reference goes, on whatever thread.
package final class MemoryCharge: Sendable {
  private let memory: HeldMemory
  private let bytes: Guarded<Int>

  fileprivate init(_ memory: HeldMemory) {
    self.memory = memory
    bytes = Guarded(0)
  }

  fileprivate func set(_ count: Int) {
    let growth = bytes.withLock { bytes in
      defer { bytes = count }
      return count - bytes
    }
    memory.add(growth)
  }

  deinit { set(0) }
}

extension LuaState {
  /// Counts memory that stays until the state goes. Loop thread only.
  package func addNative(_ bytes: Int) { cml_add_native(record, bytes) }

  /// Charges bytes to the scripts, whose call-out is stopped if they pass their limit.
  /// Charges are for what scripts make the host hold: the stop comes when the call into the host
  /// has returned, as it does for Lua's own memory.
  /// - Returns: What to keep with the bytes; nil if the scripts have no limit.
  package func charge(_ bytes: Int) -> MemoryCharge? {
    if body.limits.memory == nil || isClosed { return nil }
    let charge = MemoryCharge(body.held)
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
}
