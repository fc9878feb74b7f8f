// Timers as Swift objects: a view of a record in the store of the loop that the timer is on.

internal import Synchronization

extension Loop {
  /// Fires when its date has come and a mode of it runs. Counterpart: `CFRunLoopTimer`.
  ///
  /// The dates of a repeating timer are on the grid of its first date, however late fires are
  /// (R71); missed dates collapse into one fire (R72).
  public final class Timer: Item, @unchecked Sendable {  // as `Item`
    /// What the timer is called with.
    public typealias Handler = (_ timer: Timer) -> Void

    /// The distance of the dates; zero: it fires once (R78).
    public let interval: Duration
    /// How much later than its date it may fire, to save wake-ups (R83). Setting it counts from the
    /// next sleep on; it is at least zero, and at most half the interval (R142).
    /// - Note: Loop thread only, once it is on a loop.
    /// - SeeAlso: counterpart `CFRunLoopTimerSetTolerance`.
    public var tolerance: Duration {
      get { use("timer.tolerance") { bearableDelay } }
      set {
        use("timer.tolerance") {
          bearableDelay = Self.bounded(newValue, interval)
          loop?.setTolerance(of: id, to: bearableDelay.loopNanoseconds)
        }
      }
    }
    private var bearableDelay: Duration
    /// Its handler was called by `fire` while it was on no loop, and has not returned.
    private let isCalled = Atomic<Bool>(false)
    /// How many dates were coalesced into the present fire, beyond the one.
    /// - Note: Loop thread only, once it is on a loop.
    public var missed: Int { use("timer.missed") { missedDates } }
    fileprivate var missedDates = 0

    private(set) var handler: Handler?
    /// The loop that it is on, and its record there. Loop thread only.
    package weak var loop: Loop?
    package var id = TimerID(rawValue: 0)
    /// The date while it is on no loop.
    var restingDate: Int64

    /// Makes a timer, on no loop yet; its first date counts from now on the clock of this thread's
    /// loop.
    /// - Parameters:
    ///   - delay: From now to the first date; negative: in the past, whose grid it keeps (R77).
    ///   - interval: The distance of the dates; zero or less: it fires once.
    ///   - tolerance: How much later it may fire.
    ///   - name: Its name in reports.
    ///   - handler: Called on the thread of the loop.
    /// - SeeAlso: `Loop.schedule`, `Loop.makeTimer`, for closures bound to one thread.
    @_disfavoredOverload
    public convenience init(
      after delay: Duration, every interval: Duration = .zero, tolerance: Duration = .zero,
      name: String = "", handler: @escaping @Sendable (_ timer: Timer) -> Void
    ) {
      let plain: Handler = handler
      self.init(after: delay, every: interval, tolerance: tolerance, name: name, handler: plain)
    }

    /// Makes a timer with its first date, on no loop yet.
    ///
    /// - Parameters:
    ///   - date: The first date, on the clock of the loop that it will be on.
    ///   - interval: The distance of the dates; zero or less: it fires once.
    ///   - tolerance: How much later it may fire.
    ///   - name: Its name in reports.
    ///   - handler: Called on the thread of the loop.
    /// - Note: Any thread.
    @_disfavoredOverload
    public convenience init(
      at date: LoopTime, every interval: Duration = .zero, tolerance: Duration = .zero,
      name: String = "", handler: @escaping @Sendable (_ timer: Timer) -> Void
    ) {
      let plain: Handler = handler
      self.init(at: date, every: interval, tolerance: tolerance, name: name, handler: plain)
    }

    /// Makes a timer from a closure that is not Sendable; add it only to loops of the closure's
    /// thread.
    package convenience init(
      after delay: Duration, every interval: Duration = .zero, tolerance: Duration = .zero,
      name: String = "", handler: @escaping Handler
    ) {
      self.init(
        at: Loop.current.now.advanced(by: delay), every: interval, tolerance: tolerance, name: name,
        handler: handler)
    }

    /// The same with a first date.
    package init(
      at date: LoopTime, every interval: Duration = .zero, tolerance: Duration = .zero,
      name: String = "", handler: @escaping Handler
    ) {
      self.interval = max(.zero, interval)
      bearableDelay = Self.bounded(tolerance, interval)
      self.restingDate = date.nanoseconds
      self.handler = handler
      super.init(name: name, isConfined: true)
    }

