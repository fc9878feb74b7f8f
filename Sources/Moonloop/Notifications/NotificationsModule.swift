// Notification queues in Lua: `loop:notifications` (R130, R148 to R150).

internal import LuaEmbed
internal import MoonloopCore

private let queueOptions: [StaticString] = ["name", "on_error", "handler"]
private let enqueueOptions: [StaticString] = ["style", "sender", "info", "coalesce", "modes"]
private let dequeueOptions: [StaticString] = ["sender", "coalesce"]

private let styles: [(name: String, value: Loop.NotificationQueue.PostingStyle)] = [
  ("when_idle", .whenIdle), ("as_soon_as_possible", .asSoonAsPossible), ("now", .now),
]
private let masks: [(name: String, value: Loop.NotificationQueue.Coalescing)] = [
  ("name", .onName), ("sender", .onSender), ("none", []),
]

/// `loop:notifications { name, on_error, handler }`
let loopNotifications: LuaRawFunction = { L, context in
  hostLoop(L, context, "loop:notifications") { call in
    try call.requireRoom()
    let options = try call.options(
      2, queueOptions, example: "{ function(queue, name, sender, info) … end }")
    let name = try options.name() ?? ""
    _ = try options.pushHandler("[1]", isRequired: true)
    let kept = try call.remake(
      NotificationsKind.self, name, handlers: 1, options, modes: nil
    ) { _ in true }
    if kept != nil { return 1 }
    let kind = call.kind(NotificationsKind.self)
    weak var observer: Loop.Observer?
    // Unowned: the runtime holds the kind, and ends all items before it goes.
    let queue = Loop.NotificationQueue(on: call.loop, name: name) { [unowned kind] notification in
      if let observer { kind.deliver(notification, of: observer) }
    }
    observer = queue.observer
    queue.observer.maker.state = ScriptNotifications(queue)
    call.push(kind, queue.observer, handlers: 1)
    try call.applyCommonOptions(options, to: queue.observer)
    call.stack.pushValue(-1)
    queue.observer.maker.ref = call.stack.popRef()  // the loop holds it until it ends (D4)
    return 1
  }
}

extension HostCall {
  fileprivate func selfQueue() throws(ScriptMistake) -> Loop.NotificationQueue {
    let observer = try selfItem(of: NotificationsKind.self)
    guard observer.isValid, let queue = ScriptNotifications.of(observer)?.queue else {
      throw invalid(try selfItem())
    }
    return queue
  }

  fileprivate func mask(
    _ options: Options?
  ) throws(ScriptMistake) -> Loop.NotificationQueue.Coalescing {
    guard let named = try options?.names("coalesce", masks, "mask") else {
      return [.onName, .onSender]
    }
    return named.reduce([]) { $0.union($1) }
  }

  /// A notification with the name at 2, and the values of the options.
  fileprivate func notification(
    _ options: Options?, modes: [ModeName] = []
  ) throws(ScriptMistake) -> Loop.NotificationQueue.Notification {
    let name = try string(2, "the name")
    let notice = ScriptNotice(
      options?.target("sender"), options?.target("info")?.value,
      HandleTally.Place(runtime.handles.notifications),
      state.charge(
        ScriptNotice.footprint + name.utf8.count + modes.footprint
          + modes.count * ScriptNotice.perMode))
    return Loop.NotificationQueue.Notification(
      name, key: notice.sender.map { AnyHashable($0) }, info: notice)
  }

  fileprivate func options(_ known: [StaticString]) throws(ScriptMistake) -> Options? {
    if isAbsent(3) { return nil }
    return try options(3, known, example: "{ sender = … }", unnamed: 0)
  }
}

/// `queue:enqueue(name, { style, sender, info, coalesce, modes })`: false if it was dropped.
func notificationsEnqueue(_ call: HostCall) throws -> some LuaPushable {
  let queue = try call.selfQueue()
  try call.requireRoom(for: .notifications)
  let options = try call.options(enqueueOptions)
  let style = try options?.names("style", styles, "style") ?? [.asSoonAsPossible]
  guard style.count == 1 else { throw call.mistake("'style' must be one style") }
  let modes = try options?.modes() ?? [.default]
  return queue.enqueue(
    try call.notification(options, modes: modes), style[0], coalescing: try call.mask(options),
    modes: modes)
}

/// `queue:dequeue(name, { sender, coalesce })`: how many were dropped.
func notificationsDequeue(_ call: HostCall) throws -> some LuaPushable {
  let queue = try call.selfQueue()
  let options = try call.options(dequeueOptions)
  let count = queue.dequeue(
    matching: try call.notification(options), coalescing: try call.mask(options))
  return count
}

/// `queue.waiting`: how many notifications are queued; 0 once it has ended.
func notificationsWaiting(_ call: HostCall) throws -> some LuaPushable {
  let observer = try call.selfItem(of: NotificationsKind.self)
  return ScriptNotifications.of(observer)?.queue.count ?? 0
}

/// What a handle offers.
let notificationsEntries: [LuaEntry] =
  [
    .method("enqueue") { hostValue($0, $1, "notifications:enqueue", notificationsEnqueue) },
    .method("dequeue") { hostValue($0, $1, "notifications:dequeue", notificationsDequeue) },
    .field("waiting") { hostValue($0, $1, "notifications.waiting", notificationsWaiting) },
  ] + itemEntries
