// Makes random scenarios, as the JSON of a scenario file, to be read like any other.

import ConformanceFormat

struct Generator {
  private var dice: Dice
  private var ids: [String: [String]] = [:]
  private var deferred: [String] = []
  private var threads: [String] = []
  /// It has what the first form of these scenarios never had; without, they are the same as ever.
  private var isWide: Bool
  /// It runs on the main thread, which serves the main queue.
  private var isMain: Bool
  private var hasRequests: Bool
  private var hasDescriptors: Bool
  /// Whether threads, timers and timeouts have times of their own, and seldom come together.
  private var isSpread: Bool { isWide && !threads.isEmpty }
  private var lifecycles: Set<String> = []
  private var blockModes: [String] { ["default", "m", "common"] + (isWide ? ["n"] : []) }

  private typealias Fields = [(name: String, value: JSON)]

  /// The scenario of a seed; it may never end, or depend on the machine.
  static func scenario(seed: Int) -> JSON {
    let seed = UInt64(truncatingIfNeeded: seed)
    // Drawn from dice of their own, so that the other scenarios of a seed stay the same.
    var first = Dice(seed: ~seed)
    var generator = Generator(
      dice: Dice(seed: seed), isMain: first.chance(6), hasRequests: first.chance(25),
      hasDescriptors: first.chance(25), isWide: first.chance(60))
    return generator.scenario(id: "fuzz-\(Int(truncatingIfNeeded: seed))")
  }

  private init(
    dice: Dice, isMain: Bool, hasRequests: Bool, hasDescriptors: Bool, isWide: Bool
  ) {
    self.dice = dice
    self.isMain = isMain
    self.hasRequests = hasRequests
    self.hasDescriptors = hasDescriptors
    self.isWide = isWide
  }

