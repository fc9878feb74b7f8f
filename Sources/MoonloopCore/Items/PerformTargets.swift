// Perform requests with a target: all of them can be cancelled at once (R145, R146).

/// What most requests do without.
final class PerformAim: Sendable {
  /// Requests are performed by ascending order, equal ones in order of adding.
  let order: Int
  /// Its target; the request's body holds that while it waits.
  fileprivate let target: ObjectIdentifier?

  private init(_ order: Int, _ target: AnyObject?) {
    self.order = order
    self.target = target.map(ObjectIdentifier.init)
  }

  /// nil if all values are the defaults.
  static func of(order: Int, target: AnyObject?) -> PerformAim? {
    order == 0 && target == nil ? nil : PerformAim(order, target)
  }
}

/// The requests of a loop that have a target. Loop thread only.
///
/// Finished ones are removed together, once they may be half of all, so that a request costs no
/// second step at its end.
struct PerformTargets {
  private static let least = 32

  private var requests: [ObjectIdentifier: [PerformRequest]] = [:]
  private var count = 0
  private var limit = Self.least

  mutating func note(_ request: PerformRequest) {
    guard let target = request.aim?.target else { return }
    if count >= limit { prune() }
    requests[target, default: []].append(request)
    count += 1
  }

  private mutating func prune() {
    requests = requests.mapValues { $0.filter(\.isWaiting) }.filter { !$0.value.isEmpty }
    count = requests.reduce(0) { $0 + $1.value.count }
    limit = max(Self.least, 2 * count)
  }

  mutating func take(of target: AnyObject) -> [PerformRequest] {
    let taken = requests.removeValue(forKey: ObjectIdentifier(target)) ?? []
    count -= taken.count
    return taken
  }
}

extension Loop {
  /// Queues a block for a target, with a place among other blocks; for the rest see `perform`.
  /// - Parameters:
  ///   - target: Its target; held until it is performed. See `cancelPerforms(of:)`.
  ///   - order: What waits at the same step is performed by ascending order, equal ones in order of
  ///     adding; others have order 0 (R145).
  ///   - modes: As for `perform`.
  ///   - wakes: As for `perform`.
  ///   - asSource: As for `perform`.
  ///   - block: Performed on the loop's thread.
  /// - Returns: The request, for cancelling.
  /// - Note: Any thread.
  /// - SeeAlso: counterpart `performSelector:target:argument:order:modes:`.
  @discardableResult
  public func perform(
    for target: (any AnyObject & Sendable)?, order: Int = 0, modes: [ModeName] = [.default],
    wakes: Bool = true, asSource: Bool = false, _ block: @escaping @Sendable () -> Void
  ) -> PerformRequest {
    let request = PerformRequest(aim: .of(order: order, target: target))
    let body = target == nil ? block : { withExtendedLifetime(target, block) }
    return queue(
      QueuedBlock(modes: modes, asSource: asSource, request: request, body: body), wakes: wakes)
  }

  /// Performs a block for a target after a delay; for the rest see `perform(after:)`.
  /// - Note: Loop thread only; from elsewhere inside `change`.
  @discardableResult
  public func perform(
    for target: AnyObject, after delay: Duration, modes: [ModeName] = [.default],
    name: String = "", _ block: @escaping () -> Void
  ) -> PerformRequest {
    requireThread("perform(for:after:)")
    let request = PerformRequest(aim: .of(order: 0, target: target))
    pending.targets.note(request)
    return perform(request, after: delay, modes: modes, name: name) {
      withExtendedLifetime(target, block)
    }
  }

  /// Cancels all requests for a target that were not performed yet, delayed ones
  /// included (R146).
  /// - Returns: How many there were.
  /// - Note: Loop thread only.
  /// - SeeAlso: counterparts `cancelPerformSelectorsWithTarget:`,
  ///   `cancelPreviousPerformRequestsWithTarget:`.
  @discardableResult
  public func cancelPerforms(of target: AnyObject) -> Int {
    requireThread("cancelPerforms")
    drainInbox()
    return pending.targets.take(of: target).reduce(0) { $0 + (cancel($1) ? 1 : 0) }
  }
}
