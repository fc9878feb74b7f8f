// Random programs of all operations on a loop, against a model made of lists and sorting.
//
// MOONLOOP_SEEDS=N runs N programs instead of a few; MOONLOOP_SEED=S runs one. Under a sanitizer
// fewer run.

internal import Glibc
internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct RandomTests {
  static let seeds: Range<UInt64> = {
    if let seed = variable("MOONLOOP_SEED") { return seed..<(seed + 1) }
    let few: UInt64 = getenv("MOONLOOP_SANITIZED") == nil ? 10_000 : 400
    return 1..<((variable("MOONLOOP_SEEDS") ?? few) + 1)
  }()

  private static func variable(_ name: String) -> UInt64? {
    getenv(name).flatMap { UInt64(String(cString: $0)) }
  }

  @Test func `random programs do as the model does`() {
    var failures = 0
    for seed in Self.seeds where failures < 3 {
      if let difference = Program(seed: seed).difference() {
        failures += 1
        Issue.record("seed \(seed): \(difference)")
      }
    }
  }
}

/// What an item does when it is called.
indirect enum Act {
  case signal(Int)
  case addItem(Int, mode: String)
  case removeItem(Int, mode: String)
  case invalidate(Int)
  case post(Int)
  case block(mode: String, asSource: Bool, [Act])
  case setNext(Int, Int64)
  case again(Int, Int64)
  case spend(Int64)
  case stop
  case wake
  case run(mode: String, timeout: Int64?, returns: Bool)
  case makeCommon(String)
}

enum Kind: CaseIterable { case source, timer, port, observer }

/// An item: its kind, and what it does at each call; the last entry repeats.
final class Spec {
  let number: Int
  let kind: Kind
  var order = 0
  var interval: Int64 = 0
  var date: Int64 = 0
  var activities: [String] = []
  var repeats = true
  var acts: [[Act]] = []

  init(_ number: Int, _ kind: Kind) {
    self.number = number
    self.kind = kind
  }
  func actsOfCall(_ call: Int) -> [Act] { call < acts.count ? acts[call] : [] }
}

/// A random program: items that act when they are called, and the outermost level's operations.
struct Program {
  private static let modes = ["default", "a", "b"]
  private static let activities = Activity.named.map(\.name)
  static let callLimit = 150
  let specs: [Spec]
  let main: [Act]

  init(seed: UInt64) {
    var random = Random(seed: seed)
    let count = 3 + random.below(8)
    let specs = (0..<count).map { Spec($0, Kind.allCases[random.below(4)]) }
    for spec in specs {
      spec.order = random.below(3)
      spec.date = Int64(random.below(20)) - 5
      spec.interval = random.chance(40) ? Int64(1 + random.below(6)) : 0
      spec.repeats = random.chance(70)
      spec.activities = Self.activities.filter { _ in random.chance(40) }
    }
    for spec in specs {
      spec.acts = (0..<random.below(4)).map { _ in
        (0..<random.below(4)).map { _ in Self.act(&random, specs, depth: 2) }
      }
    }
    var main: [Act] = random.chance(50) ? [.makeCommon("a")] : []
    main += specs.map { .addItem($0.number, mode: Self.mode(&random)) }
    for _ in 0..<(4 + random.below(10)) {
      main.append(Self.act(&random, specs, depth: 2))
      if random.chance(60) { main.append(Self.run(&random)) }
    }
    self.main = main
    self.specs = specs
  }

  private static func mode(_ random: inout Random) -> String {
    random.chance(25) ? "common" : modes[min(random.below(5), 4) % 3]
  }
  private static func run(_ random: inout Random) -> Act {
    .run(
      mode: modes[random.below(4) % 3],
      timeout: random.chance(25) ? 0 : Int64(1 + random.below(12)), returns: random.chance(30))
  }
  private static func act(_ random: inout Random, _ specs: [Spec], depth: Int) -> Act {
    let item = random.below(specs.count)
    func one(_ kind: Kind) -> Int? {
      let all = specs.filter { $0.kind == kind }
      return all.isEmpty ? nil : all[random.below(all.count)].number
    }
    switch random.below(16) {
    case 0...2: return one(.source).map { .signal($0) } ?? .wake
    case 3, 4: return .addItem(item, mode: mode(&random))
    case 5: return .removeItem(item, mode: mode(&random))
    case 6: return random.chance(40) ? .invalidate(item) : .wake
    case 7, 8: return one(.port).map { .post($0) } ?? .spend(1)
    case 9:
      let acts = depth > 0 ? [act(&random, specs, depth: depth - 1)] : []
      return .block(mode: mode(&random), asSource: random.chance(40), acts)
    case 10: return one(.timer).map { .setNext($0, Int64(random.below(40))) } ?? .wake
    case 11: return one(.timer).map { .again($0, Int64(1 + random.below(6))) } ?? .wake
    case 12: return .spend(Int64(random.below(4)))
    case 13: return .stop
    case 14: return .wake
    default: return run(&random)
    }
  }

