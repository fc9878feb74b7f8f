// A model of the run loop in virtual time: the trace that a scenario must leave, by rules and
// rulings. `Model+Run` is the part to read beside docs/sequence.md.
//
// It knows one loop: other threads act on it and have none of their own.

import ConformanceFormat

final class Model {
  /// The rulings that hold; without any it is Core Foundation.
  private let rulings: Set<Ruling>

  var now: Int64 = 0
  var items: [String: Item] = [:]
  var modes: [String: Mode] = [:]
  var commonModes = ["default"]
  var commonItems: [Item] = []
  var blocks: [Block] = []
  var mainQueue = MainQueue()
  let performs = Performs()
  var runs: [Run] = [] {
    didSet { depth = max(depth, runs.count) }
  }
  private var depth = 0
  private var callCount = 0
  var isAsleep = false
  /// Home is idle for a while, outside of any run.
  var isBlocked = false
  /// The wake-ups so far, and CF's, which it remembers until a run reads it.
  var wakes = 0
  var wakeIsPending = false
  var marks = 0
  var threads: [Actor] = []
  /// The thread that acts; nil is home.
  var actor: Actor?
  private(set) var trace: [String] = []
  /// Why the scenario is unusable, for example because its trace could depend on the machine.
  private(set) var flaw: String?
  let scenario: Scenario

  /// How long an action takes: long enough that dates differ, too short for anything to come due.
  let tick: Int64
  /// How far apart two instants must be, so that no machine swaps them.
  static let margin: Int64 = 12_000_000
  /// How deep runs may be nested: without a bound, a call-out that always runs the loop never ends.
  static let deepest = 12
  /// The same for calls, which quiet objects get without a trace.
  static let mostCalls = 4000

  /// When a scenario is given up.
  private static let limit: Int64 = 20_000_000_000
  /// When something last happened.
  private var happened: [Int64] = []

  private init(_ scenario: Scenario, _ rulings: Set<Ruling>, tick: Int64) {
    self.scenario = scenario
    self.tick = tick
    self.rulings = rulings
    _ = mode("default")
  }

  struct Outcome {
    var trace: [String]
    var flaw: String?
    /// How long it took.
    var end: Int64
    /// How many runs were active at most, one inside the other.
    var depth: Int
    var hangs: Bool { trace.last == "TIMEOUT" }
  }

  /// Performs a scenario, on a machine that takes so many nanoseconds for an action.
  static func perform(
    _ scenario: Scenario, _ rulings: Set<Ruling>, tick: Int64 = 20_000
  ) -> Outcome {
    let model = Model(scenario, rulings, tick: tick)
    for spec in scenario.objects where !spec.isDeferred && !model.isOver { model.create(spec) }
    for step in scenario.steps where !model.isOver { model.perform(step) }
    // Items and modes hold each other, also those of delayed requests.
    for mode in model.modes.values {
      (mode.sources, mode.ports, mode.timers, mode.observers, mode.ready) = ([], [], [], [], [])
    }
    return Outcome(trace: model.trace, flaw: model.flaw, end: model.now, depth: model.depth)
  }

  /// Leaves the rest undone.
  func giveUp(_ why: String) {
    refuse(why)
    trace.append("TIMEOUT")
  }

  func refuse(_ why: String) { flaw = flaw ?? why }

  func rules(_ ruling: Ruling) -> Bool { rulings.contains(ruling) }

  // MARK: The trace

  /// Given up, as the driver gives up after 20 seconds; the rest is left undone.
  var isOver: Bool { trace.last == "TIMEOUT" }

  func add(_ entry: String) {
    if isOver { return }
    trace.append((actor.map { "\($0.name)|" } ?? "") + entry)
    if trace.count <= 2000 { return }
    trace.append("TIMEOUT")
    if runs.contains(where: { $0.deadline != nil }) {
      refuse("it makes passes until a timeout: how many, the machine decides")
    }
  }

  /// The entry of a callback.
  func tell(_ item: Item, _ detail: String) {
    if item.spec.isQuiet { return }
    let stamp = item.spec.isStamped ? "@\(shown(now))" : ""
    let entry = "\(item.spec.type.rawValue):\(item.spec.id)" + (detail.isEmpty ? "" : ":\(detail)")
    add(entry + stamp)
  }

