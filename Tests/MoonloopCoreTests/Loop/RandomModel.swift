// The oracle of the random tests: the loop as lists and sorting, slow and plain.
//
// It knows items by number and predicts, for a program of operations, the trace that a loop
// writes. It shares nothing with the core but the names.

/// A loop made of lists. One unit of time is a nanosecond.
final class ModelLoop {
  final class Item {
    let spec: Spec
    var isValid = true
    var modes: [String] = []
    var isCommon = false
    var calls = 0
    var signal: Int?  // its place among the signals
    var date: Int64
    var isFiring = false
    var isMoved = false
    var isRearmed = false
    var joined: [String: Int] = [:]  // the order of adding, by mode
    var messages = 0
    init(_ spec: Spec) {
      self.spec = spec
      date = spec.date
    }
  }
  enum Stage { case beforeEvent, other }
  struct Block {
    var mode: String
    var asSource: Bool
    var acts: [Act]
  }
  final class Frame {
    let mode: String
    var isStopped = false
    var isExiting = false
    var isWoken = false
    var servedPort = false
    var stage = Stage.other
    /// What may still be the event of the pass (R15).
    var opensPorts = true
    var opensTimers = true
    /// What ended its sleep and is kept from nested runs (R135).
    var isAfterWaiting = false
    var endedByPort = false
    var endedByTimers: Int64?
    var keptPort: Int?
    var keptTimers: Set<Int> = []
    init(_ mode: String) { self.mode = mode }
  }

  var items: [Item]
  var now: Int64 = 0
  var trace: [String] = []
  private var common: Set<String> = ["default"]
  private var blocks: [Block] = []
  private var frames: [Frame] = []
  private var counter = 0
  private var rings: [String: [Int]] = [:]  // ready ports, in turn
  private var calls = 0
  let callLimit: Int
  private var batches: [(mode: String, moment: Int64, rest: Set<Int>)] = []

  init(_ specs: [Spec], callLimit: Int) {
    items = specs.map(Item.init)
    self.callLimit = callLimit
  }

  // MARK: Operations

  func perform(_ acts: [Act]) { for act in acts { perform(act) } }

  func perform(_ act: Act) {
    switch act {
    case .signal(let index):
      if items[index].isValid && items[index].signal == nil { items[index].signal = next() }
    case .addItem(let index, let mode): add(items[index], mode)
    case .removeItem(let index, let mode): remove(items[index], mode)
    case .invalidate(let index): invalidate(items[index])
    case .post(let index): post(items[index])
    case .block(let mode, let asSource, let acts):
      blocks.append(Block(mode: mode, asSource: asSource, acts: acts))
    case .setNext(let index, let date): setDate(items[index], date)
    case .again(let index, let delay):
      let item = items[index]
      if item.isValid && isSomewhere(item) && item.isFiring { item.isRearmed = true }
      if item.isValid && isSomewhere(item) { setDate(item, now + delay) }
    case .spend(let time): now += time
    case .stop: if let frame = frames.last, !frame.isExiting { stop(frame) }
    case .wake: for frame in frames { frame.isWoken = true }
    case .run(let mode, let timeout, let returns): run(mode, timeout, returns)
    case .makeCommon(let mode):
      if common.insert(mode).inserted {
        for item in items where item.isValid && item.isCommon { join(item, mode) }
      }
    }
  }

  private func stop(_ frame: Frame) {
    frame.isStopped = true
    guard frame.stage == .beforeEvent, frame.opensPorts, frame.opensTimers else { return }
    frame.opensPorts = frame.keptPort != nil || hasReady(frame.mode)
    frame.opensTimers = !dueTimers(frame.mode).isEmpty
  }

  private func next() -> Int {
    counter += 1
    return counter
  }
  private func isSomewhere(_ item: Item) -> Bool {
    !item.modes.isEmpty || item.isCommon || item.isFiring
  }

  private func add(_ item: Item, _ mode: String) {
    guard item.isValid else { return }
    if mode == "common" {
      item.isCommon = true
      // Only the order of adding within one mode shows; modes are ordered by first use.
      for mode in common { join(item, mode) }
    } else {
      join(item, mode)
    }
  }
  private func join(_ item: Item, _ mode: String) {
    if item.modes.contains(mode) { return }
    // A signalled source that was in no mode takes its place among the signals again.
    if item.signal != nil && item.modes.isEmpty { item.signal = next() }
    item.modes.append(mode)
    item.joined[mode] = next()
    if item.messages > 0 && rings[mode]?.contains(item.spec.number) != true {
      rings[mode, default: []].append(item.spec.number)
    }
  }
  private func remove(_ item: Item, _ mode: String) {
    if mode == "common" {
      if !item.isCommon { return }  // R131
      item.isCommon = false
    }
    for mode in mode == "common" ? Array(common) : [mode] {
      item.modes.removeAll { $0 == mode }
      rings[mode]?.removeAll { $0 == item.spec.number && item.spec.kind == .port }
      for index in batches.indices where batches[index].mode == mode {
        batches[index].rest.remove(item.spec.number)
      }
    }
  }
  private func invalidate(_ item: Item) {
    item.isValid = false
    for mode in item.modes { rings[mode]?.removeAll { $0 == item.spec.number } }
    item.modes = []
    item.isCommon = false
    item.messages = 0
  }
  private func post(_ item: Item) {
    guard item.isValid else { return }
    item.messages += 1
    for mode in item.modes where rings[mode]?.contains(item.spec.number) != true {
      rings[mode, default: []].append(item.spec.number)
    }
  }
  private func setDate(_ item: Item, _ date: Int64) {
    guard item.isValid else { return }
    item.date = max(date, now)  // R132
    for frame in frames { frame.keptTimers.remove(item.spec.number) }
    item.isMoved = item.isFiring
    for index in batches.indices where date > now {  // R136
      batches[index].rest.remove(item.spec.number)
    }
  }

