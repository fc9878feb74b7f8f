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

    package private(set) var handler: Handler?
    private let queue = Inbox<any Sendable>()
    /// The loops that it is in. Protected by its lock, held for no call.
    private let members = Guarded<[Membership]>([])

    /// Makes a port, on no loop yet.
    ///
    /// - Parameters:
    ///   - name: What it is called in reports.
    ///   - capacity: How many messages may wait, at least 1.
    ///   - handler: Called on the thread of a loop that it is in, once for each message.
    public init(name: String = "", capacity: Int = 65_536, handler: @escaping Handler) {
      self.capacity = max(1, capacity)
      self.handler = handler
      super.init(name: name)
    }

    /// Puts a message at the end of the queue and wakes the loop if that sleeps.
    ///
    /// Messages wait while no mode of the port runs, and while it is in no mode (R55, R57).
    /// - Throws: `LoopError.portFull`, or `.invalidItem` when the port was invalidated.
    /// - Note: Any thread. No system call unless a loop sleeps.
    public func post(_ message: any Sendable) throws(LoopError) {
      guard isValid else { throw .invalidItem(label) }
      guard queue.post(message, limit: capacity) != nil else {
        throw isValid ? .portFull(label, capacity: capacity) : .invalidItem(label)
      }
      tellLoops()
    }

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

    package func take() -> (any Sendable)? { isValid ? queue.takeFirst() : nil }

    /// Ends the port for good: no more callbacks, and posting to it fails (R57).
    ///
    /// Allowed at any time, also in its own handler; idempotent. Messages that wait are dropped.
    /// - Note: Thread of a loop that it is in; any thread if it is in none.
    public func invalidate() {
      guard markInvalid() else { return }
      queue.close()
      _ = queue.takeAll()
      for loop in members.withLock({ $0.map(\.loop) }) {
        if loop.isOnThread {
          loop.leaveAllModes(self)
        } else {
          loop.post(.change { $0.leaveAllModes(self) })
        }
      }
      letGo()
    }

    package override func dropHandlers() { handler = nil }

    package override var isNowhere: Bool { members.withLock { $0.isEmpty } }

    package func join(_ loop: Loop) {
      members.withLock { members in
        if !members.contains(where: { $0.loop === loop }) { members.append(Membership(loop)) }
      }
    }

    package func leave(_ loop: Loop) {
      members.withLock { $0.removeAll { $0.loop === loop } }
    }

    package override var kind: String { "port" }
  }
}
