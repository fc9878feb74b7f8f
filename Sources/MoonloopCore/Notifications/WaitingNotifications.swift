// The notifications that a queue has not posted yet, found by name and by sender.

/// A notification that waits, and in which modes it is posted.
struct WaitingNotification {
  let notification: Loop.NotificationQueue.Notification
  let modes: [ModeName]
  let isForIdle: Bool
}

/// What waits in a notification queue, in order of enqueueing. Each step takes as long as what it
/// finds is long, however much else waits.
struct WaitingNotifications {
  private var all: [UInt64: WaitingNotification] = [:]
  private var names: [String: Set<UInt64>] = [:]
  private var senders: [AnyHashable?: Set<UInt64>] = [:]
  /// The numbers in their order; some of them may be gone.
  private var idle: [UInt64] = []
  private var soon: [UInt64] = []
  private(set) var idleCount = 0
  private var last: UInt64 = 0

  var count: Int { all.count }
  var soonCount: Int { all.count - idleCount }

  mutating func insert(_ one: WaitingNotification) {
    last += 1
    all[last] = one
    names[one.notification.name, default: []].insert(last)
    senders[one.notification.senderKey, default: []].insert(last)
    if one.isForIdle {
      idleCount += 1
      idle.append(last)
      if idle.count > 32 + 2 * idleCount { idle.removeAll { all[$0] == nil } }
    } else {
      soon.append(last)
      if soon.count > 32 + 2 * soonCount { soon.removeAll { all[$0] == nil } }
    }
  }

  @discardableResult
  mutating func take(_ number: UInt64) -> WaitingNotification? {
    guard let one = all.removeValue(forKey: number) else { return nil }
    if one.isForIdle { idleCount -= 1 }
    let (name, sender) = (one.notification.name, one.notification.senderKey)
    names[name]?.remove(number)
    if names[name]?.isEmpty ?? false { names[name] = nil }
    senders[sender]?.remove(number)
    if senders[sender]?.isEmpty ?? false { senders[sender] = nil }
    return one
  }

  subscript(number: UInt64) -> WaitingNotification? { all[number] }

  /// The numbers of those that wait for one of the two moments, in order.
  func numbers(forIdle: Bool) -> [UInt64] { (forIdle ? idle : soon).filter { all[$0] != nil } }

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
