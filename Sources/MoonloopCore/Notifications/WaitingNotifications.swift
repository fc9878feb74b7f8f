// The notifications that a queue has not posted yet, found by name and by sender.

/// A notification that waits, and in which modes it is posted.
struct WaitingNotification {
  let notification: Loop.NotificationQueue.Notification
  let modes: [ModeName]
  let isForIdle: Bool
}

/// The waiting notifications of a queue, in the order of enqueueing. Each step takes time in
/// proportion to what it finds, however many others wait.
struct WaitingNotifications {
  /// Those that wait for one of the two moments.
  private struct Moment {
    /// By mode the numbers, in their order; some of them may be gone.
    var numbers: [ModeName: CountedArray<UInt64>] = [:]
    var count = 0
  }

  private var all: [UInt64: WaitingNotification] = [:]
  private var names: [String: Set<UInt64>] = [:]
  private var senders: [AnyHashable?: Set<UInt64>] = [:]
  private var idle = Moment()
  private var soon = Moment()
  /// How many wait for the next step of blocks, by their modes.
  private var soonCounts: [[ModeName]: Int] = [:]
  private var last: UInt64 = 0

  var count: Int { all.count }
  var idleCount: Int { idle.count }
  var soonCount: Int { soon.count }
  /// The modes of what waits for the next step of blocks.
  var soonModes: [[ModeName]] { Array(soonCounts.keys) }

  mutating func insert(_ one: WaitingNotification) {
    last += 1
    all[last] = one
    names[one.notification.name, default: []].insert(last)
    senders[one.notification.senderKey, default: []].insert(last)
    let moment = one.isForIdle ? \Self.idle : \Self.soon
    self[keyPath: moment].count += 1
    if !one.isForIdle { soonCounts[one.modes, default: 0] += 1 }
    for mode in Set(one.modes) {
      self[keyPath: moment].numbers[mode, default: CountedArray()].append(last)
      // Each time it has doubled: replacing notifications leaves numbers behind.
      let count = self[keyPath: moment].numbers[mode]?.count ?? 0
      if count > 32 + 2 * all.count { forgetGone(mode, moment) }
    }
  }

  private mutating func forgetGone(_ mode: ModeName, _ moment: WritableKeyPath<Self, Moment>) {
    let all = all
    self[keyPath: moment].numbers[mode]?.removeAll { all[$0] == nil }
  }

  @discardableResult
  mutating func take(_ number: UInt64) -> WaitingNotification? {
    guard let one = all.removeValue(forKey: number) else { return nil }
    if one.isForIdle {
      idle.count -= 1
    } else {
      soon.count -= 1
      let others = (soonCounts[one.modes] ?? 1) - 1
      soonCounts[one.modes] = others > 0 ? others : nil
    }
    let (name, sender) = (one.notification.name, one.notification.senderKey)
    names[name]?.remove(number)
    if names[name]?.isEmpty ?? false { names[name] = nil }
    senders[sender]?.remove(number)
    if senders[sender]?.isEmpty ?? false { senders[sender] = nil }
    return one
  }

  subscript(number: UInt64) -> WaitingNotification? { all[number] }

  /// The numbers of those that wait for one of the two moments in one of the modes, in order.
  mutating func numbers(forIdle: Bool, in modes: [ModeName]) -> [UInt64] {
    let moment = forIdle ? \Self.idle : \Self.soon
    var found: [UInt64] = []
    for mode in modes where self[keyPath: moment].numbers[mode] != nil {
      forgetGone(mode, moment)
      let numbers = self[keyPath: moment].numbers[mode] ?? CountedArray()
      if numbers.count == 0 { self[keyPath: moment].numbers[mode] = nil }
      found += numbers
    }
    return modes.count > 1 ? Set(found).sorted() : found
  }

  /// The numbers of those that a mask makes one with a notification.
  func numbers(
    matching one: Loop.NotificationQueue.Notification,
    _ mask: Loop.NotificationQueue.Coalescing
  ) -> Set<UInt64> {
    let sameName = names[one.name] ?? []
    let sameSender = senders[one.senderKey] ?? []
    switch (mask.contains(.onName), mask.contains(.onSender)) {
    case (true, true): return sameName.intersection(sameSender)
    case (true, false): return sameName
    case (false, true): return sameSender
    case (false, false): return []
    }
  }
}
