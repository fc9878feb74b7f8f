// Notification queues of scripts: their item is the observer of the sleep.

internal import LuaEmbed
internal import MoonloopCore

final class NotificationsKind: ItemKind {
  static let word = "notifications"
  static var handles: ItemHandles? { ItemHandles(slots: 1, notificationsEntries) }
  static var holdsRuns: Bool { false }  // R150
  static var isLeftUnheld: Bool { true }
  static var loopEntries: [LuaEntry] { [.method("notifications", loopNotifications)] }

  let seat: KindSeat

  init(_ seat: KindSeat) { self.seat = seat }

  /// A notification is posted: the handler gets the handle, the name, the sender and the info.
  func deliver(
    _ notification: Loop.NotificationQueue.Notification, of observer: Loop.Observer
  ) {
    var suspended: LuaCoroutine?
    let runtime = runtime
    runtime.loopContext.nameCall(runtime.explanation.recorded(observer))
    runtime.callOut(observer) { ref in
      let outcome = runtime.state.dispatch(ref: ref, slot: 1) { stack in
        stack.push(notification.name)
        let notice = notification.info as? ScriptNotice
        for value in [notice?.sender?.value, notice?.info] {
          if let value { stack.push(value) } else { stack.pushNil() }
        }
        return 3
      }
      if case .suspended(let coroutine) = outcome { suspended = coroutine }
      return outcome
    }
    guard let suspended, let task = runtime.tasks[suspended.index],
      let queue = ScriptNotifications.of(observer)?.queue
    else { return }
    queue.hold()
    task.whenEnded = { _ in queue.resume() }
  }

  func ended(_ observer: Loop.Observer) { ScriptNotifications.of(observer)?.queue.invalidate() }
  func collected(_ observer: Loop.Observer) { ended(observer) }

  // MARK: As text

  func stateText(of observer: Loop.Observer) -> String { waiting(in: observer) }

  func obstacle(to observer: Loop.Observer) -> String {
    let count = ScriptNotifications.of(observer)?.queue.count ?? 0
    if count == 0 { return "nothing was enqueued" }
    return "\(waiting(in: observer)): for the sleep, for the next pass, or for another mode"
  }

  func reason(for observer: Loop.Observer) -> String {
    if let task = runtime.explanation.waitingHandler(of: observer) {
      return
        "its handler waits \(runtime.tasks.forWhat(task)); nothing is delivered until it returns"
    }
    return obstacle(to: observer)
  }

  private func waiting(in observer: Loop.Observer) -> String {
    let count = ScriptNotifications.of(observer)?.queue.count ?? 0
    return count == 1 ? "1 notification waits" : "\(count) notifications wait"
  }
}

/// The queue of a script. Loop thread only.
final class ScriptNotifications {
  let queue: Loop.NotificationQueue

  init(_ queue: Loop.NotificationQueue) { self.queue = queue }

  /// nil once the item has ended.
  static func of(_ observer: Loop.Observer) -> ScriptNotifications? {
    observer.state(as: ScriptNotifications.self)
  }
}

/// A script's description of a notification.
final class ScriptNotice {
  let sender: ScriptTarget?
  let info: LuaReference?
  private let place: HandleTally.Place
  /// What it takes while it waits.
  private let charge: MemoryCharge?

  /// Approximate bytes of a notification and its entry in a queue, without its name.
  static let footprint = 600
  /// What each of its modes adds.
  static let perMode = 128

  init(
    _ sender: ScriptTarget?, _ info: LuaReference?, _ place: consuming HandleTally.Place,
    _ charge: MemoryCharge?
  ) {
    (self.sender, self.info, self.charge) = (sender, info, charge)
    self.place = place
  }
}
