// Reads actions: one line for each word of the format, with its fields.

extension Action {
  /// - Parameter type: The type of the object whose callbacks perform it; nil in steps and threads.
  package static func read(
    _ value: JSON, in place: String, of type: ObjectType?, _ names: Names
  ) throws(FormatError) -> Action {
    var fields = try Fields(value, place: "an action in \(place)")
    let word = try fields.string("op")
    var reader = ActionReader(
      fields: try Fields(value, place: "'\(word)' in \(place)"), type: type, names: names)
    _ = reader.fields.take("op")
    let on = try reader.on()
    let nth = try reader.nth()
    let loop = try reader.loop()
    let op = try reader.operation(word)
    try reader.fields.finish()
    return Action(op: op, on: on, nth: nth, loop: loop)
  }
}

private struct ActionReader {
  var fields: Fields
  let type: ObjectType?
  let names: Names

  // MARK: Fields of every action

  mutating func on() throws(FormatError) -> String? {
    guard let on = try fields.optionalString("on") else { return nil }
    switch type {
    case .observer: return try fields.word(on, in: "on", of: ActivityName.self).rawValue
    case .fd: return try fields.word(on, in: "on", of: Direction.self).rawValue
    default: throw fields.error("'on' belongs in 'do' of an observer or fd")
    }
  }

  mutating func nth() throws(FormatError) -> Int? {
    guard let nth = try fields.optionalInt("nth") else { return nil }
    guard type != nil else { throw fields.error("'nth' belongs in 'do' of an object") }
    guard nth >= 1 else { throw fields.error("'nth' counts from 1, but is \(nth)") }
    return nth
  }

  mutating func loop() throws(FormatError) -> String {
    guard let loop = try fields.optionalString("loop") else { return Action.home }
    guard loop == Action.home || names.threads.contains(loop) else {
      throw fields.error("no thread is called '\(loop)'")
    }
    return loop
  }

  // MARK: References

  /// The id of an object of one of some types.
  mutating func id(_ types: ObjectType...) throws(FormatError) -> String {
    let id = try fields.string("id")
    guard let type = names.types[id] else { throw fields.error("no object is called '\(id)'") }
    guard types.contains(type) else {
      let wanted = types.map(\.rawValue).joined(separator: ", ")
      throw fields.error("'\(id)' is a \(type), but this takes one of \(wanted)")
    }
    return id
  }

  mutating func item() throws(FormatError) -> String {
    try id(.timer, .source, .port, .fd, .observer)
  }

  mutating func mode() throws(FormatError) -> String {
    try fields.optionalString("mode") ?? "default"
  }

  mutating func modes() throws(FormatError) -> [String] {
    try fields.strings("modes") ?? ["default"]
  }

  // MARK: The operations

  mutating func operation(_ word: String) throws(FormatError) -> Operation {
    switch word {
    case "run": try run()
    case "stop": .stop
    case "wake": .wake
    case "signal": .signal(id: try id(.source))
    case "post": .post(id: try id(.port), message: try fields.string("msg"))
    case "add": .add(id: try item(), mode: try mode())
    case "remove": .remove(id: try item(), mode: try mode())
    case "addCommonMode": .addCommonMode(try fields.string("mode"))
    case "invalidate": .invalidate(id: try item())
    case "create": .create(id: try item())
    case "setNext": .setNext(id: try id(.timer), delay: try fields.time("ms"))
    case "setTolerance": .setTolerance(id: try id(.timer), try fields.time("ms"))
    case "fire": .fire(id: try id(.timer))
    case "cancelTarget": .cancelTarget(try fields.string("target"))
    case "sleep": .sleep(try fields.time("ms"))
    case "log": .log(try fields.string("text"))
    case "query": .query(try query())
    case "thread": try thread()
    case "join": .join(name: try threadName())
    case "perform", "performOn", "performAfter", "cancelPerform", "mainAsync":
      try blockOperation(word)
    case "write", "closePeer", "read", "fill", "drain", "enable", "disable":
      try descriptorOperation(word)
    default: throw fields.error("unknown op")
    }
  }

