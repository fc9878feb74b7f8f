// Version-0 sources: signalled by hand, performed by the loop.

internal import CLinuxShims
internal import Synchronization

extension Loop {
  /// A version-0 source: signalled by hand, performed when a mode of it runs.
  ///
  /// It may be in several modes and several loops; one signal is one perform, by whichever looks
  /// first (R48). Counterpart: `CFRunLoopSource`, version 0.
  public final class Source: Item, @unchecked Sendable {  // as `Item`, and see `members`
    /// Called when the source is added to a mode of a loop, and when it leaves one (R46).
    public typealias Scheduler = (_ source: Source, _ loop: Loop, _ mode: ModeName) -> Void
    /// Called when the source was signalled and a mode of it runs (R39).
    public typealias Perform = (_ source: Source) -> Void

    /// Signalled sources are performed by ascending order (R42).
    public let order: Int
    /// Which sources it is equal to, and how it describes itself; nil for most.
    package let traits: SourceTraits?

    @exclusivity(unchecked) package private(set) var schedule: Scheduler?
    @exclusivity(unchecked) package private(set) var cancel: Scheduler?
    @exclusivity(unchecked) private(set) var perform: Perform?

    /// It was signalled, and is noted by a post or by its loop.
    private let mark = Atomic<Bool>(false)
    /// The same for signals on the thread of a confined source: written by that thread alone, so
    /// that it needs no locked instruction. Either mark counts; one of them is enough.
    private let ownMark = Atomic<Bool>(false)
    /// The loops that it is in. Protected by its lock, held for no call.
    private let members = Guarded<[Membership]>([])
    /// Whether it is in one loop only, the one that owns it.
    private let isShared = Atomic<Bool>(false)

    /// Makes a source, on no loop yet.
    /// - Parameters:
    ///   - order: Its place among signalled sources.
    ///   - name: Its name in reports.
    ///   - identity: Sources with equal identities and orders count as one: a mode takes the first
    ///     of them, and answers for it when it is asked for another (R143); nil: equal to itself.
    ///   - describe: Says what the source is about, for `description` and dumps (R144).
    ///   - schedule: Called at each adding to a mode.
    ///   - cancel: Called at each leaving of a mode, also by its end and the thread's.
    ///   - perform: Called on the thread of a loop that it is in.
    /// - SeeAlso: `Loop.makeSource`, for closures bound to one thread.
    @_disfavoredOverload
    public convenience init(
      order: Int = 0, name: String = "", identity: (any Hashable & Sendable)? = nil,
      describe: (@Sendable (_ source: Source) -> String)? = nil,
      schedule: (@Sendable (_ source: Source, _ loop: Loop, _ mode: ModeName) -> Void)? = nil,
      cancel: (@Sendable (_ source: Source, _ loop: Loop, _ mode: ModeName) -> Void)? = nil,
      perform: @escaping @Sendable (_ source: Source) -> Void
    ) {
      self.init(
        order: order, name: name,
        traits: SourceTraits(identity: identity.map { AnyHashable($0) }, describe: describe),
        schedule: schedule, cancel: cancel, isConfined: false, perform: perform)
    }

    /// Makes a source from closures that are not Sendable; add it only to loops of their thread.
    package convenience init(
      order: Int = 0, name: String = "", traits: SourceTraits? = nil, schedule: Scheduler? = nil,
      cancel: Scheduler? = nil, perform: @escaping Perform
    ) {
      self.init(
        order: order, name: name, traits: traits, schedule: schedule, cancel: cancel,
        isConfined: false, perform: perform)
    }

    /// The same for a source that is confined to one thread, but for signals: that thread alone
    /// adds it to its loops and ends it.
    package init(
      order: Int, name: String, traits: SourceTraits? = nil, schedule: Scheduler?,
      cancel: Scheduler?, isConfined: Bool, perform: @escaping Perform
    ) {
      self.order = order
      self.traits = traits
      self.schedule = schedule
      self.cancel = cancel
      self.perform = perform
      super.init(name: name, isConfined: isConfined)
    }

    /// Marks the source: it is performed in the next pass of a mode that it is in.
    ///
    /// Wakes no loop (R40): see `Loop.wakeUp`. Any number of signals before that is one (R39); the
    /// mark survives runs in other modes, removal and adding again (R41). No effect if the
    /// source is invalid.
    /// - Complexity: O(n) in the loops that it is in.
    /// - Note: Any thread. No system call.
    public func signal() {
      if mark.load(ordering: .relaxed) {
        // With `takeMark`: still there, or the perform reads what was written before this.
        cmx_fence()
        if mark.load(ordering: .relaxed) { return }
      }
      if isConfined && signalHere() { return }
      guard isValid, !mark.exchange(true, ordering: .sequentiallyConsistent) else { return }
      if !isShared.load(ordering: .sequentiallyConsistent), noteHere() { return }
      for member in members.withLock({ $0 }) where member.claimPost() {
        member.loop.post(.signalled(self, member))
      }
    }

