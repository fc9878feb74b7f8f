// Makes random scenarios, as the JSON of a scenario file, to be read like any other.

import ConformanceFormat

struct Generator {
  private var dice: Dice
  private var ids: [String: [String]] = [:]
  private var deferred: [String] = []
  private var hasThread = false
  /// It runs on the main thread, which serves the main queue.
  private var isMain: Bool
  private var hasRequests: Bool
  private var hasDescriptors: Bool
  private var lifecycles: Set<String> = []
  private var blockModes: [String] { ["default", "m", "common"] }

  private typealias Fields = [(name: String, value: JSON)]

  /// The scenario of a seed; it may never end, or depend on the machine.
  static func scenario(seed: Int) -> JSON {
    let seed = UInt64(truncatingIfNeeded: seed)
    // Drawn from dice of their own, so that the other scenarios of a seed stay the same.
    var first = Dice(seed: ~seed)
    var generator = Generator(
      dice: Dice(seed: seed), isMain: first.chance(6), hasRequests: first.chance(25),
      hasDescriptors: first.chance(25))
    return generator.scenario(id: "fuzz-\(Int(truncatingIfNeeded: seed))")
  }

  private init(dice: Dice, isMain: Bool, hasRequests: Bool, hasDescriptors: Bool) {
    self.dice = dice
    self.isMain = isMain
    self.hasRequests = hasRequests
    self.hasDescriptors = hasDescriptors
  }

  private mutating func scenario(id: String) -> JSON {
    hasThread = dice.chance(40)
    var counts = [
      ("timer", dice.roll(0...3)), ("source", dice.roll(0...4)), ("port", dice.roll(0...2)),
      ("observer", dice.roll(1...3)), ("block", dice.roll(0...4)),
    ]
    if isMain { counts.append(("queued", dice.roll(1...3))) }
    if hasDescriptors { counts.append(("fd", dice.roll(1...2))) }
    for (type, count) in counts {
      ids[type] = (0..<count).map { "\(type.prefix(1))\($0 + 1)" }
    }
    var objects: [JSON] = []
    for (type, _) in counts {
      for id in ids[type] ?? [] { objects.append(object(id, type == "queued" ? "block" : type)) }
    }
    let steps = self.steps()
    let thread: Fields =
      isMain ? [("thread", .string("main")), ("needs", .array([.string("mainQueue")]))] : []
    return .object(
      [
        ("format", .number(1)), ("id", .string(id)), ("family", .string("fuzz")),
        ("title", .string("A random scenario")),
      ] + thread + [
        ("objects", .array(objects)),
        ("steps", .array(steps)), ("expect", .array([])),
      ])
  }

  // MARK: Objects

  private mutating func object(_ id: String, _ type: String) -> JSON {
    var fields: Fields = [("id", .string(id)), ("type", .string(type))]
    switch type {
    case "timer":
      fields.append(
        (
          "delay_ms",
          .number(
            Double(
              dice.pick(weighed: [
                (1, -150), (1, -50), (8, 20 * dice.roll(1...18)),
              ])))
        ))
      if dice.chance(55) {
        fields.append(("interval_ms", .number(Double(dice.pick([60, 100, 140, 200])))))
      }
    case "source", "observer":
      if dice.chance(35) { fields.append(("order", .number(Double(dice.roll(-1...2))))) }
      if type == "source" && dice.chance(12) {
        fields.append(("lifecycle", .bool(true)))
        lifecycles.insert(id)
      }
      if type == "observer" && (id != "o1" || dice.chance(20)) {
        fields.append(("activities", .array(activities().map { .string($0) })))
        if dice.chance(30) { fields.append(("repeats", .bool(false))) }
      }
    case "fd": if dice.chance(25) { fields.append(("reenable", .array([]))) }
    default: break
    }
    if type != "block" {
      fields.append(("modes", .array(homes(id).map { .string($0) })))
      // On a slow machine another thread could use it before it is made.
      if !hasThread && dice.chance(8) {
        deferred.append(id)
        fields.append(("deferred", .bool(true)))
      }
    }
    var actions = (0..<dice.pick(weighed: [(4, 0), (4, 1), (3, 2), (1, 3)])).flatMap { _ in
      callbackActions(of: type)
    }
    if type == "fd" && !dice.chance(5) {
      var read = op("read", ("id", .string(id)))
      if dice.chance(30) { read.append(("bytes", .number(1))) }
      actions.insert(.object(read), at: dice.below(actions.count + 1))
    }
    if !actions.isEmpty { fields.append(("do", .array(actions))) }
    return .object(fields)
  }