  private mutating func run() throws(FormatError) -> Operation {
    if try fields.bool("unconditional") { return .runUnconditionally }
    let mode = try mode()
    let returnAfterSource = try fields.bool("returnAfterSource")
    guard case .string(let word)? = fields.peek("timeout_ms") else {
      let timeout = try fields.time("timeout_ms")
      return .run(mode: mode, timeout: timeout, returnAfterSource: returnAfterSource)
    }
    guard word == "forever" else { throw fields.error("unknown 'timeout_ms' \"\(word)\"") }
    _ = fields.take("timeout_ms")
    return .run(mode: mode, timeout: nil, returnAfterSource: returnAfterSource)
  }

  private mutating func blockOperation(_ word: String) throws(FormatError) -> Operation {
    let id = try id(.block)
    switch word {
    case "perform": return .perform(id: id, modes: try modes(), aim: try aim())
    case "performOn":
      return .performOn(
        id: id, modes: try modes(), waits: try fields.bool("wait"), aim: try aim())
    case "performAfter":
      return .performAfter(id: id, delay: try fields.time("ms"), modes: try modes())
    case "cancelPerform": return .cancelPerform(id: id)
    default: return .mainAsync(id: id)
    }
  }

  private mutating func aim() throws(FormatError) -> Aim? {
    let order = try fields.optionalInt("order")
    let target = try fields.optionalString("target")
    return order == nil && target == nil ? nil : Aim(order: order ?? 0, target: target)
  }

  private mutating func descriptorOperation(_ word: String) throws(FormatError) -> Operation {
    let id = try id(.fd)
    switch word {
    case "write": return .write(id: id, data: try fields.string("data"))
    case "closePeer": return .closePeer(id: id)
    case "read": return .read(id: id, bytes: try byteCount())
    case "fill": return .fill(id: id)
    case "drain": return .drain(id: id)
    case "enable": return .enable(id: id, events: try events())
    default: return .disable(id: id, events: try events())
    }
  }

  private mutating func byteCount() throws(FormatError) -> Int {
    let count = try fields.optionalInt("bytes") ?? 4096
    guard (1...(1 << 20)).contains(count) else {
      throw fields.error("'bytes' must be from 1 to 1048576, but is \(count)")
    }
    return count
  }

  private mutating func events() throws(FormatError) -> [Direction] {
    guard let events: [Direction] = try fields.words("events") else {
      throw fields.error("'events' is missing")
    }
    return events
  }

  private mutating func query() throws(FormatError) -> Query {
    let what = try fields.string("what")
    switch what {
    case "currentMode": return .currentMode
    case "waiting": return .waiting
    case "elapsed": return .elapsed
    case "valid": return .valid(id: try item())
    case "contains": return .contains(id: try item(), mode: try mode())
    case "nextFire": return .nextFire(id: try id(.timer))
    case "nextTimer": return .nextTimer(mode: try mode())
    default: throw fields.error("unknown query \"\(what)\"")
    }
  }

  // MARK: Threads

  private mutating func thread() throws(FormatError) -> Operation {
    let name = try fields.string("name")
    guard name != Action.home, !name.isEmpty else {
      throw fields.error("a thread cannot be called '\(name)'")
    }
    guard let elements = try fields.array("do") else { throw fields.error("'do' is missing") }
    var actions: [Action] = []
    for element in elements {
      actions.append(try Action.read(element, in: "thread '\(name)'", of: nil, names))
    }
    return .thread(name: name, actions: actions)
  }

  private mutating func threadName() throws(FormatError) -> String {
    let name = try fields.string("name")
    guard names.threads.contains(name) else { throw fields.error("no thread is called '\(name)'") }
    return name
  }
}