  /// Where the loop and the model differ; nil if they agree.
  func difference() -> String? {
    let model = ModelLoop(specs, callLimit: Self.callLimit)
    model.perform(main)
    let driven = DrivenLoop(specs, callLimit: Self.callLimit)
    driven.execute(main)
    if let broken = driven.broken { return broken }
    if driven.trace == model.trace { return nil }
    let same = zip(driven.trace, model.trace).prefix { $0 == $1 }.count
    return
      "after \(same) entries [\(driven.trace[max(0, same - 8)..<same].joined(separator: " "))]: "
      + "the loop has \(driven.trace.dropFirst(same).prefix(4)), "
      + "the model \(model.trace.dropFirst(same).prefix(4))"
  }
}

/// The loop under test, driven by the same program. Time is the virtual clock's.
private final class DrivenLoop {
  private(set) var trace: [String] = []
  private(set) var broken: String?
  private let specs: [Spec]
  private let callLimit: Int
  private var items: [Loop.Item] = []
  private var calls: [Int]
  private var allCalls = 0
  private unowned var loop: Loop!
  private var start: Int64 = 0

  init(_ specs: [Spec], callLimit: Int) {
    self.specs = specs
    self.callLimit = callLimit
    calls = specs.map { _ in 0 }
  }

  func execute(_ main: [Act]) {
    Loop.isolated(kernel: SimulatedKernel(clock: .virtual)) { loop in
      self.loop = loop
      start = loop.now.nanoseconds
      items = specs.map(make)
      for act in main { perform(act) }
      items = []
    }
  }

  private func make(_ spec: Spec) -> Loop.Item {
    let number = spec.number
    switch spec.kind {
    case .source:
      return Loop.Source(order: spec.order) { [unowned self] _ in call(spec, "s\(number)") }
    case .timer:
      return Loop.Timer(
        at: LoopTime(nanoseconds: start + spec.date), every: .nanoseconds(spec.interval)
      ) { [unowned self] _ in call(spec, "t\(number)@\(loop.now.nanoseconds - start)") }
    case .port: return Loop.Port { [unowned self] _, _ in call(spec, "p\(number)") }
    case .observer:
      let activities = Activity.named.filter { spec.activities.contains($0.name) }
        .reduce(into: Activity()) { $0.formUnion($1.activity) }
      return Loop.Observer(activities, repeats: spec.repeats, order: spec.order) {
        [unowned self] _, activity in call(spec, "o\(number):\(activity)")
      }
    }
  }

  private func call(_ spec: Spec, _ name: String) {
    trace.append(name)
    calls[spec.number] += 1
    guarded(spec.actsOfCall(calls[spec.number] - 1))
  }

  private func guarded(_ acts: [Act]) {
    allCalls += 1
    if allCalls <= callLimit { for act in acts { perform(act) } }
  }

  private func perform(_ act: Act) {
    switch act {
    case .signal(let index): (items[index] as? Loop.Source)?.signal()
    case .addItem(let index, let mode): try? loop.add(items[index], modes: [ModeName(mode)])
    case .removeItem(let index, let mode): loop.remove(items[index], modes: [ModeName(mode)])
    case .invalidate(let index):
      switch items[index] {
      case let source as Loop.Source: source.invalidate()
      case let timer as Loop.Timer: timer.invalidate()
      case let port as Loop.Port: port.invalidate()
      case let observer as Loop.Observer: observer.invalidate()
      default: break
      }
    case .post(let index): try? (items[index] as? Loop.Port)?.post(index)
    case .block(let mode, let asSource, let acts):
      loop.performHere(modes: [ModeName(mode)], wakes: false, asSource: asSource) {
        [unowned self] in
        trace.append("b")
        guarded(acts)
      }
    case .setNext(let index, let date):
      (items[index] as? Loop.Timer)?.nextFire = LoopTime(nanoseconds: start + date)
    case .again(let index, let delay):
      (items[index] as? Loop.Timer)?.again(after: .nanoseconds(delay))
    case .spend(let time): loop.kernel.clock.advance(by: time)
    case .stop: loop.stop()
    case .wake: loop.wakeUp()
    case .makeCommon(let mode): loop.addCommonMode(ModeName(mode))
    case .run(let mode, let timeout, let returns):
      if loop.depth >= 4 {
        trace.append("finished")
      } else {
        let limit = timeout.map { Duration.nanoseconds($0) }
        let result = loop.run(mode: ModeName(mode), for: limit, returnAfterSource: returns)
        trace.append("\(result)")
      }
    }
    if broken == nil { broken = loop.brokenInvariant() }
  }
}
