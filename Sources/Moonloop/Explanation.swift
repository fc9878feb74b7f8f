// Why something does not happen, in words: the obstacles, the first in the way first.

internal import LuaEmbed
internal import MoonloopCore

extension Runtime {
  /// The suspended handler of an item, if it has one (D59).
  func waitingHandler(of item: Loop.Item) -> ScriptTask? {
    tasks.all.first { if case .item(let other) = $0.subject { other === item } else { false } }
  }

  private func waitingHandler(of id: TimerID) -> ScriptTask? {
    tasks.all.first { if case .timer(id) = $0.subject { true } else { false } }
  }

  // MARK: Timers

  func why(timer id: TimerID) -> String {
    guard loop.timers.slot(of: id) != nil else {
      return "timer: it has ended or was invalidated; make a new one"
    }
    return "\(label(of: .timer(id))): \(obstacle(timer: id))"
  }

  private func obstacle(timer id: TimerID) -> String {
    let record = loop.timers.records[id.slot]
    let due = dueText(record)
    if let obstacle = obstacle(
      modes: loop.modeNames(of: id), isCommon: record.flags.contains(.common), doing: "fire",
      state: due)
    {
      return obstacle
    }
    if let task = waitingHandler(of: id) {
      return "its handler waits \(forWhat(task)); fires are coalesced until it returns"
    }
    if record.flags.contains(.firing) {
      return "its handler runs now; it does not fire inside of itself"
    }
    let wait = record.date.subtractingReportingOverflow(loop.clock.now())
    if record.date == .max { return "it has no date; set next_fire, or call again(delay)" }
    if wait.overflow || wait.partialValue > 10 * 31_557_600 * 1_000_000_000 {
      return "its date is far in the future: \(due)"
    }
    if wait.partialValue > 0 { return due }
    return "\(due); \(blocker()), then it fires"
  }

  // MARK: Items

  func why(_ handle: LuaHandle) -> String { why(handle.item, endedAt: handle.endedAt) }

  func why(_ item: Loop.Item, endedAt: LuaPosition?) -> String {
    let label = label(of: .item(item))
    guard item.isValid else {
      let end = endedAt.map { "it was invalidated at \(state.text(of: $0))" }
      return "\(label): \(end ?? "it has ended"); make a new one"
    }
    return "\(label): \(obstacle(item))"
  }

  private func obstacle(_ item: Loop.Item) -> String {
    if let obstacle = obstacle(
      modes: loop.modes(of: item), isCommon: loop.contains(item, mode: .common),
      doing: "be called", state: nil)
    {
      return obstacle + pending(item)
    }
    if let task = waitingHandler(of: item) {
      return "its handler waits \(forWhat(task)); nothing is delivered until it returns"
    }
    if let nature = item.nature { return nature.obstacle(item) }
    switch item {
    case let source as Loop.Source: return obstacle(source)
    case let port as Loop.Port: return obstacle(port)
    case let source as Loop.DescriptorSource: return obstacle(source)
    case let observer as Loop.Observer:
      let names = names(of: observer.activities)
      return "it is told of \(names), when that comes in a run in its modes"
    default: return "nothing is in its way"
    }
  }

  /// What waits behind an obstacle, if anything does.
  private func pending(_ item: Loop.Item) -> String {
    switch item {
    case let source as Loop.Source where source.isSignalled: "; it is signalled, and stays so"
    case let port as Loop.Port where port.waiting > 0: "; \(waiting(in: port))"
    default: ""
    }
  }

  private func obstacle(_ source: Loop.Source) -> String {
    if !source.isSignalled { return "it was not signalled since it was last performed" }
    return
      "it is signalled: \(blocker()), then the next pass performs it; a signal alone does not wake "
      + "the loop, so call loop:wake_up() if it may be about to sleep"
  }

  private func obstacle(_ port: Loop.Port) -> String {
    if port.isSuspended { return "it has no handler, \(waiting(in: port)); use port:on" }
    if port.waiting == 0 { return "no message waits in it" }
    let service = port.waiting == 1 ? "it is served" : "they are served, one a pass"
    return "\(waiting(in: port)): \(blocker()), then \(service)"
  }

  private func waiting(in port: Loop.Port) -> String {
    port.waiting == 1 ? "1 message waits" : "\(port.waiting) messages wait"
  }

