// What sources, timers and observers have in common: a name, validity, and whether they hold a run.

internal import CLinuxShims
internal import Synchronization

extension Loop {
  /// A source, timer or observer: something that modes hold and that the loop calls.
  ///
  /// Items are used on the thread of their loop, and stop the program elsewhere; `isValid` can be
  /// read anywhere. The initialisers take handlers that any thread may call; an item whose handler
  /// is bound to one thread is made by its loop: see `Loop.makeSource`, `Loop.schedule`.
  // Sendable: the state of an item is touched only on the thread of the loop that it is on (claimed
  // atomically), but for atomics and for what says otherwise at its declaration.
  public class Item: @unchecked Sendable {
    /// What the item is called in reports.
    public let name: String

    // In order of size, because there may be many items: bytes, halves, whole words.
    private let validity = Atomic<Bool>(true)
    private let hasLetGo = Atomic<Bool>(false)
    /// Whether only one thread ever adds it to loops, calls it and ends it. What counts its calls
    /// is then written by that thread alone, and need not be a locked instruction.
    final let isConfined: Bool
    @exclusivity(unchecked) package final var holds = true  // as `Loop.modes`
    /// A handler of the item is suspended: nothing is delivered meanwhile (D59). Loop thread only.
    @inline(__always) package final var isSuspended: Bool { suspensions > 0 }
    /// How many reasons there are to deliver nothing. Loop thread only.
    @exclusivity(unchecked) private final var suspensions: Int32 = 0
    /// Its modes in the loop that owns it. Loop thread only.
    @exclusivity(unchecked) final var places = Places()  // as `Loop.modes`
    /// How many calls of a source or port are under way, on all threads.
    private let calls = Atomic<Int32>(0)
    /// The thread whose loops alone may have the item; 0: any. See `bindToThread`.
    private let home = Atomic<Int32>(0)
    /// The loop that the item is on, as the bits of its identity; 0: none; `taken`: on no loop, and
    /// in use by a thread. Claimed atomically. On another thread that loop may end at any moment:
    /// there its identity is compared, and nothing is read from it.
    private let owner = Atomic<UInt>(0)
    /// The thread of that loop, for reports of other threads; of the last one if there is none.
    private let ownerThread = Atomic<Int32>(0)
    private let called = Atomic<UInt64>(0)
    /// What the binding keeps with the item; see `ItemMaker`. Loop thread only.
    @exclusivity(unchecked) package final var maker = ItemMaker()  // as `Loop.modes`

    // Asked for in each call-out: other modules would check the access to `maker` itself.
    package final var makerRef: Int32 { maker.ref }
    package final var hasMakerState: Bool { maker.state != nil }
    package final var makerState: AnyObject? { maker.state }

    init(name: String, isConfined: Bool) {
      self.name = name
      self.isConfined = isConfined
    }

    /// Whether the item has not been invalidated. Any thread.
    public final var isValid: Bool { validity.load(ordering: .acquiring) }

    /// Marks the item invalid.
    /// - Returns: Whether it was valid before.
    final func markInvalid() -> Bool {
      validity.exchange(false, ordering: .sequentiallyConsistent)
    }