  private mutating func activities() -> [String] {
    let all = ActivityName.allCases.map(\.rawValue)
    let some = all.filter { _ in dice.chance(40) }
    return some.isEmpty ? [dice.pick(all)] : some
  }

  private mutating func homes(_ id: String) -> [String] {
    // Core Foundation calls several modes in no fixed order.
    if lifecycles.contains(id) { return [dice.pick(["default", "m"])] }
    return dice.pick(weighed: [
      (55, ["default"]), (14, ["m"]), (12, ["default", "m"]), (12, ["common"]), (7, []),
    ])
  }

  // MARK: Actions

  /// An action of a callback; or two, which take an item out of a mode and put it back.
  private mutating func callbackActions(of type: String) -> [JSON] {
    let fields = action(nested: true)
    var when: Fields = [("nth", .number(Double(dice.pick(weighed: [(5, 1), (3, 2), (1, 3)]))))]
    if type == "observer" {
      when.append(("on", .string(dice.pick(ActivityName.allCases.map(\.rawValue)))))
    }
    guard case .string("remove")? = fields.first?.value, dice.chance(40) else {
      return [.object(fields + when)]
    }
    return [.object(fields + when), .object(op("add") + fields.dropFirst() + when)]
  }

  /// An action, of the steps or (`nested`) of a callback.
  private mutating func action(nested: Bool) -> Fields {
    let kind = dice.pick(weighed: [
      (18, "signal"), (10, "perform"), (12, "post"), (nested ? 9 : 2, "stop"), (6, "wake"),
      (9, "member"), (5, "invalidate"), (9, "setNext"), (nested ? 7 : 3, "sleep"),
      (nested ? 10 : 0, "run"), (3, "addCommonMode"), (deferred.isEmpty ? 0 : 6, "create"),
      (9, "query"), (1, "log"), (isMain ? 12 : 0, "mainAsync"),
      (hasRequests ? 12 : 0, "performOn"), (hasRequests ? 9 : 0, "performAfter"),
      (hasRequests ? 5 : 0, "cancelPerform"), (hasDescriptors ? 18 : 0, "write"),
      (hasDescriptors ? 2 : 0, "closePeer"), (hasDescriptors ? 4 : 0, "enable"),
      (hasDescriptors ? 4 : 0, "disable"),
    ])
    return fields(kind) ?? op("log", ("text", .string("x")))
  }

  /// nil: there is no suitable object.
  private mutating func fields(_ kind: String) -> Fields? {
    switch kind {
    case "signal": return one("source").map { op("signal", ("id", $0)) }
    case "post":
      let text = "\(dice.roll(1...9))"
      return one("port").map { op("post", ("id", $0), ("msg", .string(text))) }
    case "perform", "performOn", "performAfter":
      let modes = dice.chance(60) ? nil : blockModes.filter { _ in dice.chance(45) }
      return one("block").map { id in
        var fields = op(kind, ("id", id))
        if kind == "performAfter" {
          fields.append(("ms", .number(Double(20 * dice.roll(1...12)))))
        }
        guard let modes, !modes.isEmpty else { return fields }
        return fields + [("modes", .array(modes.map { .string($0) }))]
      }
    case "cancelPerform": return one("block").map { op(kind, ("id", $0)) }
    case "write":
      let data = String("abc".prefix(dice.roll(1...3)))
      return one("fd").map { op(kind, ("id", $0), ("data", .string(data))) }
    case "closePeer": return one("fd").map { op(kind, ("id", $0)) }
    case "enable", "disable":
      return one("fd").map { op(kind, ("id", $0), ("events", .array([.string("read")]))) }
    case "member":
      guard let id = anyItem(), !lifecycles.contains(id) else { return nil }
      return op(
        dice.pick(["add", "remove"]), ("id", .string(id)),
        ("mode", .string(dice.pick(["default", "default", "m", "common"]))))
    case "mainAsync": return one("queued").map { op(kind, ("id", $0)) }
    case "invalidate": return anyItem().map { op("invalidate", ("id", .string($0))) }
    case "setNext":
      let delay = dice.pick(weighed: [(2, 0), (2, -50), (5, 20 * dice.roll(2...12))])
      return one("timer").map { op("setNext", ("id", $0), ("ms", .number(Double(delay)))) }
    case "sleep": return op("sleep", ("ms", .number(Double(20 * dice.roll(1...9)))))
    case "addCommonMode": return op("addCommonMode", ("mode", .string("m")))
    case "create": return op("create", ("id", .string(dice.pick(deferred))))
    case "run": return run(longest: 12)
    case "query": return query()
    default: return op(kind)
    }
  }

