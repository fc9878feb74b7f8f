// Notification queues: post later, and once instead of many times (R130, R148 to R150).

extension Loop {
  /// Posts notifications at a moment that suits them, and makes one of those that are alike.
  ///
  /// Delivery is up to the owner: the queue calls one function. Waiting notifications are lost with
  /// the queue, so keep it. Loop thread only. Counterpart: Foundation's
  /// `NotificationQueue`.
  public final class NotificationQueue {
    /// Something that has happened.
    public struct Notification {
      /// What has happened, in a word.
      public let name: String
      /// Whose notification it is; compared by identity.
      public let sender: AnyObject?
      /// Further information.
      public let info: Any?
      let senderKey: AnyHashable?

      /// Makes a notification, which is posted by `enqueue`.
      ///
      /// - Parameters:
      ///   - name: What has happened, in a word.
      ///   - sender: Whose notification it is; compared by identity. Kept until it is delivered.
      ///   - info: Further information.
      /// - Note: Any thread; a queue takes it on the thread of its loop only.
      public init(_ name: String, from sender: AnyObject? = nil, info: Any? = nil) {
        self.name = name
        self.sender = sender
        self.info = info
        senderKey = sender.map { AnyHashable(ObjectIdentifier($0)) }
      }

      /// Makes a notification whose sender is identified by a key.
      package init(_ name: String, key: AnyHashable?, info: Any?) {
        self.name = name
        sender = nil
        self.info = info
        senderKey = key
      }
    }

    /// When a notification is posted (R148).
    public enum PostingStyle: Sendable {
      /// Before the loop sleeps.
      case whenIdle
      /// In the next step of blocks, at the latest at the end of the pass; this wakes the loop.
      case asSoonAsPossible
      /// At once, unless the loop runs in another mode.
      case now
    }

    /// What makes notifications alike, so that a new one takes the place of those that wait (R149).
    public struct Coalescing: OptionSet, Sendable {
      public let rawValue: UInt8
      public init(rawValue: UInt8) { self.rawValue = rawValue }
      /// Those of one name are alike.
      public static let onName = Coalescing(rawValue: 1)
      /// Those of one sender are alike, and those without one.
      public static let onSender = Coalescing(rawValue: 2)
    }

    /// Called with each notification that is posted.
    public typealias Post = (_ notification: Notification) -> Void

    private let loop: Loop
    private let post: Post
    /// Observes the sleep in the modes of waiting notifications, while there are any.
    package private(set) var observer: Observer! = nil
    private var waiting = WaitingNotifications()
    /// The blocks that post notifications soon, by their modes.
    private var blocks: [[ModeName]: PerformRequest] = [:]
    /// The receiver is not done with a notification: the others wait (D59).
    private(set) var isHeld = false

    /// Makes a queue.
    /// - Parameters:
    ///   - loop: The loop of this thread.
    ///   - name: Its name in reports.
    ///   - post: Called on the loop's thread with each notification that is posted.
    public init(on loop: Loop, name: String = "", post: @escaping Post) {
      loop.requireThread("NotificationQueue")
      self.loop = loop
      self.post = post
      observer = loop.makeObserver(.beforeWaiting, order: .max, name: name) { [weak self] _, _ in
        self?.postWaiting(forIdle: true)
      }
    }

    deinit { observer.invalidate() }

    /// How many notifications wait. Loop thread only.
    public var count: Int {
      loop.requireThread("NotificationQueue.count")
      return waiting.count
    }

    /// Posts a notification, or has it wait.
    /// - Parameters:
    ///   - notification: What has happened.
    ///   - style: When to post it.
    ///   - coalescing: Those that wait and are alike in all of this are dropped, whatever their
    ///     style is; empty: none.
    ///   - modes: It is posted while the loop runs in one of them.
    /// - Returns: false if it was dropped: it had to be posted now and the loop runs in another
    ///   mode, the queue was invalidated, or the loop has ended.
    /// - Note: Loop thread only.
    @discardableResult
    public func enqueue(
      _ notification: Notification, _ style: PostingStyle,
      coalescing: Coalescing = [.onName, .onSender], modes: [ModeName] = [.default]
    ) -> Bool {
      loop.requireThread("enqueue")
      dequeue(matching: notification, coalescing: coalescing)
      guard observer.isValid, !loop.hasEnded else { return false }
      let isForIdle = style == .whenIdle
      if style == .now {
        if !isServed(modes) { return false }
        if !isHeld {
          post(notification)
          return true
        }
      }
      waiting.insert(
        WaitingNotification(notification: notification, modes: modes, isForIdle: isForIdle))
      if isForIdle { try? loop.add(observer, modes: modes) } else { queueBlock(modes) }
      return true
    }

    /// Drops what waits and is like a notification in all that the mask says.
    /// - Returns: How many were dropped; none if the mask is empty.
    /// - Note: Loop thread only.
    @discardableResult
    public func dequeue(
      matching notification: Notification, coalescing: Coalescing = [.onName, .onSender]
    ) -> Int {
      loop.requireThread("dequeue")
      if waiting.count == 0 { return 0 }
      let numbers = waiting.numbers(matching: notification, coalescing)
      for number in numbers { waiting.take(number) }
      if !numbers.isEmpty { rest() }
      return numbers.count
    }

    /// Ends the queue: waiting notifications are dropped, and no more are posted. Loop thread only.
    public func invalidate() {
      observer.invalidate()
      waiting = WaitingNotifications()
      rest()
    }

    // MARK: Posting

    /// Whether the loop runs in one of the modes, or not at all.
    private func isServed(_ modes: [ModeName]) -> Bool {
      guard let mode = loop.currentMode else { return true }
      return modes.contains(mode) || (modes.contains(.common) && loop.isCommonMode(mode))
    }

    private func queueBlock(_ modes: [ModeName]) {
      if isHeld || blocks[modes]?.isWaiting ?? false { return }
      blocks[modes] = loop.performHere(modes: modes) { [weak self] in
        self?.postWaiting(forIdle: false)
      }
    }

    /// Posts what waits for this moment in the running mode; what is enqueued meanwhile waits.
    private func postWaiting(forIdle: Bool) {
      guard let mode = loop.currentMode else { return }
      let modes = loop.isCommonMode(mode) ? [mode, .common] : [mode]
      let last = waiting.last
      var number: UInt64 = 0
      while !isHeld, let next = waiting.next(after: number, forIdle: forIdle, in: modes),
        next <= last
      {
        number = next
        guard let one = waiting[number], isServed(one.modes) else { continue }
        waiting.take(number)
        post(one.notification)
      }
      rest()
    }

    /// No call is made while nothing waits.
    private func rest() {
      if waiting.idleCount == 0 && observer.hasOwner {
        loop.remove(observer, modes: [.common] + loop.modes(of: observer))
      }
      if waiting.soonCount > 0 || blocks.isEmpty { return }
      for block in blocks.values { loop.cancel(block) }
      blocks = [:]
    }

    /// The receiver is not done with a notification: the others wait. Loop thread only.
    package func hold() { isHeld = true }

    /// It is done with it. Loop thread only.
    package func resume() {
      isHeld = false
      if !observer.isValid { return }
      for modes in waiting.soonModes { queueBlock(modes) }
    }
  }
}
