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
  /// The numbers of those that wait in one mode, in their order.
  private final class Line {
    var numbers = Queue<UInt64>()
  }

  /// Those that wait for one of the two moments.
  private struct Moment {
    var lines: [ModeName: Line] = [:]
    var count = 0
  }

  private var all: [UInt64: WaitingNotification] = [:]
  private var names: [ExactText: Set<UInt64>] = [:]
  private var senders: [AnyHashable?: Set<UInt64>] = [:]
  private var idle = Moment()
  private var soon = Moment()
  /// How many wait for the next step of blocks, by their modes.
  private var soonCounts: [[ModeName]: Int] = [:]
  /// The number of the last that was enqueued.
  private(set) var last: UInt64 = 0

  var count: Int { all.count }
  var idleCount: Int { idle.count }
  var soonCount: Int { soon.count }
  /// The modes of what waits for the next step of blocks.
  var soonModes: [[ModeName]] { Array(soonCounts.keys) }

  mutating func insert(_ one: WaitingNotification) {
    last += 1
    all[last] = one
    names[ExactText(one.notification.name), default: []].insert(last)
    senders[one.notification.senderKey, default: []].insert(last)
    let moment = one.isForIdle ? \Self.idle : \Self.soon
    self[keyPath: moment].count += 1
    if !one.isForIdle { soonCounts[one.modes, default: 0] += 1 }
    for mode in Set(one.modes) {
      let line = self[keyPath: moment].lines[mode] ?? Line()
      self[keyPath: moment].lines[mode] = line
      line.numbers.insert(last, number: last)
    }
  }

  @discardableResult
  mutating func take(_ number: UInt64) -> WaitingNotification? {
    guard let one = all.removeValue(forKey: number) else { return nil }
    let moment = one.isForIdle ? \Self.idle : \Self.soon
    for mode in Set(one.modes) {
      guard let line = self[keyPath: moment].lines[mode] else { continue }
      line.numbers.remove(number)
      if line.numbers.isEmpty { self[keyPath: moment].lines[mode] = nil }
    }
    if one.isForIdle {
      idle.count -= 1
    } else {
      soon.count -= 1
      let others = (soonCounts[one.modes] ?? 1) - 1
      soonCounts[one.modes] = others > 0 ? others : nil
    }
    let (name, sender) = (ExactText(one.notification.name), one.notification.senderKey)
    names[name]?.remove(number)
    if names[name]?.isEmpty ?? false { names[name] = nil }
    senders[sender]?.remove(number)
    if senders[sender]?.isEmpty ?? false { senders[sender] = nil }
    return one
  }

  subscript(number: UInt64) -> WaitingNotification? { all[number] }

  /// The first after a number that waits for one of the two moments in one of the modes.
  func next(after number: UInt64, forIdle: Bool, in modes: [ModeName]) -> UInt64? {
    let lines = forIdle ? idle.lines : soon.lines
    return modes.compactMap { lines[$0]?.numbers.first(after: number) }.min()
  }

  /// The numbers of those that a mask makes one with a notification.
  func numbers(
    matching one: Loop.NotificationQueue.Notification,
    _ mask: Loop.NotificationQueue.Coalescing
  ) -> Set<UInt64> {
    let sameName = names[ExactText(one.name)] ?? []
    let sameSender = senders[one.senderKey] ?? []
    switch (mask.contains(.onName), mask.contains(.onSender)) {
    case (true, true): return sameName.intersection(sameSender)
    case (true, false): return sameName
    case (false, true): return sameSender
    case (false, false): return []
    }
  }
}