  /// A call-out: its entry, then the object's actions.
  func call(_ item: Item, _ detail: String = "", on activity: String? = nil) {
    if isOver { return }
    callCount += 1
    if callCount > Self.mostCalls {
      return giveUp("it makes calls without end that leave no trace")
    }
    pass(tick)
    tell(item, detail)
    item.calls[nil, default: 0] += 1
    if let activity { item.calls[activity, default: 0] += 1 }
    let (all, same) = (item.calls[nil, default: 0], item.calls[activity, default: 0])
    for action in item.spec.actions where !isOver {
      if let on = action.on, on != activity { continue }
      if let nth = action.nth, nth != (action.on == nil ? all : same) { continue }
      perform(action)
    }
  }

  // MARK: Time

  /// Lets time pass until something happens; if nothing ever will, the scenario is given up.
  func advance() {
    let next = instants.map(\.date).min() ?? .max
    if next > Self.limit { trace.append("TIMEOUT") } else { go(to: next) }
  }

  /// Home is busy for this long.
  func pass(_ time: Int64) {
    let end = now + time
    isBlocked = time > tick
    defer { isBlocked = false }
    while !isOver, let next = instants.map(\.date).min(), next <= end { go(to: next) }
    now = max(now, end)
    if time > tick { lookForRaces(isWoken: false) }
  }

  private func go(to date: Int64) {
    if date > now { lookForTies(at: date) }
    now = max(now, date)
    happened.append(now)
    for mode in modes.values { ring(mode) }
    for run in runs where !run.hasRung {
      guard let deadline = run.deadline, deadline <= now else { continue }
      run.hasRung = true
      if !rules(.outerTimeoutIsSilent) { wakeUp() }
    }
    for thread in threads where thread.date <= now && !thread.actions.isEmpty { act(thread) }
  }

  /// When the next thing happens, with a name for it.
  private var instants: [(name: String, date: Int64)] {
    var all: [(name: String, date: Int64)] = []
    for mode in modes.values {
      if let alarm = mode.alarm { all.append(("the alarm of \(mode.name)", max(now, alarm))) }
      for timer in mode.timers where timer.date > now {
        all.append(("timer \(timer.spec.id)", timer.date))
      }
    }
    for run in runs where !run.hasRung {
      if let deadline = run.deadline { all.append(("a timeout", max(now, deadline))) }
    }
    for thread in threads where !thread.actions.isEmpty {
      all.append(("thread \(thread.name)", max(now, thread.date)))
    }
    return all
  }

  /// Home goes on now. On a busy machine, what happens a little earlier or later could come in
  /// another order, except for what one thread does in a row while home sleeps.
  func lookForRaces(isWoken: Bool = true) {
    guard flaw == nil else { return }
    for instant in instants where instant.date > now && instant.date < now + Self.margin {
      refuse("\(instant.name) comes right after \(now)")
    }
    // Dates that began at different moments are the same here alone.
    let due = Set(modes.values.flatMap { $0.timers.filter { $0.date == now }.map(\.spec.id) })
    if due.count > 1 { refuse("\(due.sorted().joined(separator: " and ")) come together") }
    let earlier = happened.filter {
      $0 < now && $0 > now - Self.margin && !(isWoken && isByWaker($0))
    }
    if !earlier.isEmpty { refuse("something happens right before \(now)") }
  }

  /// A timeout is measured from its own start, so what happens at the same time may be ready before
  /// or after it, even while home is busy.
  private func lookForTies(at date: Int64) {
    let near = date..<(date + Self.margin)
    let timeouts = runs.lazy.filter { !$0.hasRung }.compactMap(\.deadline)
    guard timeouts.contains(where: near.contains) else { return }
    if timeouts.filter(near.contains).count > 1
      || modes.values.contains(where: { $0.timers.contains { near.contains($0.date) } })
      || threads.contains(where: { near.contains($0.date) && !$0.actions.isEmpty })
    {
      refuse("a timeout comes together with something else at \(date)")
    }
  }

  /// Whether the thread that woke home acted at this moment.
  private func isByWaker(_ date: Int64) -> Bool {
    threads.contains { $0.acts.last == now && $0.acts.contains(date) }
  }

  /// A time as the trace shows it.
  func shown(_ time: Int64) -> Int64 {
    let intoSlot = (time + 5_000_000) % 100_000_000
    if intoSlot > 85_000_000 { refuse("\(time) is shown, late in its slot") }
    return Trace.slot(nanoseconds: time)
  }
}
