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
  /// What is claimed for messages of others.
  let claimed = Atomic<Int>(0)

  init(record: OpaquePointer) { account = Account(pointer: cml_held_of(record)!) }

  func add(_ bytes: Int) { cml_held_add(account.pointer, Int64(bytes)) }

  var bytes: Int { cml_held_bytes(account.pointer) }

  /// What the limit of the state leaves; nil without a limit.
  var left: Int? {
    let left = cml_held_left(account.pointer)  // SIZE_MAX is -1 here
    return left < 0 ? nil : left
  }

  deinit { cml_held_free(account.pointer) }
}

/// Bytes that are charged to a state until the last reference goes, on whatever thread.
package final class MemoryCharge: Sendable {
  private let memory: HeldMemory
  private let bytes: Guarded<Int>
  private let isDeferred: Bool
  /// What it is a claim of; nil: it is no claim.
  private let room: MemoryRoom?

  fileprivate init(_ memory: HeldMemory, isDeferred: Bool = false, claiming room: MemoryRoom? = nil)
  {
    self.memory = memory
    self.room = room
    self.isDeferred = isDeferred
    bytes = Guarded(0)
  }

  /// Changes how many bytes a claim has, unless all claims of a state would take more than half of
  /// what its scripts leave: as much again is needed to receive a message.
  /// - Returns: Whether there is room.
  package func claim(_ count: Int) -> Bool {
    let growth = count - bytes.withLock { $0 }
    if let room, !room.fits(growth) { return false }
    if growth != 0 { set(count) }
    return true
  }

  fileprivate func set(_ count: Int) {
    let growth = bytes.withLock { bytes in
      defer { bytes = count }
      return count - bytes
    }
    if let room { room.add(growth) } else { memory.add(growth) }
  }

  deinit {
    if isDeferred {
      memory.returned.add(bytes.withLock { $0 }, ordering: .relaxed)
    } else {
      set(0)
    }
  }
}

/// Room for what others send to the scripts of a state. Any thread.
package final class MemoryRoom: Sendable {
  private let held: HeldMemory
  private let isNoted: Bool
  private let claimed = Atomic<Int>(0)

  fileprivate init(_ held: HeldMemory, isNoted: Bool) {
    self.held = held
    self.isNoted = isNoted
  }

  /// Whether nothing is claimed, so that waiting makes no room.
  package var isUnclaimed: Bool { claimed.load(ordering: .relaxed) == 0 }

  /// What to keep with the bytes: it claims none yet.
  package func makeClaim() -> MemoryCharge { MemoryCharge(held, claiming: self) }

  /// The same room, for claims that say nothing about what this one waits for.
  package func apart() -> MemoryRoom { MemoryRoom(held, isNoted: isNoted) }

  fileprivate func fits(_ growth: Int) -> Bool {
    guard growth > 0, let left = held.left else { return true }
    let all = held.claimed.load(ordering: .relaxed)
    return all + growth <= (isNoted ? left : left + all) / 2
  }

  fileprivate func add(_ bytes: Int) {
    claimed.add(bytes, ordering: .relaxed)
    held.claimed.add(bytes, ordering: .relaxed)
    if !isNoted { held.add(bytes) }
  }
}

extension LuaState {
  /// - Parameter areNoted: Claims do not count as memory of the scripts: nothing may depend on when
  ///   they come and go.
  package func makeRoom(areNoted: Bool) -> MemoryRoom {
    MemoryRoom(body.held, isNoted: areNoted)
  }

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
    count(bytes, in: &charge)
    if charge != nil && !isClosed { cml_check_memory(record) }
  }

  /// The same for what comes from outside, which stops no script: the caller asks `hasRoom`.
  package func count(_ bytes: Int, in charge: inout MemoryCharge?) {
    if bytes == 0 {
      charge = nil
    } else if let charge {
      charge.set(bytes)
    } else if body.limits.memory != nil && !isClosed {
      charge = MemoryCharge(body.held)
      charge?.set(bytes)
    }
  }

  /// How many bytes the limit leaves; less than 0 if more are in use. Loop thread only.
  package var memoryLeft: Int { body.limits.memory.map { $0 - bytesInUse } ?? .max }

  /// Lowers the limit that is in force, until limits are set: the host has no more to give.
  package func lowerLimit(to memory: Int) {
    guard let limit = body.limits.memory else { return }
    cml_set_memory_limit(record, max(1, min(limit, memory)))
  }

  /// Whether the scripts are within their limit, if need be after their garbage was collected.
  /// Finalizers may run. Loop thread only.
  package func hasRoom() -> Bool {
    if memoryLeft >= 0 { return true }
    collect()
    return memoryLeft >= 0
  }

  /// Says, on any thread, whether there is still room for bytes, and what to keep with them.
  /// - Parameter areNoted: They do not count, since nothing may depend on when that would be.
  package func makeMemoryClaims(
    areNoted: Bool
  ) -> @Sendable (_ bytes: Int) -> (any Sendable)? {
    guard body.limits.memory != nil, !isClosed else { return { _ in () } }
    let (held, left) = (body.held, memoryLeft)
    if areNoted { return { $0 > left ? nil : () } }
    let before = held.bytes
    return { bytes in
      if bytes > left - (held.bytes - before) { return nil }
      let charge = MemoryCharge(held)
      charge.set(bytes)
      return charge
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
