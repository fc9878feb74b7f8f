// In-process ports: queues of messages with their own readiness.

internal import Synchronization

extension Loop {
  /// A port: a queue of messages that wakes the loop by itself and gives one message a pass.
  ///
  /// A version-1 source inside one process. Counterparts: `CFMachPort`, `NSPort`.
  public final class Port: Item, @unchecked Sendable {  // as `Item`, and see `members`
    /// Called with one message (R54).
    public typealias Handler = (_ port: Port, _ message: any Sendable) -> Void

    /// How many messages may wait.
    public let capacity: Int

    /// Called with one message as it waits.
    package typealias ParcelHandler = (_ port: Port, _ parcel: any Parcel) -> Void

    @exclusivity(unchecked) private(set) var handler: ParcelHandler?  // as `Loop.modes`
    private let queue = Inbox<any Parcel>()
    /// The senders that wait for room; protected by its lock, which is held for no call.
    private let roomWaiters = Guarded<[@Sendable () -> Void]>([])
    private let isRoomWanted = Atomic<Bool>(false)
    /// Where messages of other threads arrive, if its loop has an intake. Set before any of them
    /// knows the port.
    package private(set) var arrivals: Arrivals?
    /// Whether messages go through the intake.
    private let asksIntake = Atomic<Bool>(false)
    /// The loops that it is in. Protected by its lock, held for no call.
    private let members = Guarded<[Membership]>([])

    /// Makes a port, on no loop yet.
    /// - Parameters:
    ///   - name: Its name in reports.
    ///   - capacity: How many messages may wait, at least 1.
    ///   - handler: Called on the thread of a loop that it is in, once for each message.
    /// - SeeAlso: `Loop.makePort`, for closures bound to one thread.
    @_disfavoredOverload
    public convenience init(
      name: String = "", capacity: Int = 65_536,
      handler: @escaping @Sendable (_ port: Port, _ message: any Sendable) -> Void
    ) {
      let plain: Handler = handler
      self.init(name: name, capacity: capacity, handler: plain)
    }

    /// Makes a port from a closure that is not Sendable; add it only to loops of the closure's
    /// thread.
    package convenience init(
      name: String = "", capacity: Int = 65_536, handler: @escaping Handler
    ) {
      self.init(name: name, capacity: capacity, parcels: { handler($0, $1.message) })
    }

    package init(name: String, capacity: Int, parcels: @escaping ParcelHandler) {
      self.capacity = max(1, capacity)
      handler = parcels
      super.init(name: name, isConfined: false)
    }

    /// Puts a message at the end of the queue and wakes the loop if that sleeps.
    ///
    /// Messages wait while no mode of the port runs, and while it is in no mode (R55, R57).
    /// - Throws: `LoopError.portFull`, or `.invalidItem` when the port was invalidated.
    /// - Note: Any thread. No system call unless a loop sleeps.
    public func post(_ message: any Sendable) throws(LoopError) {
      try post(parcel: Enclosed(message))
    }

    package func post(parcel: any Parcel) throws(LoopError) {
      if asksIntake.load(ordering: .relaxed) { return try postByIntake(parcel) }
      try postPlainly(parcel)
    }

    @inline(__always)
    private func postPlainly(_ parcel: any Parcel) throws(LoopError) {
      guard isValid else { throw .invalidItem(label) }
      guard let before = queue.post(parcel, limit: capacity) else { throw refusal }
      if before == 0 { tellLoops() }
    }

    private var refusal: LoopError {
      isValid ? .portFull(label, capacity: capacity) : .invalidItem(label)
    }

    /// Posts a message beyond the capacity, too: for the one notice that must not be lost.
    /// - Returns: false if the port is invalid.
    @discardableResult
    package func postAlways(_ message: any Sendable) -> Bool {
      guard isValid else { return false }
      if let arrivals, !arrivals.isHome { return arrivals.post(message) }
      guard let before = queue.post(Enclosed(message)) else { return false }
      if before == 0 { tellLoops() }
      return true
    }

    /// Has a body called once, when there is room again or the port has ended; at once if there is
    /// room already. Any thread, on which the body is called as well: it must not do much.
    package func whenRoom(_ body: @escaping @Sendable () -> Void) {
      roomWaiters.withLock { $0.append(body) }
      isRoomWanted.store(true, ordering: .sequentiallyConsistent)
      // A receiver that takes a message after this store sees the waiter.
      if !isValid || hasRoom { tellOfRoom() }
    }

    /// Whether there is room for more than a message or two: else a full port would wake a sender
    /// for each message that it gives.
    private var hasRoom: Bool {
      var count = waiting
      if let arrivals, !arrivals.isHome { count += arrivals.waiting }
      return count <= capacity - max(1, min(64, capacity / 2))
    }

    private func tellOfRoom() {
      guard isRoomWanted.exchange(false, ordering: .sequentiallyConsistent) else { return }
      let waiters = roomWaiters.withLock { waiters in
        defer { waiters = [] }
        return waiters
      }
      for tell in waiters { tell() }
    }