  private mutating func scenario(id: String) -> JSON {
    if dice.chance(40) { threads = ["B"] }
    if isWide && !threads.isEmpty && dice.chance(40) { threads.append("C") }
    var counts = [
      ("timer", dice.roll(0...3)), ("source", dice.roll(0...4)), ("port", dice.roll(0...2)),
      ("observer", dice.roll(1...3)), ("block", dice.roll(0...4)),
    ]
    if isMain { counts.append(("queued", dice.roll(1...3))) }
    if hasDescriptors { counts.append(("fd", dice.roll(1...2))) }
    if isWide { for index in counts.indices { counts[index].1 += dice.pick([0, 0, 1, 2]) } }
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

  /// A time on the grid of the scenario, of so many times 20 ms or a little more.
  private mutating func time(_ range: ClosedRange<Int>) -> Int {
    let count = dice.roll(range)
    return isSpread ? (count + 2) / 3 * 60 : 20 * count
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
                (1, -150), (1, -50), (8, time(1...18)), (isWide ? 1 : 0, 0),
                (isWide ? 1 : 0, -1000), (isWide ? 1 : 0, time(19...90)),
              ])))
        ))
      if isWide && dice.chance(30) {
        let interval = dice.pick(isSpread ? [-60, 0, 240, 600] : [-60, 0, 40, 80, 100, 300, 1000])
        fields.append(("interval_ms", .number(Double(interval))))
      } else if dice.chance(55) {
        fields.append(
          (
            "interval_ms",
            .number(Double(dice.pick(isSpread ? [60, 120, 180, 300] : [60, 100, 140, 200])))
          ))
      }
    case "source", "observer":
      if dice.chance(35) {
        let order = isWide ? dice.pick([-1, 0, 1, 2, -100_000, 100_000]) : dice.roll(-1...2)
        fields.append(("order", .number(Double(order))))
      }
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
    if isWide && dice.chance(8) { fields.append(("quiet", .bool(true))) }
    if isWide && dice.chance(15) { fields.append(("stamp", .bool(true))) }
    if type != "block" {
      fields.append(("modes", .array(homes(id).map { .string($0) })))
      // On a slow machine another thread could use it before it is made.
      if threads.isEmpty && dice.chance(8) {
        deferred.append(id)
        fields.append(("deferred", .bool(true)))
      }
    }
    let most = dice.pick(weighed: [(4, 0), (4, 1), (3, 2), (1, 3), (isWide ? 2 : 0, 5)])
    var actions = (0..<most).flatMap { _ in callbackActions(of: type, id) }
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
      (isWide ? 8 : 0, ["n"]), (isWide ? 5 : 0, ["n", "m", "default"]),
      (isWide ? 5 : 0, ["m", "common"]),
    ])
  }

  // MARK: Actions

  /// An action of a callback; or two, which take an item out of a mode and put it back.
  private mutating func callbackActions(of type: String, _ id: String) -> [JSON] {
    var fields = action(nested: true)
    var when: Fields = [("nth", .number(Double(dice.pick(weighed: [(5, 1), (3, 2), (1, 3)]))))]
    if isWide && dice.chance(20) { when = [] }
    if type == "observer" && !(isWide && dice.chance(10)) {
      when.append(("on", .string(dice.pick(ActivityName.allCases.map(\.rawValue)))))
    }
    if isWide { fields = onItself(fields, type, id) }
    if isWide && dice.chance(30) { return inOneCall(fields).map { .object($0 + when) } }
    guard case .string("remove")? = fields.first?.value, dice.chance(40) else {
      return [.object(fields + when)]
    }
    return [.object(fields + when), .object(op("add") + fields.dropFirst() + when)]
  }

  /// What is done together: one thing and what it leads to.
  private mutating func inOneCall(_ first: Fields) -> [Fields] {
    switch dice.below(6) {
    case 0:
      guard let id = one("timer"), let date = fields("setNext") else { return [first] }
      let mode: (String, JSON) = ("mode", .string(dice.pick(["default", "m"])))
      let moved = date.map { $0.name == "id" ? (name: "id", value: id) : $0 }
      return [op("remove", ("id", id), mode), moved, op("add", ("id", id), mode)]
    case 1:
      guard let id = one("block") else { return [first] }
      return [
        op("addCommonMode", ("mode", .string("m"))),
        op("perform", ("id", id), ("modes", .array([.string("common")]))),
      ]
    case 2: return [op("sleep", ("ms", .number(Double(time(1...9))))), run(longest: 12)]
    case 3: return [op("stop"), run(longest: 12)]
    case 4: return [first, run(longest: 12)]
    default: return [first, action(nested: true)]
    }
  }

  /// At times what is done to an item is done to the one that is being called.
  private mutating func onItself(_ fields: Fields, _ type: String, _ id: String) -> Fields {
    guard case .string(let word)? = fields.first?.value, dice.chance(30) else { return fields }
    let fits =
      switch word {
      case "add", "remove", "invalidate": type != "block" && !lifecycles.contains(id)
      case "signal": type == "source"
      case "post": type == "port"
      case "setNext": type == "timer"
      case "perform", "performOn", "performAfter", "cancelPerform": type == "block"
      case "write", "enable", "disable": type == "fd"
      default: false
      }
    if !fits { return fields }
    return fields.map { $0.name == "id" ? (name: "id", value: .string(id)) : $0 }
  }

  /// An action, of the steps or (`nested`) of a callback.
  private mutating func action(nested: Bool) -> Fields {
    let kind = dice.pick(weighed: [
      (18, "signal"), (10, "perform"), (12, "post"), (nested ? 9 : 2, "stop"), (6, "wake"),
      (9, "member"), (5, "invalidate"), (9, "setNext"), (nested ? 7 : 3, "sleep"),
      (nested ? isWide ? 18 : 10 : 0, "run"), (nested && isWide ? 1 : 0, "runUnconditional"),
      (isWide && hasDescriptors ? 6 : 0, "read"), (3, "addCommonMode"),
      (deferred.isEmpty ? 0 : 6, "create"),
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
          let delay = isWide && dice.chance(20) ? 0 : time(1...12)
          fields.append(("ms", .number(Double(delay))))
        }
        guard let modes, !modes.isEmpty else { return fields }
        return fields + [("modes", .array(modes.map { .string($0) }))]
      }
    case "cancelPerform": return one("block").map { op(kind, ("id", $0)) }
    case "write":
      let data = String("abc".prefix(dice.roll(1...3)))
      return one("fd").map { op(kind, ("id", $0), ("data", .string(data))) }
    case "closePeer", "read": return one("fd").map { op(kind, ("id", $0)) }
    case "enable", "disable":
      return one("fd").map { op(kind, ("id", $0), ("events", .array([.string("read")]))) }
    case "member":
      guard let id = anyItem(), !lifecycles.contains(id) else { return nil }
      return op(
        dice.pick(["add", "remove"]), ("id", .string(id)),
        ("mode", .string(dice.pick(["default", "default", "m", "common"] + (isWide ? ["n"] : [])))))
    case "mainAsync": return one("queued").map { op(kind, ("id", $0)) }
    case "invalidate": return anyItem().map { op("invalidate", ("id", .string($0))) }
    case "setNext":
      let delay = dice.pick(weighed: [
        (2, 0), (2, -50), (5, time(2...12)), (isWide ? 1 : 0, -1000),
        (isWide ? 2 : 0, time(13...80)),
      ])
      return one("timer").map { op("setNext", ("id", $0), ("ms", .number(Double(delay)))) }
    case "sleep": return op("sleep", ("ms", .number(Double(time(1...9)))))
    case "addCommonMode":
      return op("addCommonMode", ("mode", .string(isWide ? dice.pick(["m", "n"]) : "m")))
    case "runUnconditional": return op("run", ("unconditional", .bool(true)))
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
        fields.append(("mode", .string(dice.pick(blockModes))))
      }
    case "nextFire":
      guard let id = one("timer") else { return nil }
      fields.append(("id", id))
    case "nextTimer":
      fields.append(("mode", .string(dice.pick(["default", "m"] + (isWide ? ["n"] : [])))))
    default: break
    }
    return fields
  }

  private mutating func run(longest: Int) -> Fields {
    let timeout: JSON = dice.pick(weighed: [
      (10, .number(0)), (2, .number(-50)), (5, .string("forever")),
      (80, .number(Double(time(2...longest) + (isSpread ? 30 : 0)))),
      (isWide ? 5 : 0, .number(Double(dice.pick([1, 15, 20])))),
      (isWide ? 5 : 0, .number(Double(time(2 * longest...3 * longest)))),
    ])
    var fields = op(
      "run",
      (
        "mode",
        .string(
          dice.pick(weighed: [
            (70, "default"), (28, "m"), (2, "x"), (isWide ? 14 : 0, "n"),
            (isWide ? 1 : 0, "common"),
          ]))
      ),
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
    for name in threads {
      steps.append(
        .object(op("thread", ("name", .string(name)), ("do", .array(threadActions(of: name))))))
    }
    for _ in 0..<dice.roll(1...(isWide ? 5 : 3)) {
      for _ in 0..<dice.roll(0...4) { steps.append(.object(action(nested: false))) }
      steps.append(
        dice.chance(4)
          ? .object(op("run", ("unconditional", .bool(true)))) : .object(run(longest: 25)))
    }
    for name in threads { steps.append(.object(op("join", ("name", .string(name))))) }
    return steps
  }

  /// Groups of actions, well apart from each other.
  private mutating func threadActions(of name: String) -> [JSON] {
    var actions: [JSON] = []
    for _ in 0..<dice.roll(1...4) {
      let offset = isSpread ? !actions.isEmpty ? 0 : name == "B" ? 15 : 45 : 10
      actions.append(
        .object(op("sleep", ("ms", .number(Double(offset + time(1...10)))))))
      for _ in 0..<dice.pick([1, 1, 2, 3]) {
        var action = self.action(nested: false)
        if case .string("sleep")? = action.first?.value { action = op("wake") }
        actions.append(.object(action))
      }
    }
    return actions
  }
}