    /// The next date; nil when the timer is invalid (R84).
    ///
    /// Setting it moves the grid of a repeating timer; a past date means now, and the grid begins
    /// there (R132). In its own handler a repeating timer keeps the new date, a one-shot timer ends
    /// all the same (R76): see `again`.
    /// - Note: Loop thread only, once it is on a loop.
    public var nextFire: LoopTime? {
      get {
        use("timer.nextFire") {
          isValid ? LoopTime(nanoseconds: loop?.date(of: id) ?? restingDate) : nil
        }
      }
      set {
        use("timer.nextFire") {
          guard isValid, let newValue else { return }
          if let loop, loop.setNextDate(of: id, to: newValue.nanoseconds) { return }
          restingDate = Loop.ofThisThread?.notPast(newValue.nanoseconds) ?? newValue.nanoseconds
        }
      }
    }

    /// Fires again after a delay from now, whatever kind of timer it is, also in its own handler.
    /// - Note: Loop thread only.
    public func again(after delay: Duration) {
      use("timer.again") { if isValid, let loop { loop.rearm(id, after: delay.loopNanoseconds) } }
    }

    private static func bounded(_ tolerance: Duration, _ interval: Duration) -> Duration {
      interval > .zero ? min(max(.zero, tolerance), interval / 2) : max(.zero, tolerance)
    }

    /// Calls the handler now, whatever the date and the modes are, also on no loop (R141).
    ///
    /// The dates of a repeating timer stay as they are; a timer that fires once is invalid
    /// afterwards. Has no effect in the timer's own handler.
    /// - Returns: Whether the handler was called.
    /// - Note: Loop thread only, once it is on a loop.
    /// - SeeAlso: counterpart `Timer.fire` of Foundation, which calls it in its own handler too.
    @discardableResult
    public func fire() -> Bool {
      var resting: Handler?
      let owner: Loop? = use("timer.fire") {
        guard isValid else { return nil }
        if let loop, id.rawValue != 0 { return loop }
        guard !isCalled.load(ordering: .acquiring), let handler else { return nil }
        isCalled.store(true, ordering: .relaxed)
        missedDates = 0
        resting = handler
        return nil
      }
      if let owner { return owner.fireNow(id) }
      guard let resting else { return false }
      resting(self)
      if interval == .zero { invalidate() }
      isCalled.store(false, ordering: .releasing)
      return true
    }

    /// Whether the timer keeps a run going; if false, a run ends when nothing else is left.
    /// - Note: Loop thread only, once it is on a loop.
    public var keepsLoopAlive: Bool {
      get { use("timer.keepsLoopAlive") { holds } }
      set {
        use("timer.keepsLoopAlive") {
          holds = newValue
          loop?.setHolds(of: id, newValue)
        }
      }
    }

    /// Ends the timer for good: it leaves all modes and releases its handler (R70, R126).
    ///
    /// Allowed at any time, also in its own handler; idempotent.
    /// - Note: Loop thread only, once it is on a loop.
    public override func invalidate() {
      end("timer.invalidate") { () -> Handler? in
        if let loop, id.rawValue != 0 {
          loop.invalidate(id)
          return nil
        }
        return handler.take()
      }
    }

    func dropHandler() { handler = nil }

    deinit { if isAstray, let handler { sendHome(handler) } }

    override var timer: Timer? { self }

    package override var kind: String { "timer" }
  }
}

/// The call-out of timers that are Swift objects: the context is the retained timer.
// Unsafe: made once, and never changed.
nonisolated(unsafe) let swiftTimerActions = TimerActions.make(
  fire: { context, _, _, missed in
    let timer = Unmanaged<Loop.Timer>.fromOpaque(context).takeUnretainedValue()
    timer.missedDates = Int(missed)
    timer.handler?(timer)
  },
  release: { context, _, _, _ in
    let timer = Unmanaged<Loop.Timer>.fromOpaque(context).takeRetainedValue()
    timer.loopLetGo()
  })

extension Loop {
  /// The record of an item that is a timer: no timer's if that is on no loop, or on another one.
  func timerID(_ item: Item) -> TimerID? {
    item.timer.map { $0.isOwned(by: self) ? $0.id : TimerID(rawValue: 0) }
  }

  /// The object that stands for a timer of this loop, if one does. Loop thread only.
  package func timerObject(_ id: TimerID) -> Timer? {
    if id.isTurn { return nil }
    let record = timers.records[id.slot]
    guard record.flags.contains(.object) else { return nil }
    return Unmanaged<Timer>.fromOpaque(record.callout.context).takeUnretainedValue()
  }
}

extension Loop.Timer {
  /// The record is gone: the timer ended, or it left all modes for another loop.
  fileprivate func loopLetGo() {
    if id.rawValue == 0 { return }
    id = TimerID(rawValue: 0)
    loop = nil
    _ = markInvalid()
    dropHandler()
    release()
  }
}