  // MARK: A run

  private func members(_ mode: String, _ kind: Kind) -> [Item] {
    items.filter { $0.isValid && $0.spec.kind == kind && $0.modes.contains(mode) }
  }
  private func isFor(_ block: Block, _ mode: String) -> Bool {
    block.mode == mode || block.mode == "common" && common.contains(mode)
  }
  private func isEmpty(_ mode: String) -> Bool {
    [.source, .timer, .port].allSatisfy { members(mode, $0).isEmpty }
      && !blocks.contains { isFor($0, mode) }
  }

  func run(_ mode: String, _ timeout: Int64?, _ returns: Bool) {
    guard mode != "common", !isEmpty(mode), frames.count < 4 else {
      return trace.append("finished")
    }
    let frame = Frame(mode)
    if let outer = frames.last, outer.isAfterWaiting { keepEvent(of: outer) }
    frames.append(frame)
    notify("entry", mode)
    let deadline = timeout.map { now + $0 } ?? .max  // R134
    var result = frame.isStopped ? "stopped" : nil
    while result == nil {
      result = pass(frame, deadline, polls: (timeout ?? 1) <= 0, returns)
      frame.isWoken = false
    }
    frame.isExiting = true
    notify("exit", mode)
    frames.removeLast()
    trace.append(result!)
    frames.last?.keptTimers = []
  }

  private func keepEvent(of outer: Frame) {
    if let moment = outer.endedByTimers {
      outer.keptTimers = Set(
        members(outer.mode, .timer).filter { !$0.isFiring && $0.date <= moment }
          .map(\.spec.number))
    }
    if outer.endedByPort && outer.keptPort == nil {
      outer.keptPort = rings[outer.mode]?.first { items[$0].messages > 0 }
    }
  }

  private func pass(_ frame: Frame, _ deadline: Int64, polls: Bool, _ returns: Bool) -> String? {
    let mode = frame.mode
    frame.stage = .beforeEvent
    notify("beforeTimers", mode)
    notify("beforeSources", mode)
    runBlocks(mode, asSource: false)
    let performed = runSources(mode, onlyOne: returns)
    if performed { runBlocks(mode, asSource: false) }
    var sleeps = false
    if !performed && !polls && !hasReadyPort(frame) {
      sleeps = true
      notify("beforeWaiting", mode)
      fallAsleep(frame, deadline)
      noteEvent(frame)
      frame.isAfterWaiting = true
      notify("afterWaiting", mode)
      frame.isAfterWaiting = false
    }
    frame.stage = .other
    let served = serveEvent(frame, slept: sleeps)
    runBlocks(mode, asSource: false)
    if (performed || served) && returns { return "handledSource" }
    if polls || now >= deadline { return "timedOut" }
    if frame.isStopped { return "stopped" }
    return isEmpty(mode) ? "finished" : nil
  }

  private func noteEvent(_ frame: Frame) {
    let timersAreDue = frame.opensTimers && !dueTimers(frame.mode).isEmpty
    frame.endedByPort =
      frame.opensPorts && !(frame.servedPort && timersAreDue) && hasReady(frame.mode)
    frame.endedByTimers = timersAreDue && !frame.endedByPort ? now : nil
  }

  private func isKept(_ timer: Item, _ mode: String) -> Bool {
    frames.dropLast().contains { $0.mode == mode && $0.keptTimers.contains(timer.spec.number) }
  }
  private func isKeptPort(_ number: Int) -> Bool {
    frames.dropLast().contains { $0.keptPort == number }
  }
  private func hasReady(_ mode: String) -> Bool {
    rings[mode]?.contains { items[$0].messages > 0 && !isKeptPort($0) } == true
  }

