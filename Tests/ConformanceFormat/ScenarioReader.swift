// Reads a scenario file: it knows every field of the format, and rejects all others.

extension Scenario {
  /// Reads and checks a whole file.
  package static func read(_ bytes: [UInt8]) throws(FormatError) -> Scenario {
    var fields = try Fields(try JSON.parse(bytes), place: "scenario")
    guard try fields.optionalInt("format") == 1 else { throw fields.error("'format' must be 1") }
    let objects = try fields.array("objects") ?? []
    let steps = try fields.array("steps") ?? []
    var names = Names()
    for object in objects { try names.declare(object) }
    for action in objects + steps { names.declareThreads(in: action) }

    var scenario = Scenario(
      id: try fields.string("id"),
      family: try fields.string("family"),
      title: try fields.string("title"),
      onMainThread: try onMainThread(&fields),
      needs: try fields.strings("needs") ?? [],
      objects: [], steps: [],
      expect: try fields.strings("expect") ?? [],
      cf: try fields.strings("cf"))
    for object in objects { scenario.objects.append(try ObjectSpec.read(object, names)) }
    for (index, step) in steps.enumerated() {
      scenario.steps.append(try Action.read(step, in: "step \(index + 1)", of: nil, names))
    }
    // For human readers only.
    _ = try fields.strings("rules")
    for name in ["origin", "why"] { _ = try fields.optionalString(name) }
    try fields.finish()
    return scenario
  }

  private static func onMainThread(_ fields: inout Fields) throws(FormatError) -> Bool {
    switch try fields.optionalString("thread") {
    case nil: return false
    case "main": return true
    case let other?: throw fields.error("unknown 'thread' \"\(other)\"; only \"main\"")
    }
  }
}

/// The names a scenario declares, so that a reference to any other is found before it runs.
package struct Names {
  private(set) var types: [String: ObjectType] = [:]
  private(set) var threads: Set<String> = []

  package mutating func declare(_ object: JSON) throws(FormatError) {
    var fields = try Fields(object, place: "an object")
    let id = try fields.string("id")
    let type: ObjectType = try fields.word(try fields.string("type"), in: "type")
    guard types.updateValue(type, forKey: id) == nil else {
      throw fields.error("two objects have the id '\(id)'")
    }
  }

  /// Finds the threads that an action, or the actions of an object, start, however deeply nested.
  package mutating func declareThreads(in value: JSON) {
    guard case .object(let fields) = value else { return }
    var op: String?
    var name: String?
    for field in fields {
      if field.name == "op", case .string(let string) = field.value { op = string }
      if field.name == "name", case .string(let string) = field.value { name = string }
      guard field.name == "do", case .array(let actions) = field.value else { continue }
      for action in actions { declareThreads(in: action) }
    }
    if op == "thread", let name { threads.insert(name) }
  }
}

extension ObjectSpec {
  package static func read(_ value: JSON, _ names: Names) throws(FormatError) -> ObjectSpec {
    var fields = try Fields(value, place: "an object")
    let id = try fields.string("id")
    let type: ObjectType = try fields.word(try fields.string("type"), in: "type")
    fields.place = "\(type) '\(id)'"
    let actions = try fields.array("do") ?? []
    var spec = ObjectSpec(
      id: id,
      kind: try Kind.read(type, &fields),
      modes: type == .block ? [] : try fields.strings("modes") ?? ["default"],
      isDeferred: try fields.bool("deferred"),
      isQuiet: try fields.bool("quiet"),
      isStamped: try fields.bool("stamp"),
      actions: [])
    for action in actions {
      spec.actions.append(try Action.read(action, in: "'do' of \(type) '\(id)'", of: type, names))
    }
    try fields.finish()
    return spec
  }
}

extension ObjectSpec.Kind {
  package static func read(_ type: ObjectType, _ fields: inout Fields) throws(FormatError) -> Self {
    switch type {
    case .timer:
      return .timer(
        delay: try fields.time("delay_ms"), interval: try fields.optionalTime("interval_ms") ?? 0,
        tolerance: try fields.optionalTime("tolerance_ms") ?? 0)
    case .source:
      return .source(
        order: try fields.optionalInt("order") ?? 0, hasLifecycle: try fields.bool("lifecycle"),
        identity: try fields.optionalString("identity"))
    case .port:
      return .port
    case .fd:
      return .descriptor(
        events: try fields.words("events") ?? [.read],
        reenabled: try fields.words("reenable") ?? [.read],
        order: try fields.optionalInt("order") ?? 0)
    case .observer:
      return .observer(
        activities: try fields.words("activities") ?? ActivityName.allCases,
        repeats: try fields.bool("repeats", default: true),
        order: try fields.optionalInt("order") ?? 0)
    case .block:
      return .block
    }
  }
}
