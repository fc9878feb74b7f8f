// The actions of the format, as they change the model.

import ConformanceFormat

extension Model {
  /// What the model does not support.
  static func isKnown(_ scenario: Scenario) -> Bool {
    func isKnown(_ action: Action) -> Bool {
      guard action.loop == Action.home else { return false }
      switch action.op {
      case .performOn(_, _, let waits, let aim): return !waits && aim == nil
      case .setTolerance, .fire, .cancelTarget: return false
      case .mainAsync: return scenario.onMainThread
      case .perform(_, let modes, let aim): return !modes.isEmpty && aim == nil
      case .fill, .drain: return false
      case .enable(_, let events), .disable(_, let events): return events == [.read]
      case .thread(_, let actions):
        return actions.allSatisfy {
          switch $0.op {
          case .run, .runUnconditionally, .thread, .join: false
          default: isKnown($0)
          }
        }
      default: return true
      }
    }
    let needs = scenario.needs.filter { $0 != "performers" }
    return needs == (scenario.onMainThread ? ["mainQueue"] : [])
      && scenario.objects.allSatisfy {
        switch $0.kind {
        case .descriptor(let events, _, _) where events != [.read]: return false
        case .source(_, _, .some): return false
        case .timer(_, _, let tolerance) where tolerance != 0: return false
        default: break
        }
        return $0.actions.allSatisfy(isKnown)
      }
      && scenario.steps.allSatisfy(isKnown)
  }

  /// Another thread performs its next action.
  func act(_ thread: Actor) {
    let action = thread.actions.removeFirst()
    if case .sleep = action.op {
    } else {
      if !isAsleep && !isBlocked { refuse("thread \(thread.name) acts while home does") }
      for other in threads where other !== thread && isNear(other) {
        refuse("threads \(thread.name) and \(other.name) act together")
      }
    }
    thread.acts.append(now)
    let outer = actor
    actor = thread
    thread.date = now + tick
    if case .sleep(let time) = action.op { thread.date += max(0, time) } else { perform(action) }
    actor = outer
  }

  /// Whether another thread acts about now: which one goes first, the machine decides.
  private func isNear(_ thread: Actor) -> Bool {
    if let last = thread.acts.last, last > now - Self.margin { return true }
    return !thread.actions.isEmpty && thread.date < now + Self.margin
  }

  func perform(_ action: Action) {
    if actor == nil { pass(tick) }
    if isOver { return }
    switch action.op {
    case .run(let mode, let timeout, let returnAfterSource):
      let result = run(mode: mode, timeout: timeout, returnAfterSource: returnAfterSource)
      add("run:\(mode)->\(result)")
    case .runUnconditionally:
      var result = ""
      while !["stopped", "finished"].contains(result) && !isOver {
        result = run(mode: "default", timeout: nil, returnAfterSource: false)
      }
      add("run:default->returned")
    case .stop: if let run = runs.last { stop(run) }
    case .wake: wakeUp()
    case .signal(let id): signal(item(id))
    case .post(let id, let message):
      guard item(id).isValid else { return }
      item(id).messages.append(message)
      raise(item(id))
    case .add(let id, let mode): add(item(id), to: mode)
    case .remove(let id, let mode): remove(item(id), from: mode)
    case .addCommonMode(let name): addCommonMode(name)
    case .invalidate(let id): invalidate(item(id))
    case .create(let id):
      if let spec = scenario.objects.first(where: { $0.id == id }) { create(spec) }
    case .setNext(let id, let delay): setNext(item(id), now + delay)
    case .perform(let id, let names, _):
      for name in names where name != "common" { _ = mode(name) }
      blocks.append(Block(item: item(id), modes: names))
    case .performOn(let id, let names, _, _): request(item(id), names)
    case .performAfter(let id, let delay, let names): request(item(id), names, after: delay)
    case .cancelPerform(let id): cancelRequests(item(id))
    case .write, .closePeer, .read, .enable, .disable: performOnDescriptor(action.op)
    case .mainAsync(let id): queueOnMain(item(id))
    case .sleep(let time): pass(max(0, time))
    case .log(let text): add("log:\(text)")
    case .query(let query): answer(query)
    case .thread(let name, let actions):
      threads.append(Actor(name, actions, at: now + tick))
    case .join(let name):
      isBlocked = true
      while !isOver, threads.contains(where: { $0.name == name && !$0.actions.isEmpty }) {
        advance()
      }
      isBlocked = false
      lookForRaces()
    default: break
    }
  }

  private func answer(_ query: Query) {
    switch query {
    case .currentMode: add("query:currentMode=\(runs.last?.mode.name ?? "none")")
    case .waiting: add("query:waiting=\(isAsleep)")
    case .elapsed: add("query:elapsed=\(shown(now))")
    case .valid(let id): add("query:valid(\(id))=\(item(id).isValid)")
    case .contains(let id, let name):
      let item = item(id)
      let isNowhere = item.spec.type == .timer && item.modes.isEmpty
      let isIn = contains(item, name) && (rules(.timerNowhereIsCommon) || !isNowhere)
      add("query:contains(\(id),\(name))=\(isIn)")
    case .nextFire(let id):
      let date = item(id).isValid ? "\(shown(item(id).shown))" : "none"
      add("query:nextFire(\(id))=\(date)")
    case .nextTimer(let name):
      let date = modes[name]?.timers.first.map { "\(shown($0.shown))" } ?? "none"
      add("query:nextTimer(\(name))=\(date)")
    }
  }

  // MARK: Items