    /// The first message has arrived. Later ones need no notice: a loop that
    /// takes a message looks for more, and gives the port another turn.
    private func tellLoops() {
      for member in members.withLock({ $0 }) {
        if member.loop.isOnThread {
          member.loop.noteReady(self)
        } else if member.claimPost() {
          member.loop.post(.portReady(self, member))
        }
      }
    }

    /// How many messages wait. Any thread.
    public var waiting: Int { queue.waiting }

    package func take() -> (any Parcel)? {
      guard isValid, let message = queue.takeFirst() else { return nil }
      if isRoomWanted.load(ordering: .sequentiallyConsistent), hasRoom { tellOfRoom() }
      return message
    }

    /// Sets the handler of a port that was made for another thread, which alone uses it from now
    /// on. Before it is added to a loop.
    package func listen(_ handler: @escaping ParcelHandler) { self.handler = handler }

    /// Ends the port for good: no more callbacks, and posting to it fails (R57).
    ///
    /// Allowed at any time, also in its own handler; idempotent. Messages that wait are dropped.
    /// - Complexity: O(n) in those messages and the loops that it is in.
    /// - Note: Any thread; only that of its handler if it is not `@Sendable`.
    public override func invalidate() {
      if !isAtHome { requireThread("port.invalidate") }
      guard markInvalid() else { return }
      queue.close()
      _ = queue.takeAll()
      arrivals?.end()
      tellOfRoom()
      leaveAndLetGo(members.withLock { $0.map(\.loop) })
    }

    package override func dropHandlers() { handler = nil }

    deinit { if isAstray, let handler { sendHome(handler) } }

    package override var isNowhere: Bool { members.withLock { $0.isEmpty } }
    package override var canBeShared: Bool { true }

    override func join(_ loop: Loop, isOwned: Bool) {
      members.withLock { members in
        if !members.contains(where: { $0.loop === loop }) { members.append(Membership(loop)) }
      }
    }

    override func leave(_ loop: Loop, isOwned: Bool) {
      members.withLock { $0.removeAll { $0.loop === loop } }
    }

    override func enlist(in mode: Mode) -> Int { mode.ports.append(self) }
    override func didJoin(_ mode: Mode, of loop: Loop) {
      if waiting > 0 { loop.giveTurn(self, mode) }
    }
    override func strike(from mode: Mode, of loop: Loop, at place: Int, moved: (Item, Int) -> Void)
    {
      mode.giveUp(turn: mode.ports.mark(at: place))
      mode.ports.remove(at: place, moved: moved)
    }
    override func deliverHeld(on loop: Loop) { if waiting > 0 { loop.noteReady(self) } }

    package override var kind: String { "port" }

    // MARK: The intake

    /// Has what other threads post arrive where the intake of a loop can tell, if it has one.
    /// For ports of scripts, before any other thread knows them. Loop thread only.
    package func arrive(at loop: Loop) {
      // Only then: an object that was ever referred to weakly counts its references more slowly.
      if Intake.isPlain { return }
      arrivals = loop.makeArrivals { [weak self] message in
        let parcel = message as? any Parcel ?? Enclosed(message)
        guard let self, isValid, let before = queue.post(parcel) else { return }
        if before == 0 { tellLoops() }
      }
      if arrivals == nil { return }
      arrivals?.port = self
      asksIntake.store(true, ordering: .relaxed)
    }

    /// It belongs to another thread: what becomes of messages to it goes through the intake, if
    /// there is one.
    package func noteForeign() {
      if !Intake.isPlain { asksIntake.store(true, ordering: .relaxed) }
    }

    /// Posts what may come from any thread; where there is an intake, as if from another one,
    /// though it may come from the loop's own.
    package func postFromAnywhere(_ message: any Sendable) -> Bool {
      if let arrivals { return isValid && arrivals.post(message) }
      return (try? post(message)) != nil
    }

    @inline(never)
    private func postByIntake(_ parcel: any Parcel) throws(LoopError) {
      if let arrivals {
        if arrivals.isHome { return try postPlainly(parcel) }
        guard isValid else { throw .invalidItem(label) }
        guard arrivals.post(parcel.message, limit: capacity - queue.waiting) else { throw refusal }
        return
      }
      if Intake.isReplayed { (parcel.message as? any UnsentMessage)?.forget() }
      let outcome = Intake.number {
        do throws(LoopError) { try postPlainly(parcel) } catch {
          if case .portFull = error { return 1 }
          return 2
        }
        return 0
      }
      switch outcome {
      case 0: return
      case 1: throw .portFull(label, capacity: capacity)
      default: throw .invalidItem(label)
      }
    }
  }
}

/// What waits in a port: an object, which is moved and known again by a pointer. Any thread.
package protocol Parcel: AnyObject, Sendable {}

extension Parcel {
  /// The posted message.
  package var message: any Sendable { (self as? Enclosed)?.message ?? self }
}

/// A message that is no parcel by itself.
private final class Enclosed: Parcel {
  let message: any Sendable

  init(_ message: any Sendable) { self.message = message }
}

/// A message that a replay does not send.
package protocol UnsentMessage: Sendable {
  /// It is not delivered: the effects of dropping it are replayed.
  func forget()
}
