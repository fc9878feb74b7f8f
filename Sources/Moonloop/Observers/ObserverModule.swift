// Observers in Lua: `loop:observer`, `ml.observer` (D12).

internal import LuaEmbed
internal import MoonloopCore

/// What an observer handle offers.
let observerEntries: [LuaEntry] =
  [
    .field("order") {
      hostValue($0, $1, "observer.order") { try $0.selfItem(of: ObserverKind.self).order }
    },
    .field("repeats") {
      hostValue($0, $1, "observer.repeats") { try $0.selfItem(of: ObserverKind.self).repeats }
    },
  ] + itemEntries

private let observerOptions: [StaticString] = [
  "on", "order", "repeats", "name", "modes", "keep_alive", "on_error", "handler",
]

/// `loop:observer { on, order, repeats, name, modes, on_error, handler }`
func makeObserver(_ call: HostCall, _ entry: ItemEntry) throws -> Int32 {
  try call.requireRoom()
  let options = try call.options(
    entry.options, observerOptions, example: "{ on = \"before_waiting\", function() … end }")
  guard let on = try options.names("on", activityNames, "activity"), !on.isEmpty else {
    throw call.mistake(
      "needs 'on', the activities to observe",
      hint: "use one of \(activityNames.map(\.name).joined(separator: ", ")), or a list")
  }
  let order = try options.integer("order", in: .min ... .max) ?? 0
  let repeats = try options.boolean("repeats") ?? true
  let name = try options.name() ?? ""
  let modes = try call.modesOption(options, entry)
  _ = try options.pushHandler("[1]", isRequired: true)
  let activities = on.reduce([] as Activity) { $0.union($1) }
  let kept = try call.remake(
    ObserverKind.self, name, handlers: 1, options, modes: modes
  ) { $0.activities == activities && $0.repeats == repeats && $0.order == order }
  if kept != nil { return 1 }
  let kind = call.kind(ObserverKind.self)
  let observer = Loop.Observer(
    activities, repeats: repeats, order: order, name: name, handler: kind.activity)
  call.push(kind, observer, handlers: 1)
  return try call.finish(observer, options, modes: modes)
}