    /// How often the item was called. Any thread.
    package final var callouts: UInt64 { called.load(ordering: .relaxed) }
    @inline(__always) final func countCall() {
      if isConfined {
        called.store(called.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
      } else {
        called.wrappingAdd(1, ordering: .relaxed)
      }
    }

    /// Begins a call of a source or port, which several threads may make at once.
    /// - Returns: false if it is invalid; the handlers may be gone. `endCall` is due all the same.
    @inline(__always)
    final func beginCall() -> Bool {
      if isConfined {
        calls.store(calls.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        return validity.load(ordering: .relaxed)
      }
      // Counted before the look: an invalidation after it finds the call, one before it is seen.
      calls.wrappingAdd(1, ordering: .sequentiallyConsistent)
      return validity.load(ordering: .sequentiallyConsistent)
    }

    @inline(__always)
    final func endCall() {
      if isConfined {
        calls.store(calls.load(ordering: .relaxed) &- 1, ordering: .relaxed)
      } else {
        calls.wrappingSubtract(1, ordering: .sequentiallyConsistent)
      }
      if !isValid { letGo() }
    }

    /// Releases the handlers of an invalid source or port, once, when no call of it is under way
    /// and no loop holds it.
    final func letGo() {
      guard calls.load(ordering: .sequentiallyConsistent) == 0, isNowhere,
        !hasLetGo.exchange(true, ordering: .acquiringAndReleasing)
      else { return }
      dropHandlers()
    }

    /// An invalid source or port leaves its loops: those of this thread at once.
    final func leaveAndLetGo(_ loops: [Loop]) {
      for loop in loops {
        if loop.isOnThread {
          loop.leaveAllModes(self)
        } else {
          loop.post(.change { $0.leaveAllModes(self) })
        }
      }
      letGo()
    }

    func dropHandlers() {}
    var isNowhere: Bool { true }

    /// Whether several loops may have it at once.
    package var canBeShared: Bool { false }

    /// Ends the item for good; idempotent. Each class says on which threads.
    public func invalidate() { _ = markInvalid() }

    // MARK: Threads

    /// Binds the item's handlers to the calling thread: no loop of another thread may have it.
    final func bindToThread() {
      let here = cmx_thread_id()
      let (isDone, found) = home.compareExchange(
        expected: 0, desired: here, ordering: .relaxed)
      if !isDone && found != here { wrongThread("bind", "was made for", found) }
    }

    /// Whether loops of the calling thread may have the item. Any thread.
    package final var isAtHome: Bool {
      let home = home.load(ordering: .relaxed)
      return home == 0 || home == cmx_thread_id()
    }

    /// Whether it is dropped on another thread than the only one that may use what its handlers
    /// use: then they must be released there, see `HomeThreads`.
    final var isAstray: Bool { !isAtHome }

    /// Makes the handlers of an item that is being dropped be released where they belong.
    final func sendHome(_ handlers: Any) {
      HomeThreads.bring(handlers, to: home.load(ordering: .relaxed))
    }

    /// Stops the program unless the item is on no loop, or on one of the calling thread.
    @inline(__always)
    final func requireThread(_ what: StaticString) {
      let bits = owner.load(ordering: .acquiring)
      if bits != 0 && bits != UInt(bitPattern: cmx_thread_loop()) {
        return requireOwner(what, bits)
      }
      if !isAtHome { wrongThread(what, "was made for", home.load(ordering: .relaxed)) }
    }

    @inline(never)
    private func requireOwner(_ what: StaticString, _ bits: UInt) {
      // This thread may have several loops, one inside another.
      let thread = ownerThread.load(ordering: .relaxed)
      if bits == Self.taken || thread == cmx_thread_id() { return }
      wrongThread(what, "is on a loop of", thread)
    }

    @inline(never)
    private func wrongThread(_ what: StaticString, _ how: String, _ thread: Int32) -> Never {
      fatalError(
        "\(what): \(fixedLabel) \(how) thread \(thread), "
          + "called on thread \(cmx_thread_id())")
    }

    private static let taken: UInt = 1

    /// Does something with an item of one loop at a time: on the thread of that loop; while it is
    /// on none, on any that may have it, one after the other.
    ///
    /// The body must neither call out nor release anything.
    @inline(__always)
    final func use<Result>(_ what: StaticString, _ body: () -> Result) -> Result {
      let bits = owner.load(ordering: .acquiring)
      if bits != 0 && bits == UInt(bitPattern: cmx_thread_loop()) { return body() }
      return useElsewhere(what, body)
    }

    @inline(never)
    private final func useElsewhere<Result>(_ what: StaticString, _ body: () -> Result) -> Result {
      let isFree = take() == 0
      if !isFree || !isAtHome {
        if isFree { release() }
        requireThread(what)
      }
      defer { if isFree { release() } }
      return body()
    }

    /// Takes an item that is on no loop; waits while another thread uses it.
    /// - Returns: 0 if it is taken; else the loop that it is on.
    private final func take() -> UInt {
      while true {
        let (isDone, found) = owner.compareExchange(
          expected: 0, desired: Self.taken, ordering: .acquiringAndReleasing)
        if isDone || found != Self.taken { return isDone ? 0 : found }
        cmx_relax()
      }
    }

    /// Ends an item of one loop: on the thread of that loop, or while it is on none.
    /// - Parameter body: Returns what must be released, which may use the item.
    final func end<Dropped>(_ what: StaticString, _ body: () -> Dropped) {
      let dropped: Dropped? = use(what) { markInvalid() ? body() : nil }
      withExtendedLifetime(dropped) {}
    }

    /// Takes the item for a loop, if no other has it.
    package final func claim(for loop: Loop) -> Bool {
      let (found, bits) = (take(), UInt(bitPattern: Unmanaged.passUnretained(loop).toOpaque()))
      if found != 0 { return found == bits }
      ownerThread.store(loop.threadID, ordering: .relaxed)
      owner.store(bits, ordering: .releasing)
      return true
    }

    package final func release() { owner.store(0, ordering: .releasing) }

    package final func isOwned(by loop: Loop) -> Bool {
      owner.load(ordering: .acquiring)
        == UInt(bitPattern: Unmanaged.passUnretained(loop).toOpaque())
    }

    /// The loop that the item is on. On the thread of that loop only.
    final var owningLoop: Loop? {
      let bits = owner.load(ordering: .acquiring)
      if bits == Self.taken { return nil }
      return UnsafeRawPointer(bitPattern: bits)
        .map { Unmanaged<Loop>.fromOpaque($0).takeUnretainedValue() }
    }

    package final var hasOwner: Bool { owner.load(ordering: .acquiring) != 0 }

    /// A reason to deliver nothing is added or removed; each must be removed once. Loop thread
    /// only.
    package func setSuspended(_ suspended: Bool) {
      suspensions += suspended ? 1 : -1
      assert(suspensions >= 0, "\(label) was resumed more often than suspended")
    }

    // MARK: What its kind adds
    // Each is called by a loop, on the thread of that.

    /// The item as a timer, whose record in its loop says where it is; nil for all other kinds,
    /// which stand in the lists of modes.
    var timer: Timer? { nil }
    /// Whether it holds runs open in its modes.
    var holdsRuns: Bool { holds }
    /// Whether it waits to be served in any mode: a source that was signalled. Any thread.
    package var isPending: Bool { false }

    /// A loop that it is in no mode of gets it.
    /// - Parameter isOwned: Whether it is that loop's own; false: another loop has it as well.
    func join(_ loop: Loop, isOwned: Bool) throws(LoopError) {
      if !isOwned { throw .onAnotherLoop(label) }
    }
    /// It has left all modes of a loop.
    func leave(_ loop: Loop, isOwned: Bool) {}
    /// The loop that had it first has released it: from now on it is this loop's own.
    func settle(_ guest: Guest, on loop: Loop) { places = guest.places }
    /// It is about to join a mode.
    func willJoin(_ mode: Mode, of loop: Loop) throws(LoopError) {}
    /// Puts it into the list of its kind in a mode, and returns its place.
    func enlist(in mode: Mode) -> Int { fatalError("\(label) is in no list") }
    func didJoin(_ mode: Mode, of loop: Loop) {}
    /// Removes it from that list.
    /// - Parameter moved: Called for items whose index changes.
    func strike(from mode: Mode, of loop: Loop, at place: Int, moved: (Item, Int) -> Void) {}
    func didLeave(_ mode: Mode, of loop: Loop) {}
    /// It delivers again: held-back events take their place.
    func deliverHeld(on loop: Loop) {}
    /// What items equal to it have in common, in a mode or among the common items; nil: it is equal
    /// to itself only.
    func equality(in mode: Mode?) -> EqualityKey? { nil }
    var identity: AnyHashable? { nil }

    /// What kind of item it is, in a word: for reports.
    var kind: String { "item" }

    /// Kind and name, for reports.
    public var label: String { fixedLabel }

    /// The same of what never changes, so that any thread may read it.
    private final var fixedLabel: String {
      if !name.isEmpty { return "\(kind) '\(name)'" }
      let article = kind.first.map { "aeiou".contains($0) } ?? false ? "an" : "a"
      return "\(article) \(kind) without a name"
    }
  }
}

/// A few words that a library which makes items for others keeps with each: a table on the side
/// would cost more than the item. The core does not look at them.
package struct ItemMaker {
  /// The reference by which the library's object for the item is held; 0: not held.
  package var ref: Int32 = 0
  /// Its place in the library's list; -1: in none.
  package var index: Int32 = -1
  /// Where it was made: a file by number, and a line.
  package var source: Int32 = -1
  package var line: Int32 = 0
  /// Where its figures are kept; -1: nowhere.
  package var row: Int32 = -1
  /// The library's number for the kind of item; 0: none.
  package var kind: UInt8 = 0
  /// The library's number for when it was made; 0: it does not matter.
  package var generation: Int32 = 0
  /// What else belongs to the item.
  package var state: AnyObject?

  init() {}
}