  private func dueTimers(_ mode: String) -> [Item] {
    members(mode, .timer).filter { !$0.isFiring && !isKept($0, mode) && $0.date <= now }
      .sorted { ($0.date, $0.joined[mode]!) < ($1.date, $1.joined[mode]!) }
  }
  private func hasReadyPort(_ frame: Frame) -> Bool {
    if frame.servedPort && !dueTimers(frame.mode).isEmpty { return false }
    return frame.opensPorts && hasReady(frame.mode)
  }
  private func fallAsleep(_ frame: Frame, _ deadline: Int64) {
    if hasReady(frame.mode) { return }
    if frame.isStopped || frame.isWoken || isEmpty(frame.mode) { return }
    let date =
      members(frame.mode, .timer).filter { !$0.isFiring && !isKept($0, frame.mode) }.map(\.date)
      .min() ?? .max
    now = max(now, min(date, deadline))
  }

  private func serveEvent(_ frame: Frame, slept: Bool) -> Bool {
    if let number = frame.keptPort {
      frame.keptPort = nil
      if items[number].isValid && items[number].modes.contains(frame.mode) {
        rings[frame.mode]!.removeAll { $0 == number }
        rings[frame.mode]!.insert(number, at: 0)
        frame.servedPort = true
        return servePort(frame.mode)
      }
    }
    let due = frame.opensTimers ? dueTimers(frame.mode) : []
    if frame.opensPorts, due.isEmpty || !frame.servedPort, servePort(frame.mode) {
      frame.servedPort = true
      return true
    }
    frame.servedPort = false
    if !due.isEmpty { fire(due, frame.mode) }
    return false
  }

  private func servePort(_ mode: String) -> Bool {
    while let number = rings[mode]?.first {
      rings[mode]!.removeFirst()
      let port = items[number]
      if port.messages == 0 || isKeptPort(number) { continue }
      port.messages -= 1
      if port.messages > 0 {
        rings[mode]!.append(number)
      } else {
        for mode in rings.keys { rings[mode]!.removeAll { $0 == number } }
      }
      call(port, "p\(number)")
      return true
    }
    return false
  }

  private func fire(_ due: [Item], _ mode: String) {
    let moment = now
    batches.append((mode, moment, Set(due.map(\.spec.number))))
    defer { batches.removeLast() }
    while true {
      // Each is looked at again, because a callback may have changed the order.
      let rest = members(mode, .timer).filter {
        batches.last!.rest.contains($0.spec.number) && !$0.isFiring && !isKept($0, mode)
      }
      let place = { (item: Item) in (min(item.date, moment), item.joined[mode]!) }
      guard let item = rest.min(by: { place($0) < place($1) }) else { return }
      for index in batches.indices { batches[index].rest.remove(item.spec.number) }
      fireOne(item)
    }
  }

  private func fireOne(_ item: Item) {
    let date = item.date
    item.isFiring = true
    item.isMoved = false
    item.isRearmed = false
    call(item, "t\(item.spec.number)@\(now)")
    item.isFiring = false
    guard item.isValid else { return }
    if item.spec.interval == 0 && !item.isRearmed { return invalidate(item) }
    if item.isMoved || item.isRearmed { return }
    item.date = date
    while item.date <= now { item.date += item.spec.interval }
  }

  private func runBlocks(_ mode: String, asSource: Bool) {
    let taken = blocks.filter { isFor($0, mode) && $0.asSource == asSource }
    blocks.removeAll { isFor($0, mode) && $0.asSource == asSource }
    for block in taken {
      trace.append("b")
      guarded(block.acts)
    }
  }

  private func runSources(_ mode: String, onlyOne: Bool) -> Bool {
    // A source that a request signals waits for the next pass (R43, R44).
    let set = members(mode, .source).filter { $0.signal != nil }
      .sorted { ($0.spec.order, $0.signal!) < ($1.spec.order, $1.signal!) }
    let hasRequests = blocks.contains { isFor($0, mode) && $0.asSource }
    runBlocks(mode, asSource: true)
    if hasRequests && onlyOne { return true }
    var any = hasRequests
    for source in set where source.isValid && source.signal != nil {
      source.signal = nil
      any = true
      call(source, "s\(source.spec.number)")
      if onlyOne { break }
    }
    return any
  }

  private func notify(_ activity: String, _ mode: String) {
    let told = members(mode, .observer)
      .sorted { ($0.spec.order, $0.joined[mode]!) < ($1.spec.order, $1.joined[mode]!) }
    for observer in told
    where observer.isValid && !observer.isFiring && observer.spec.activities.contains(activity) {
      observer.isFiring = true
      call(observer, "o\(observer.spec.number):\(activity)")
      observer.isFiring = false
      if !observer.spec.repeats { invalidate(observer) }
    }
  }

  private func call(_ item: Item, _ name: String) {
    trace.append(name)
    item.calls += 1
    guarded(item.spec.actsOfCall(item.calls - 1))
  }
  /// So that programs end: after a number of calls, callbacks do nothing.
  private func guarded(_ acts: [Act]) {
    calls += 1
    if calls <= callLimit { perform(acts) }
  }
}