  func item(_ id: String) -> Item {
    if let item = items[id] { return item }
    guard let spec = scenario.objects.first(where: { $0.id == id }) else {
      fail("no object is called '\(id)'")
    }
    let item = Item(spec)
    items[id] = item
    if spec.type != .block { refuse("'\(id)' is used before it is made") }
    return item
  }

  func create(_ spec: ObjectSpec) {
    if actor == nil { pass(tick) }
    if items[spec.id] != nil { return refuse("'\(spec.id)' is made twice") }
    let item = Item(spec)
    items[spec.id] = item
    if case .timer(let delay, _, _) = spec.kind {
      item.shown = now + delay
      item.date = rules(.pastDateKeepsGrid) ? now + delay : now + max(0, delay)
    }
    for mode in spec.modes { add(item, to: mode) }
  }

  private func signal(_ source: Item) {
    guard source.isValid, source.mark == nil else { return }
    marks += 1
    source.mark = marks
  }

  private func setNext(_ timer: Item, _ date: Int64) {
    guard timer.isValid else { return }
    giveBack(timer)
    setDate(timer, max(now, date), shown: rules(.pastDateIsShownAsNow) ? max(now, date) : date)
    if actor != nil && !rules(.movedTimerDoesNotWake) && !timer.modes.isEmpty { wakeUp() }
  }

  func invalidate(_ item: Item) {
    guard item.isValid else { return }
    item.isValid = false
    item.mark = nil
    let wasSomewhere = !item.modes.isEmpty
    if item.hasLifecycle && item.modes.count > 1 {
      refuse("Core Foundation cancels \(item.spec.id) in the order of its hash table")
    }
    for mode in item.modes { remove(item, from: mode.name) }
    if wasSomewhere || rules(.invalidIsNotCommon) { remove(item, from: "common") }
  }

  // MARK: Modes

  func mode(_ name: String) -> Mode {
    if let mode = modes[name] { return mode }
    let mode = Mode(name)
    if wakeIsPending { mode.append(.wakeUp) }
    modes[name] = mode
    return mode
  }

  private func addCommonMode(_ name: String) {
    guard name != "common", !commonModes.contains(name) else { return }
    commonModes.append(name)
    if scenario.onMainThread && runs.contains(where: { $0.mode.name == name }) {
      refuse("a mode of a run becomes one in which the main queue is served")
    }
    if rules(.commonModeExists) { _ = mode(name) }
    let orders = commonItems.filter { $0.spec.type == .observer }.map(\.order)
    if commonItems.filter(\.hasLifecycle).count > 1 || Set(orders).count < orders.count {
      refuse("Core Foundation adds common items in the order of its hash table")
    }
    for item in commonItems { add(item, to: name, rereads: false) }
    placePerforms()
  }

  private func contains(_ item: Item, _ name: String) -> Bool {
    if name == "common" { return commonItems.contains { $0 === item } }
    return item.modes.contains { $0.name == name }
  }

  /// - Parameter rereads: Whether what CF has already read of a port is read again, as happens when
  ///   the reference itself adds it.
  func add(_ item: Item, to name: String, rereads: Bool = true) {
    guard item.isValid else { return }
    guard name != "common" else {
      if !contains(item, "common") { commonItems.append(item) }
      if item.hasLifecycle && commonModes.count > 1 {
        refuse("Core Foundation schedules \(item.spec.id) in the order of its hash table")
      }
      for mode in commonModes { add(item, to: mode) }
      return
    }
    let mode = mode(name)
    guard !contains(item, name) else { return }
    item.modes.append(mode)
    switch item.spec.type {
    case .timer: insert(item, mode)
    case .source:
      mode.sources.append(item)
      if rules(.placeIsLostWithModes) && item.mark != nil && item.modes.count == 1 {
        marks += 1
        item.mark = marks
      }
      if item.hasLifecycle { tell(item, "schedule:\(name)") }
      if actor != nil && rules(.addedSourceWakes) { wakeUp() }
    case .fd:
      mode.ports.append(item)
      if item.isReadable { mode.append(.port(item)) }
    case .port:
      mode.ports.append(item)
      if !item.messages.isEmpty {
        if rules(.emptiedPortLosesPlace) {
          item.isRaised = true
        } else if !item.isRaised && rereads {
          raise(item)
        }
      }
      if item.isRaised { mode.append(.port(item)) }
    case .observer:
      let place = mode.observers.firstIndex { $0.order > item.order } ?? mode.observers.endIndex
      mode.observers.insert(item, at: place)
    case .block: break
    }
  }

  /// A timer that is moved, leaves a mode, or fires in another one is kept for no outer run any
  /// more (R135).
  func giveBack(_ timer: Item) {
    timer.keptIn = nil
    for run in runs { run.eventOfSleep.removeAll { $0 === timer } }
  }

  private func remove(_ item: Item, from name: String) {
    guard name != "common" else {
      guard contains(item, "common") else { return }
      commonItems.removeAll { $0 === item }
      for mode in commonModes { remove(item, from: mode) }
      return
    }
    guard let mode = modes[name], contains(item, name) else { return }
    item.modes.removeAll { $0 === mode }
    mode.sources.removeAll { $0 === item }
    mode.ports.removeAll { $0 === item }
    mode.observers.removeAll { $0 === item }
    mode.ready.removeAll { $0 == .port(item) }
    for run in runs where run.mode === mode && item.keptIn == nil {
      run.eventOfSleep.removeAll { $0 === item }
    }
    if item.spec.type == .timer {
      giveBack(item)
      mode.timers.removeAll { $0 === item }
      arm(mode)
    }
    if item.hasLifecycle { tell(item, "cancel:\(name)") }
  }
}