  private mutating func query() -> Fields? {
    let what = dice.pick([
      "currentMode", "valid", "contains", "nextFire", "nextTimer", "elapsed", "waiting",
    ])
    var fields = op("query", ("what", .string(what)))
    switch what {
    case "valid", "contains":
      guard let id = anyItem() else { return nil }
      fields.append(("id", .string(id)))
      if what == "contains" {
        fields.append(("mode", .string(dice.pick(["default", "m", "common"]))))
      }
    case "nextFire":
      guard let id = one("timer") else { return nil }
      fields.append(("id", id))
    case "nextTimer": fields.append(("mode", .string(dice.pick(["default", "m"]))))
    default: break
    }
    return fields
  }

  private mutating func run(longest: Int) -> Fields {
    let timeout: JSON = dice.pick(weighed: [
      (10, .number(0)), (2, .number(-50)), (5, .string("forever")),
      (80, .number(Double(20 * dice.roll(2...longest)))),
    ])
    var fields = op(
      "run", ("mode", .string(dice.pick(weighed: [(70, "default"), (28, "m"), (2, "x")]))),
      ("timeout_ms", timeout))
    if dice.chance(30) { fields.append(("returnAfterSource", .bool(true))) }
    return fields
  }

  private func op(_ word: String, _ fields: (String, JSON)...) -> Fields {
    [(name: "op", value: .string(word))] + fields.map { (name: $0.0, value: $0.1) }
  }

  private mutating func one(_ type: String) -> JSON? {
    guard let all = ids[type], !all.isEmpty else { return nil }
    return .string(dice.pick(all))
  }

  private mutating func anyItem() -> String? {
    let all = ["timer", "source", "port", "observer", "fd"].flatMap { ids[$0] ?? [] }
    return all.isEmpty ? nil : dice.pick(all)
  }

  // MARK: Steps and threads

  private mutating func steps() -> [JSON] {
    var steps: [JSON] = []
    if hasThread {
      steps.append(
        .object(op("thread", ("name", .string("B")), ("do", .array(threadActions())))))
    }
    for _ in 0..<dice.roll(1...3) {
      for _ in 0..<dice.roll(0...4) { steps.append(.object(action(nested: false))) }
      steps.append(
        dice.chance(4)
          ? .object(op("run", ("unconditional", .bool(true)))) : .object(run(longest: 25)))
    }
    if hasThread { steps.append(.object(op("join", ("name", .string("B"))))) }
    return steps
  }

  /// Groups of actions, well apart from each other.
  private mutating func threadActions() -> [JSON] {
    var actions: [JSON] = []
    for _ in 0..<dice.roll(1...4) {
      actions.append(
        .object(op("sleep", ("ms", .number(Double(10 + 20 * dice.roll(1...10)))))))
      for _ in 0..<dice.pick([1, 1, 2, 3]) {
        var action = self.action(nested: false)
        if case .string("sleep")? = action.first?.value { action = op("wake") }
        actions.append(.object(action))
      }
    }
    return actions
  }
}
