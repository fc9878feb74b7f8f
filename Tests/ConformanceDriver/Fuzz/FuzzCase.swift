// A random scenario with the traces expected here and of Core Foundation.

import ConformanceFormat

struct FuzzCase {
  var json: JSON
  let scenario: Scenario
  let ours: [String]
  let cf: [String]
  /// How many runs are active at most, one inside the other.
  let depth: Int
  /// The rulings that affect the trace here.
  let rulings: [Ruling]

  /// - Returns: nil if it is unusable: it never ends, has no trace, or could depend on the machine.
  init?(_ json: JSON, withRulings: Bool = true) {
    guard let scenario = try? Scenario.read(Array(json.text.utf8)), Model.isKnown(scenario)
    else { return nil }
    let ours = Model.perform(scenario, Set(Ruling.allCases))
    guard ours.flaw == nil, !ours.hangs, ours.end < 2_500_000_000,
      (2...120).contains(ours.trace.count)
    else { return nil }
    let cf = Model.perform(scenario, [])
    guard cf.flaw == nil, cf.hangs || cf.trace.count <= 200,
      !Self.dependsOnSpeed(scenario, ours, cf)
    else { return nil }
    self.json = json
    self.scenario = scenario
    self.ours = ours.trace
    self.cf = cf.trace
    depth = ours.depth
    rulings =
      withRulings && ours.trace != cf.trace
      ? Ruling.allCases.filter {
        Model.perform(scenario, Set(Ruling.allCases).subtracting([$0])).trace != ours.trace
      } : []
  }

  /// Whether a slower machine leaves another trace, as where passes are made until a timeout.
  private static func dependsOnSpeed(
    _ scenario: Scenario, _ ours: Model.Outcome, _ cf: Model.Outcome
  ) -> Bool {
    Model.perform(scenario, Set(Ruling.allCases), tick: 45_000).trace != ours.trace
      || !cf.hangs && Model.perform(scenario, [], tick: 45_000).trace != cf.trace
  }

  /// Why the scenario of a seed is unusable; nil if it is usable.
  static func reasonNotToUse(seed: Int) -> String? {
    let json = Generator.scenario(seed: seed)
    if FuzzCase(json, withRulings: false) != nil { return nil }
    guard let scenario = try? Scenario.read(Array(json.text.utf8)) else { return "it is not valid" }
    let ours = Model.perform(scenario, Set(Ruling.allCases))
    if let flaw = ours.flaw ?? Model.perform(scenario, []).flaw { return flaw }
    if ours.hangs { return "it never ends" }
    let isShown = (2...120).contains(ours.trace.count)
    return isShown ? "its trace depends on the machine" : "its trace is too short or too long"
  }

  /// Scenarios on which Core Foundation hangs take long, so a few of them are enough.
  var hangsInCF: Bool { cf.last == "TIMEOUT" }

  /// Whether the trace is the expected one.
  func accepts(_ trace: [String]?, of face: FaceName) -> Bool {
    guard let trace else { return false }
    if !face.isCF && trace == ours { return true }
    if !face.isCF && !face.isEither { return false }
    // The reference gives up earlier than the model, whose trace may be longer.
    if hangsInCF && trace.last == "TIMEOUT" { return cf.starts(with: trace.dropLast()) }
    return trace == cf
  }
}