    /// Signals a confined source on the thread of its only loop: no other thread takes that mark
    /// off.
    /// - Returns: false if it is another thread, or there are more loops.
    @inline(__always)
    private func signalHere() -> Bool {
      guard !isShared.load(ordering: .relaxed), let pointer = cmx_thread_loop() else {
        return false
      }
      return Unmanaged<Loop>.fromOpaque(pointer)._withUnsafeGuaranteedRef { loop in
        guard isOwned(by: loop) else { return false }
        if !isValid || ownMark.load(ordering: .relaxed) || mark.load(ordering: .relaxed) {
          return true
        }
        ownMark.store(true, ordering: .relaxed)
        loop.noteSignalled(self)
        return true
      }
    }

    /// Notifies the loop of this thread, if it is the one that the source is on.
    @inline(__always)
    private func noteHere() -> Bool {
      guard let pointer = cmx_thread_loop() else { return false }
      return Unmanaged<Loop>.fromOpaque(pointer)._withUnsafeGuaranteedRef { loop in
        guard isOwned(by: loop) else { return false }
        loop.noteSignalled(self)
        return true
      }
    }

    /// Whether it was signalled and not performed since. Any thread.
    public var isSignalled: Bool {
      ownMark.load(ordering: .relaxed) || mark.load(ordering: .sequentiallyConsistent)
    }

    package override var isPending: Bool { isSignalled }

    /// Whether a signal on its own thread is noted already, and keeps its place. Loop thread only.
    var isNotedHere: Bool { ownMark.load(ordering: .relaxed) }

    /// Removes the marks that signals have set.
    /// - Returns: Whether there was one: the caller that gets true performs.
    func takeMark() -> Bool {
      var wasSignalled = false
      if ownMark.load(ordering: .relaxed) {
        ownMark.store(false, ordering: .relaxed)
        wasSignalled = true
      }
      // A thread that sets the other mark after this look has posted, or will: it is found then.
      if mark.load(ordering: .relaxed), mark.exchange(false, ordering: .acquiringAndReleasing) {
        cmx_fence()
        wasSignalled = true
      }
      return wasSignalled
    }

    /// Ends the source for good: it leaves all modes of all loops and its handlers (R126).
    ///
    /// Allowed at any time, also in its own handler; idempotent. In loops of other threads it
    /// leaves the modes when those next look; it is not performed there any more.
    /// - Note: Any thread; only that of its handlers if they are not `@Sendable`.
    public override func invalidate() {
      if !isAtHome { requireThread("source.invalidate") }
      guard markInvalid() else { return }
      leaveAndLetGo(members.withLock { $0.map(\.loop) })
    }

    /// The number of the signal that waits in the loop that owns it; 0: none. Loop thread only.
    @exclusivity(unchecked) var signalNumber: UInt64 = 0

    package override func dropHandlers() {
      perform = nil
      schedule = nil
      cancel = nil
      traits?.dropHandler()
    }

    deinit { if isAstray { sendHome((perform, schedule, cancel, traits)) } }

    package override var isNowhere: Bool { members.withLock { $0.isEmpty } }
    package override var canBeShared: Bool { true }

    override func join(_ loop: Loop, isOwned: Bool) {
      members.withLock { members in
        if !members.contains(where: { $0.loop === loop }) { members.append(Membership(loop)) }
        // With `signal`: a thread that sees the source alone is seen by the loop that joins
        // afterwards.
        isShared.store(members.count > 1, ordering: .sequentiallyConsistent)
      }
    }

    override func leave(_ loop: Loop, isOwned: Bool) {
      members.withLock { members in
        members.removeAll { $0.loop === loop }
        isShared.store(
          members.count > 1 || (members.count == 1 && !self.isOwned(by: members[0].loop)),
          ordering: .releasing)
      }
    }

    override func settle(_ guest: Guest, on loop: Loop) {
      super.settle(guest, on: loop)
      signalNumber = guest.signalNumber
      if isSignalled { loop.noteSignalled(self) }
    }

    override func enlist(in mode: Mode) -> Int { mode.sources.append(self) }
    override func didJoin(_ mode: Mode, of loop: Loop) {
      if isSignalled { loop.noteSignalled(self, joining: mode) }  // R41
      if loop.runs.takesPosts { loop.wakeUp() }  // R50
      if let schedule { loop.callOut { schedule(self, loop, mode.name) } }
    }
    override func strike(from mode: Mode, of loop: Loop, at place: Int, moved: (Item, Int) -> Void)
    {
      loop.forgetSignal(at: place, mode)
      mode.sources.remove(at: place, moved: moved)
    }
    override func didLeave(_ mode: Mode, of loop: Loop) {
      // In no mode it gives up its place among equal orders; the mark stays (R41).
      if isOwned(by: loop) && places.isEmpty { signalNumber = 0 }
      if let cancel { loop.callOut { cancel(self, loop, mode.name) } }
    }
    override func deliverHeld(on loop: Loop) { loop.noteHeldSignal(self) }

    override var identity: AnyHashable? { traits?.identity }
    override func equality(in mode: Mode?) -> EqualityKey? {
      isAtHome ? EqualityKey(of: self, in: mode) : nil  // else it is in no loop of this thread
    }

    package override var kind: String { "source" }
  }
}
