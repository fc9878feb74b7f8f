// What other threads can put into a loop's inbox, and what waking it means.

internal import CLinuxShims
internal import Synchronization

/// One thing that another thread asks of a loop.
// Sendable: the bodies of blocks given from other threads are @Sendable where they are taken; items
// are Sendable.
package enum Post: @unchecked Sendable {
  /// A queued block or a perform request.
  case perform(QueuedBlock)
  /// A source was signalled (R39).
  case signalled(Loop.Source, Membership)
  /// A port has got a message.
  case portReady(Loop.Port, Membership)
  /// Messages of other threads wait for a loop that has an intake.
  case arrived(Arrivals)
  /// A change of the loop's items; invisible to a sleeping loop (R85).
  case change(@Sendable (Loop) -> Void)
  /// A stop, for the run with this serial number and no other (R99).
  case stop(UInt64, (any Sendable)?)
  /// A stop for the innermost run, or the next one if the loop does not run.
  case stopWhenNextLooking((any Sendable)?)

  /// Whether a sleeping loop must look at it at once.
  var needsLook: Bool {
    switch self {
    case .perform, .signalled: false  // R40, R107: found when something else ends the sleep.
    case .portReady, .arrived, .change, .stop, .stopWhenNextLooking: true
    }
  }
}

/// Cancels a request when it is dropped before it was performed.
private final class Ticket: Sendable {
  let request: PerformRequest
  init(_ request: PerformRequest) { self.request = request }
  deinit { request.cancel() }
}

extension Loop {
  /// Puts a post into the inbox. Any thread. A system call only if the loop sleeps and must look.
  /// - Returns: false if the loop has ended.
  @discardableResult
  package func post(_ post: Post) -> Bool {
    let needsLook = post.needsLook
    guard shared.inbox.post(post) != nil else { return false }
    if needsLook { nudge() }
    return true
  }

  /// Has a sleeping loop look at its inbox; not a wake-up. Any thread.
  func nudge() {
    // Looked at before it is written: most loops with many posts are awake.
    guard shared.isAsleep.load(ordering: .sequentiallyConsistent),
      shared.isAsleep.exchange(false, ordering: .sequentiallyConsistent)
    else { return }
    if !wakeHost() { kernel.wake() }
  }

