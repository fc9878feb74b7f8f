// Observers: called at the activities of a run.

extension Loop {
  /// Called at activities of a loop. Counterpart: `CFRunLoopObserver`.
  ///
  /// An observer does not keep a run going (R38), and is not called while its own handler
  /// runs (R36).
  public final class Observer: Item, @unchecked Sendable {  // as `Item`
    /// What the observer is called with.
    public typealias Handler = (_ observer: Observer, _ activity: Activity) -> Void

    /// The activities at which it is called.
    public let activities: Activity
    /// Observers are called by ascending order, equal ones in order of adding (R32).
    public let order: Int
    /// Whether it is called again after the first time (R34).
    public let repeats: Bool

    private(set) var handler: Handler?
    package var isFiring = false  // loop thread only
    /// The loop that it is on. Loop thread only.
    weak var loop: Loop?

    /// Makes an observer, on no loop yet.
    /// - Parameters:
    ///   - activities: When it is called.
    ///   - repeats: false: called once, at the first activity that occurs, then invalid.
    ///   - order: Its place among other observers.
    ///   - name: Its name in reports.
    ///   - handler: Called on the thread of the loop.
    /// - SeeAlso: `Loop.observe`, for closures bound to one thread.
    @_disfavoredOverload
    public convenience init(
      _ activities: Activity = .all, repeats: Bool = true, order: Int = 0, name: String = "",
      handler: @escaping @Sendable (_ observer: Observer, _ activity: Activity) -> Void
    ) {
      let plain: Handler = handler
      self.init(activities, repeats: repeats, order: order, name: name, handler: plain)
    }

    /// Makes an observer from a closure that is not Sendable; add it only to loops of the closure's
    /// thread.
    package init(
      _ activities: Activity = .all, repeats: Bool = true, order: Int = 0, name: String = "",
      handler: @escaping Handler
    ) {
      self.activities = activities
      self.order = order
      self.repeats = repeats
      self.handler = handler
      super.init(name: name, isConfined: true)
    }

    /// Ends the observer for good: it leaves all modes and releases its handler (R126).
    ///
    /// Allowed at any time, also in its own handler; idempotent.
    /// - Note: Loop thread only, once it is on a loop.
    public override func invalidate() {
      end("observer.invalidate") { () -> Handler? in
        loop?.leaveAllModes(self)
        return isFiring ? nil : handler.take()
      }
    }

    deinit { if isAstray, let handler { sendHome(handler) } }

    func dropHandler() { handler = nil }

    override var holdsRuns: Bool { false }

    override func join(_ loop: Loop, isOwned: Bool) throws(LoopError) {
      try super.join(loop, isOwned: isOwned)
      self.loop = loop
    }

    override func leave(_ loop: Loop, isOwned: Bool) { self.loop = nil }
    override func enlist(in mode: Mode) -> Int { mode.observers.insert(self) }
    override func strike(from mode: Mode, of loop: Loop, at place: Int, moved: (Item, Int) -> Void)
    {
      mode.observers.remove(self, at: place, moved: moved)
    }

    package override var kind: String { "observer" }
  }
}
