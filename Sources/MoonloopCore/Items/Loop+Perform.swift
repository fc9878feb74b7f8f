// Perform blocks and perform requests: queued in order, for modes (R103 to R116).

extension Loop {
  /// How a perform-and-wait ended.
  public enum PerformOutcome: Sendable, Equatable {
    /// The block was performed.
    case performed
    /// The time was over first; the request was taken back.
    case timedOut(PerformObstacle)
    /// The loop has ended; the block is never performed.
    case ended
  }

  /// Why a request had to wait.
  public enum PerformObstacle: Sendable, Equatable, CustomStringConvertible {
    /// The loop is not running.
    case notRunning
    /// The loop runs, but was busy or in a mode that the request is not for.
    case otherModeOrBusy

    public var description: String {
      switch self {
      case .notRunning: "the loop is not running"
      case .otherModeOrBusy: "the loop is busy, or runs in a mode that the request is not for"
      }
    }
  }

  /// Queues a block, performed once by the next pass in one of the modes, in order (R103).
  /// - Parameters:
  ///   - modes: The modes in any of which it is performed, by the first that runs (R105); `.common`
  ///     stands for all common modes (R95).
  ///   - wakes: Whether to wake the loop too; false is the bare form for callers that batch (R107).
  ///   - asSource: Whether it counts as a source that was served (a perform request, R111, R13);
  ///     else it is a block, which does not count (R110).
  ///   - block: Performed on the loop's thread.
  /// - Returns: The request, for cancelling.
  /// - Note: Any thread. A loop that has ended cancels the request at once.
  /// - SeeAlso: counterparts `CFRunLoopPerformBlock`, `performSelector:onThread:…`.
  @discardableResult
  public func perform(
    modes: [ModeName] = [.default], wakes: Bool = true, asSource: Bool = false,
    _ block: @escaping @Sendable () -> Void
  ) -> PerformRequest {
    perform(unchecked: block, modes: modes, wakes: wakes, asSource: asSource)
  }

  /// Queues a body that is not Sendable: loop thread only.
  @discardableResult
  package func performHere(
    modes: [ModeName], wakes: Bool = true, asSource: Bool = false, order: Int = 0,
    _ block: @escaping () -> Void
  ) -> PerformRequest {
    requireThread("perform")
    let request = PerformRequest(aim: .of(order: order, target: nil))
    return perform(
      unchecked: block, modes: modes, wakes: wakes, asSource: asSource, request: request)
  }

  @discardableResult
  private func perform(
    unchecked block: @escaping () -> Void, modes: [ModeName], wakes: Bool, asSource: Bool,
    request: PerformRequest = PerformRequest()
  ) -> PerformRequest {
    queue(
      QueuedBlock(modes: modes, asSource: asSource, request: request, body: block), wakes: wakes)
  }

  /// Queues a block. Any thread.
  func queue(_ queued: QueuedBlock, wakes: Bool) -> PerformRequest {
    if !accept(queued) { queued.request.cancel() } else if wakes { wakeUp() }
    return queued.request
  }

  /// Takes a block, without a wake-up. Any thread.
  /// - Returns: false if the loop has ended, and never knows of it. A loop that ends later cancels
  ///   the block.
  func accept(_ queued: QueuedBlock) -> Bool {
    if hasEnded { return false }
    if !isOnThread { return post(.perform(queued)) }
    enqueue(queued)
    return true
  }