  /// Ends the loop's sleep, or the one that it is about to begin in this pass (R117).
  ///
  /// The observers of `entry` belong to the first pass of their run.
  /// No effect while the loop is not running, and nothing is remembered (R118). After the sleep
  /// of a pass it is superfluous (R119).
  /// - Note: Any thread. A system call only if the loop sleeps.
  /// - SeeAlso: counterpart `CFRunLoopWakeUp`.
  public func wakeUp() {
    if !isWakePending { shared.wakes.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    nudge()  // also if one is pending: it may be older than this sleep, which is in no pass
  }

  /// Whether another wake-up changes nothing, since no pass has seen the last one.
  private var isWakePending: Bool {
    if !shared.hasUnseenWake { return false }
    // With `seeWakes`: still unseen, or the pass that sees it reads what was written before this.
    cmx_fence()
    return shared.hasUnseenWake
  }

  /// A pass begins, which sees all wake-ups until now.
  @inline(__always)
  func seeWakes(_ frame: RunFrame) {
    let wakes = shared.wakes.load(ordering: .sequentiallyConsistent)
    frame.wakesSeen = wakes
    if wakes == shared.wakesSeen.load(ordering: .relaxed) { return }
    shared.wakesSeen.store(wakes, ordering: .relaxed)
    cmx_fence()
  }

  /// Ends the innermost run at the end of the pass under way, which still serves what was ready
  /// before the stop (R15, R99).
  /// - Parameter value: Handed to the run's caller, as `stopValue`.
  /// - Returns: false if no run was met; then nothing is remembered (R16).
  /// - Note: Any thread. Never for a signal handler (R121).
  /// - SeeAlso: counterpart `CFRunLoopStop`.
  @discardableResult
  public func stop(_ value: (any Sendable)? = nil) -> Bool {
    if isOnThread {
      guard let frame = runs.frames.last, !frame.isExiting else { return false }
      frame.stop(value)
      if let host = hooks.host, frame.isHosted { passStop(to: host, of: frame) }
      if frame.openEvents != .all { return true }
      // What other threads have posted before is ready before the stop.
      if isAskedFor {
        post(.stop(frame.serial, value))
      } else {
        closeEvents(frame)
      }
      return true
    }
    let serial = shared.activation.load(ordering: .acquiring)
    return serial != 0 && post(.stop(serial, value))
  }

  /// Stops the innermost run, or, if the loop does not run, the next one as soon as it begins.
  ///
  /// For threads that cannot know whether the loop runs already.
  /// - Parameter value: Handed to the run's caller, as `stopValue`.
  /// - Note: Any thread.
  public func stopWhenNextLooking(_ value: (any Sendable)? = nil) {
    if isOnThread { stopInnermostOrNext(value) } else { post(.stopWhenNextLooking(value)) }
  }

  /// A stop has met a run: only what is ready by now may still be the event of its pass (R15).
  private func closeEvents(_ frame: RunFrame) {
    guard frame.openEvents == .all else { return }
    // What the kernel knows was asked by the sleep (R139).
    if frame.telling != .afterWaiting { fetchReady(frame.mode) }
    if frame.keptEvent == nil && !hasReady(frame.mode) { frame.openEvents.remove(.ports) }
    if !hasDueTimers(frame.mode) { frame.openEvents.remove(.timers) }
  }

  private func stopInnermostOrNext(_ value: (any Sendable)?) {
    if stop(value) { return }
    if case .some(.some) = stops.pending { return }  // As for `RunFrame.stop`.
    stops.pending = .some(value)
  }

  /// The value that a stop handed over to the last run that ended; the loop forgets it.
  package func takeStopValue() -> (any Sendable)? {
    defer { stops.value = nil }
    return stops.value
  }

  /// Has the loop's thread change its items, as soon as it can.
  ///
  /// A sleeping loop does so without notifications and without another pass (R85), but adding a
  /// source wakes it (R50). On the loop's thread the body runs at once.
  /// - Returns: false if the loop has ended; the body is then never called.
  /// - Note: Any thread. The body runs when the loop next looks: at once if it sleeps.
  @discardableResult
  public func change(_ body: @escaping @Sendable (Loop) -> Void) -> Bool {
    if isOnThread {
      body(self)
      return true
    }
    return post(.change(body))
  }

  /// Does something when the loop next looks, for callers on its thread that must not do it now.
  /// Loop thread only.
  package func changeSoon(_ body: @escaping () -> Void) {
    requireThread("changeSoon")
    nonisolated(unsafe) let body = body  // called and released on this thread alone
    post(.change { _ in body() })
  }

  /// Has a body change the loop on its own thread, and waits until that is done.
  /// - Parameters:
  ///   - timeout: The maximum time to wait; nil: forever.
  ///   - body: What is done.
  /// - Returns: false if the time ran out first or the loop has ended; the body may still run.
  /// - Precondition: Without a timeout, the loop's thread does not wait for the caller's.
  /// - Note: Any thread. A loop that neither runs nor looks lets the caller wait.
  @discardableResult
  public func changeAndWait(
    timeout: Duration? = nil, _ body: @escaping @Sendable (Loop) -> Void
  ) -> Bool {
    if isOnThread { return change(body) }
    let gate = kernel.makeGate()
    let request = PerformRequest(gate: gate)
    postChange(body, as: request)
    return wait(at: gate, atMost: timeout, "changeAndWait") && request.wasPerformed
  }

  /// Posts a change; its request is cancelled if the loop ends without doing it.
  private func postChange(
    _ body: @escaping @Sendable (Loop) -> Void, as request: PerformRequest
  ) {
    let ticket = Ticket(request)  // held by the post alone, once this has returned
    post(
      .change { loop in
        guard ticket.request.begin() else { return }
        body(loop)
        ticket.request.finish()
      })
  }

  /// Lets other threads' changes take effect while the loop's thread is busy with something else:
  /// waits until a moment on the loop's clock, or until a change has made `isDone` true. For hosts
  /// that block the thread themselves.
  package func applyChanges(until date: Int64, or isDone: () -> Bool = { false }) {
    requireThread("applyChanges")
    let set = descriptors.bareSet
    while true {
      applyPosts()
      if isDone() || clock.hasReached(date) { return }
      shared.isAsleep.store(true, ordering: .sequentiallyConsistent)
      if !isAskedFor { _ = kernel.wait(set, until: date, into: descriptors.events) }
      shared.isAsleep.store(false, ordering: .sequentiallyConsistent)
    }
  }

  // MARK: Loop thread

  /// Takes in what other threads asked for, in their order. Performs and signals are only noted.
  @inline(__always)
  package func drainInbox() {
    if !shared.inbox.isEmpty { takeInbox() }
  }

  /// The same in the sleep: there adding a source counts as a wake-up (R50).
  package func applyPosts() {
    if shared.inbox.isEmpty { return }
    let outer = runs.takesPosts
    runs.takesPosts = true
    takeInbox()
    runs.takesPosts = outer
  }

  @inline(never)
  private func takeInbox() {
    if arrivals.hasIntake { return takePostsByIntake() }
    var posts = shared.inbox.takeAll()
    while let post = posts.takeFirst() { take(post) }
  }

  func take(_ post: Post) {
    switch post {
    case .perform(let block): enqueue(block)
    case .signalled(let source, let member):
      member.postIsTaken()
      if source.isSignalled && !source.isNotedHere { noteSignalled(source) }
    case .portReady(let port, let member):
      member.postIsTaken()
      noteReady(port)
    case .arrived: break  // only where there is an intake
    case .change(let body): body(self)
    case .stop(let serial, let value):
      if let frame = runs.frames.last(where: { $0.serial == serial }), !frame.isExiting {
        frame.stop(value)
        closeEvents(frame)
      }
    case .stopWhenNextLooking(let value): stopInnermostOrNext(value)
    }
  }

  /// Whether something was asked for. Loop thread only.
  var isAskedFor: Bool {
    arrivals.hasIntake ? Intake.seldom(shared.inbox.hasMessages) : !shared.inbox.isEmpty
  }
}
