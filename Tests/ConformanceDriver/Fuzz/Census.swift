// What random scenarios are made of: each operation by where it stands, kinds of objects, depths.

import ConformanceFormat

struct Census {
  private static let places =
    ["steps", "thread"] + ObjectType.allCases.map(\.rawValue)
  /// By operation, then by place.
  private var actions: [String: [String: Int]] = [:]
  /// How many scenarios have a feature.
  private var features: [String: Int] = [:]
  private var count = 0

  /// Counts this many usable scenarios, from a seed on.
  static func ofCases(_ wanted: Int, seed: Int) -> Census {
    var census = Census()
    var seed = seed
    while census.count < wanted {
      if let entry = FuzzCase(Generator.scenario(seed: seed), withRulings: false) {
        census.add(entry)
      }
      seed &+= 1
    }
    return census
  }

  private mutating func add(_ entry: FuzzCase) {
    count += 1
    var found: Set<String> = ["depth \(entry.depth)"]
    for spec in entry.scenario.objects {
      found.formUnion(Self.features(of: spec))
      for action in spec.actions {
        if action.nth == nil { found.insert("an action of every call") }
        add(action, in: spec.type.rawValue, &found)
      }
    }
    for step in entry.scenario.steps { add(step, in: "steps", &found) }
    let threads = entry.scenario.steps.count { if case .thread = $0.op { true } else { false } }
    found.insert("\(threads) threads")
    for feature in found { features[feature, default: 0] += 1 }
  }

  private mutating func add(_ action: Action, in place: String, _ found: inout Set<String>) {
    let word = String("\(action.op)".prefix { $0 != "(" })
    actions[word, default: [:]][place, default: 0] += 1
    switch action.op {
    case .thread(_, let inner): for one in inner { add(one, in: "thread", &found) }
    case .run(let mode, let timeout, _):
      found.insert("run in \(mode)")
      if let timeout, timeout < 40_000_000, timeout > 0 { found.insert("run under 40 ms") }
    case .setNext(_, let delay): found.insert("setNext \(Self.sign(delay))")
    case .performAfter(_, let delay, _): found.insert("performAfter \(Self.sign(delay))")
    case .addCommonMode(let mode): found.insert("addCommonMode \(mode)")
    case .performOn(_, _, true, _): found.insert("performOn that waits")
    default: break
    }
  }

  private static func features(of spec: ObjectSpec) -> [String] {
    var found = spec.modes.map { "\(spec.type.rawValue) in \($0)" }
    if spec.isQuiet { found.append("quiet") }
    if spec.isStamped { found.append("stamp") }
    if case .timer(let delay, let interval, _) = spec.kind {
      found.append("timer, first date \(sign(delay))")
      found.append("timer, interval \(interval / 1_000_000)")
    }
    return found
  }

  private static func sign(_ time: Int64) -> String {
    time == 0 ? "now" : time < 0 ? "past" : time > 360_000_000 ? "far" : "later"
  }

  func report() {
    func cell(_ text: String) -> String { String(repeating: " ", count: 9 - text.count) + text }
    print(cell("") + "   " + Self.places.map(cell).joined())
    for (word, row) in actions.sorted(by: { $0.key < $1.key }) {
      let name = String(word.prefix(12))
      print(
        name + String(repeating: " ", count: 12 - name.count)
          + Self.places.map { cell("\(row[$0] ?? 0)") }.joined())
    }
    for (feature, count) in features.sorted(by: { $0.key < $1.key }) { print(feature, count) }
  }
}