  /// Performs a block on the loop's thread and waits until it was performed; on that thread itself
  /// at once (R113).
  /// - Parameters:
  ///   - modes: As for `perform`.
  ///   - timeout: The maximum time to wait; nil: forever.
  ///   - block: Performed on the loop's thread, or never if the time is over before it began.
  /// - Precondition: Without a timeout, the loop's thread does not wait for the caller's.
  /// - Note: Any thread.
  @discardableResult
  public func performAndWait(
    modes: [ModeName] = [.default], timeout: Duration? = nil,
    _ block: @escaping @Sendable () -> Void
  ) -> PerformOutcome {
    if isOnThread {
      block()
      return .performed
    }
    let gate = kernel.makeGate()
    let request = PerformRequest(gate: gate)
    perform(unchecked: block, modes: modes, wakes: true, asSource: true, request: request)
    if !wait(at: gate, atMost: timeout, "performAndWait") {
      if request.cancel() {
        return hasEnded ? .ended : .timedOut(isRunning ? .otherModeOrBusy : .notRunning)
      }
      _ = gate.wait(atMost: .max)  // It had begun: it is over soon.
    }
    return request.wasPerformed ? .performed : .ended
  }

  /// Performs a block after a delay: a one-shot timer in the modes; with delay zero in the next
  /// pass, never at once (R114).
  /// - Note: Loop thread only; from elsewhere inside `change`.
  @discardableResult
  public func perform(
    after delay: Duration, modes: [ModeName] = [.default], name: String = "",
    _ block: @escaping () -> Void
  ) -> PerformRequest {
    requireThread("perform(after:)")
    return perform(PerformRequest(), after: delay, modes: modes, name: name, block)
  }

  func perform(
    _ request: PerformRequest, after delay: Duration, modes: [ModeName], name: String,
    _ block: @escaping () -> Void
  ) -> PerformRequest {
    let timer = Timer(
      at: LoopTime(nanoseconds: dueDate(after: delay.loopNanoseconds)), name: name
    ) { _ in
      guard request.begin() else { return }
      block()
      request.finish()
    }
    do {
      try add(timer, modes: modes)
      request.timer = timer
    } catch {
      request.cancel()
    }
    return request
  }

  /// Takes a request back, a delayed one with its timer (R115).
  /// - Note: Loop thread only; `PerformRequest.cancel` alone works anywhere, and leaves the timer
  ///   of a delayed request to end by itself.
  @discardableResult
  public func cancel(_ request: PerformRequest) -> Bool {
    requireThread("cancel")
    let wasWaiting = request.cancel()
    request.timer?.invalidate()
    return wasWaiting
  }

  // MARK: Stages

  func enqueue(_ block: QueuedBlock) {
    if block.request.aim != nil { pending.targets.note(block.request) }
    pending.number(block)
    for name in block.modes {
      if name == .common {
        pending.appendCommon(block)
      } else {
        pending.append(block, to: mode(name))  // R108
      }
    }
    releaseFinished()
  }

  /// Releases the blocks that have left all lists. A `deinit` may queue others meanwhile.
  @inline(__always)
  private func releaseFinished() {
    if pending.hasFinished { _ = pending.takeFinished() }
  }

  /// Performs the blocks that wait for a mode, together (R104, R106, R109).
  @inline(__always)
  package func performBlocks(_ mode: Mode) {
    drainInbox()
    if pending.hasBlocks { performTaken(pending.takeBlocks(for: mode), mode, .blocks) }
  }

  /// Performs what was taken for a mode. If one of them makes the mode common, what waits for
  /// common modes after it belongs to the same batch (R109).
  @discardableResult
  func performTaken(_ taken: [QueuedBlock], _ mode: Mode, _ stage: PassStage) -> Bool {
    releaseFinished()
    let (wasCommon, last) = (mode.isCommon, pending.lastNumber)
    let mustYield = hooks.mustYield
    var any = false
    for (place, block) in taken.enumerated() {
      if place == 0 ? yields(before: stage) : mustYield?() == true {
        pending.giveBack(taken[place...], to: mode)
        releaseFinished()
        break
      }
      guard block.request.begin() else { continue }
      callOut(toBlock: block, mode)
      block.request.finish()
      any = true
      if mode.isCommon != wasCommon {
        let common = pending.takeCommon(behind: block, upTo: last, taken[(place + 1)...])
        performTaken(common, mode, stage)
        break
      }
    }
    return any
  }
}