  private func obstacle(_ source: Loop.DescriptorSource) -> String {
    if source.enabled.isEmpty { return "no event of it is enabled; use enable" }
    var parts: [String] = []
    for (name, event) in [("read", Loop.DescriptorSource.Events.read), ("write", .write)] {
      let isReady =
        loop.kernel.isReady(source.fd, for: event.interest)
        || (event == .read && source.hasReadAhead)
      if !source.enabled.contains(event) {
        if isReady && event == .read {
          parts.append("there is something to \(name), but it is disabled")
        }
      } else if isReady {
        parts.append("it is ready to \(name): \(blocker()), then it is served")
      } else {
        parts.append(
          event == .read ? "there is nothing to read" : "there is no space to write into")
      }
    }
    if !loop.kernel.isOpen(source.fd) {
      return "descriptor \(source.fd) was closed while it was watched; invalidate the handle first"
    }
    return parts.joined(separator: "; ")
  }

  // MARK: Requests

  func why(_ request: ScriptRequest) -> String {
    let label = label(of: .request(request))
    if request.ref == 0 { return "\(label): it was performed or cancelled" }
    let isCommon = request.modes.contains(.common)
    let modes = request.modes.filter { $0 != .common }
    let obstacle = obstacle(
      modes: modes + (isCommon ? loop.modeNames.filter(loop.isCommonMode) : []),
      isCommon: isCommon, doing: "be performed", state: nil)
    return "\(label): \(obstacle ?? "it waits for the next pass: \(blocker())")"
  }

  // MARK: Common

  /// No mode, no run, or another mode.
  private func obstacle(
    modes: [ModeName], isCommon: Bool, doing: String, state: String?
  ) -> String? {
    let suffix = state.map { " (\($0))" } ?? ""
    if modes.isEmpty {
      return isCommon
        ? "it is in the common modes, and there are none"
        : "it was not added to a mode; use loop:add\(suffix)"
    }
    let list = modes.map(\.rawValue).joined(separator: ", ")
    guard let current = loop.currentMode else {
      return "the loop does not run; it can \(doing) when that runs in \(list)\(suffix)"
    }
    if modes.contains(current) { return nil }
    let outer = loop.outerModes.first { modes.contains($0) }
    let after = outer.map { "; the run in '\($0)' goes on when this one ends" } ?? ""
    return "the loop runs in mode '\(current)', and it is in \(list)\(suffix)\(after)"
  }

  /// What has the thread now.
  private func blocker() -> String {
    switch current {
    case .chunk: "the main chunk runs now"
    case .task(let task): "\(label(of: .task(task))) runs now"
    default: "the handler of \(label(of: current)) runs now"
    }
  }

  // MARK: The run

  /// What keeps the run from finishing, in the mode that runs or the default mode.
  func whyItRuns() -> String {
    let mode = loop.currentMode ?? .default
    let verb = loop.currentMode == nil ? "would keep" : "keeps"
    var holders: [String] = []
    var isOwnTurn = false
    for item in handles.items where item.holds && !(item is Loop.Observer) {
      if loop.contains(item, mode: mode) { holders.append(label(of: .item(item))) }
    }
    for id in handles.timers(of: loop, madeBy: context) where loop.contains(id, mode) {
      let record = loop.timers.records[id.slot]
      if record.flags.contains(.idle) { continue }
      if isTurn(record.callout) {
        // That of the task which runs now ends when a run begins.
        guard let task = tasks[record.callout.payload], task.wait?.timer == id else {
          isOwnTurn = true
          continue
        }
        holders.append("\(label(of: .task(task))), which waits \(forWhat(task))")
      } else if let failed = unawaited[id] {
        holders.append("the failure of \(label(of: .task(failed.task))), to be reported now")
      } else {
        holders.append(label(of: .timer(id)) + firingNote(record))
      }
    }
    for request in requests.values where request.modes.contains(where: { covers($0, mode) }) {
      holders.append(label(of: .request(request)))
    }
    if holders.isEmpty {
      if !isOwnTurn && loop.contents(of: mode)?.isEmpty == false {
        return "mode '\(mode)': what \(verb) it running was not made by this script"
      }
      return "mode '\(mode)': nothing \(verb) it running"
    }
    return "mode '\(mode)': \(holders.count) \(verb) it running:\n  "
      + holders.sorted().joined(separator: "\n  ")
  }

  /// A one-shot timer stays in its modes until its handler has returned, as with CFRunLoop.
  private func firingNote(_ record: TimerRecord) -> String {
    if !record.flags.contains(.firing) || record.interval > 0 { return "" }
    let verb = loop.depth > 1 ? "does" : "would"
    return ", whose handler runs now: it cannot fire, yet it is in the mode until that returns, so "
      + "a run begun in there \(verb) not finish by itself; give it a timeout, stop it, or run "
      + "another mode"
  }

  private func covers(_ name: ModeName, _ mode: ModeName) -> Bool {
    name == mode || (name == .common && loop.isCommonMode(mode))
  }
}
