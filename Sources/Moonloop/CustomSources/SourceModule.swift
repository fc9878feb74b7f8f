// Custom sources in Lua: `loop:source`, `ml.source`, signalled by hand (D9, D10).

internal import LuaEmbed
internal import MoonloopCore

/// What a source handle offers.
let sourceEntries: [LuaEntry] =
  [
    .method("signal") { host($0, $1, "source:signal", sourceSignal) },
    .field("signalled") { hostValue($0, $1, "source.signalled", sourceSignalled) },
    .field("order") {
      hostValue($0, $1, "source.order") { try $0.selfItem(of: SourceKind.self).order }
    },
  ] + itemEntries

private let sourceOptions: [StaticString] = [
  "perform", "schedule", "cancel", "order", "identity", "describe", "name", "modes", "keep_alive",
  "on_error",
]

/// `loop:source { perform, schedule, cancel, order, identity, describe, name, modes, keep_alive,
/// on_error }`; the handler may also be the first element.
func makeSource(_ call: HostCall, _ entry: ItemEntry) throws -> Int32 {
  try call.requireRoom()
  let options = try call.options(
    entry.options, sourceOptions, example: "{ perform = function(source) … end }")
  let order = try options.integer("order", in: .min ... .max) ?? 0
  let name = try options.name() ?? ""
  let modes = try call.modesOption(options, entry)
  let hasPerform = try options.pushHandler("perform")
  if !hasPerform {
    _ = try options.pushHandler("[1]", isRequired: true)
  } else if options.hasUnnamed {
    throw call.mistake("there are two handlers: an element without a name, and 'perform'")
  }
  let hasSchedule = try options.pushHandlerOrNil("schedule")
  let hasCancel = try options.pushHandlerOrNil("cancel")
  let describes = try options.pushHandlerOrNil("describe")
  let kind = call.kind(SourceKind.self)
  let traits = try call.traits(options, describe: describes ? kind.describe : nil)
  let kept = try call.remake(SourceKind.self, name, handlers: 4, options, modes: modes) {
    $0.order == order && ($0.schedule != nil) == hasSchedule && ($0.cancel != nil) == hasCancel
      && $0.traits?.identity == traits?.identity && ($0.traits?.describes ?? false) == describes
  }
  if kept != nil { return 1 }
  let source = Loop.Source(
    order: order, name: name, traits: traits, schedule: hasSchedule ? kind.schedule : nil,
    cancel: hasCancel ? kind.cancel : nil, isConfined: true, perform: kind.perform)
  call.push(kind, source, handlers: 4)
  return try call.finish(source, options, modes: modes)
}

extension HostCall {
  /// What decides whether a source equals others, a string or a number, and its description; nil
  /// for most sources.
  fileprivate func traits(
    _ options: Options, describe: ((Loop.Source) -> String)?
  ) throws(ScriptMistake) -> SourceTraits? {
    defer { stack.pop() }
    let value: AnyHashable?
    switch options.push("identity") {
    case .nil: return describe.flatMap { SourceTraits(identity: nil, describe: $0) }
    case .string:
      let bytes = stack.withBytes(-1) { [UInt8]($0) } ?? []
      try Options.requireShort(bytes.count, "'identity'")
      value = AnyHashable(bytes)
    case .number:
      value = stack.integer(-1).map { AnyHashable($0) } ?? AnyHashable(stack.number(-1))
    default: throw mistake("'identity' must be a string or a number, got \(given(-1))")
    }
    return SourceTraits(
      identity: ScriptIdentity(state: runtime.number, value: value), describe: describe)
  }
}

/// What makes sources equal; sources of other states never equal ours.
private struct ScriptIdentity: Hashable {
  let state: UInt64
  let value: AnyHashable?
}

// MARK: Methods

func sourceSignal(_ call: HostCall) throws -> Int32 {
  let handle = try call.selfHandle(call.kinds.source)
  let isValid = Unmanaged<Loop.Source>.fromOpaque(handle.pointer!)._withUnsafeGuaranteedRef {
    source in
    source.signal()
    return source.isValid
  }
  if !isValid { throw call.invalid(handle) }
  return 0
}

func sourceSignalled(_ call: HostCall) throws -> some LuaPushable {
  let handle = try call.selfHandle(call.runtime.kinds.source)
  let source = handle.item(as: Loop.Source.self)
  return source.isValid && source.isSignalled
}
