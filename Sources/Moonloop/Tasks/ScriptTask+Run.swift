// How a coroutine of a handler or a task begins, suspends, goes on and returns.

internal import LuaEmbed
internal import MoonloopCore

extension Tasks {
  /// Handles how a call-out ended. The usual case, a return, is not seen here.
  @inline(never)
  func settle(_ outcome: DispatchOutcome, _ subject: Subject) {
    switch outcome {
    case .returned: break
    case .suspended(let coroutine):
      let task = firstTask(of: coroutine)
      task.subject = subject
      task.modes = context.modes(of: subject)
      task.raised = raisedInHandler
      raisedInHandler = nil
      suspend(task, coroutine)
      runtime.tracer?.task(task, true)
      setSuspended(subject, true)
      if context.isEnding { end(task) }
    case .failed(let coroutine), .stopped(let coroutine):
      let origin = originOfError(coroutine, raisedInHandler)
      raisedInHandler = nil
      var error = state.takeError(of: coroutine)
      if let origin { join(&error, to: origin) }
      runtime.report(error, subject)
    case .nested: runtime.report(nestingError, subject)
    }
  }

  private var nestingError: LuaError {
    LuaError(
      kind: .nesting,
      message: "calls of Lua and the host are nested more than \(state.limits.nesting) deep")
  }

  /// A handler of an item waits: the item delivers nothing until it has returned (D59).
  func setSuspended(_ subject: Subject, _ suspended: Bool) {
    switch subject {
    case .timer(let id): loop.setSuspended(id, suspended)
    case .item(let item):
      item.setSuspended(suspended)
      if !suspended { loop.deliverHeld(item) }
    case .chunk, .finalizer, .reload, .task, .request: break
    }
  }

  // MARK: Suspending

  /// A coroutine has suspended: in a host function that said what it waits for.
  func suspend(_ task: ScriptTask, _ coroutine: LuaCoroutine) {
    task.phase = .suspended
    // A live task has one coroutine, whose index identifies it.
    if task.coroutine?.index != coroutine.index || self[coroutine.index] !== task {
      task.coroutine = coroutine
      self[coroutine.index] = task
      door.note(coroutine, at: Unmanaged.passUnretained(task).toOpaque())
    }
    switch task.wait?.cause {
    case .task(let other):
      other.waiters.append(task)
      if other.isCall && other.parent == nil { adopt(other, task) }  // a handler's first wait
    case .callback(let callback): callback.waiter = task
    case .other(let other): other.waiter = task
    case .sleep, nil: break
    }
  }

  /// Makes the timer, or without a delay the turn, that resumes a coroutine, in the modes of its
  /// origin.
  /// - Returns: nil if the loop has too many timers.
  func sleepTimer(
    _ coroutine: LuaCoroutine, _ delay: Int64, _ subject: Subject
  ) -> TimerID? {
    if delay == 0 { return nextTurn(coroutine, subject) }
    let date = loop.dueDate(after: delay)
    guard let id = loop.makeTimer(date: date, interval: 0, callout: callout(coroutine)) else {
      return nil
    }
    for mode in context.servingModes(of: subject) { loop.add(id, mode) }
    return id
  }

  // MARK: Going on

  /// Lets a suspended task go on in the next pass of one of its modes, with its results.
  func makeReady(_ task: ScriptTask, _ delivery: Delivery) {
    task.delivery = delivery
    guard !task.isReady, let coroutine = task.coroutine else { return }
    task.isReady = true
    if let timer = task.wait?.timer { loop.invalidate(timer) }
    task.wait?.timer = nextTurn(coroutine, .task(task))
  }

  /// The turn in which a coroutine begins or goes on, in the next pass.
  func nextTurn(_ coroutine: LuaCoroutine, _ subject: Subject) -> TimerID {
    loop.makeTurn(callout(coroutine), context.servingModes(of: subject))
  }

  private func callout(_ coroutine: LuaCoroutine) -> TimerCallout {
    TimerCallout(waitActions, context: runtime.context, payload: coroutine.index)
  }

  /// A task's time has come: it begins, or goes on with what it was given.
  func goOn(_ task: ScriptTask) {
    if task.phase == .prepared { return begin(task) }
    guard task.phase == .suspended else { return }
    if !task.isReady, isLate(task) { return }
    let wait = task.wait
    let delivery = wait?.isQuiet ?? false ? .nothing : task.delivery
    task.delivery = .nothing
    switch delivery {
    case .nothing: resume(task)
    case .answer: answer(task, wait)
    case .cancellation:
      guard let reason = task.cancellation?.reason else { return resume(task) }
      task.raised = task.cancellation?.failure
      resume(task, raising: { $0.push(reason) })
    }
  }

  /// A deadline that comes much too late, because the loop was busy or the machine stood still,
  /// does not count before what has arrived meanwhile has had its turn.
  /// - Returns: Whether the deadline comes again a little later.
  fileprivate func putOff(_ timer: TimerID, of task: ScriptTask) -> Bool {
    guard task.phase == .suspended, !task.isReady, let wait = task.wait, wait.timer == timer,
      wait.putOffs < Self.mostPutOffs, wait.isDeadline, let date = loop.date(of: timer),
      loop.clock.now() - date > Self.stall, let coroutine = task.coroutine,
      let later = sleepTimer(coroutine, Self.respite, .task(task))
    else { return false }
    task.wait?.timer = later
    task.wait?.putOffs += 1
    return true
  }

  /// How late a deadline has to be, by how much it is put off, and how often.
  private static let stall: Int64 = 100_000_000
  private static let respite: Int64 = 50_000_000
  private static let mostPutOffs: UInt8 = 4

  /// The deadline of a wait has come.
  /// - Returns: Whether that was all: the task went on, or keeps waiting for the end of what it
  ///   called.
  private func isLate(_ task: ScriptTask) -> Bool {
    switch task.wait?.cause {
    case .task(let other):
      task.wait?.isLate = true
      let text = "timed out: waited \(forWhat(other))"
      cancel(other, Cancellation(reason: LuaReference(pushing: text, on: state.stack)))
      return true
    case .other(let other):
      let purpose = other.purpose
      other.abandon()
      resume(task) { other.pushLate(on: $0, purpose) }
      return true
    case .callback, .sleep, nil: break
    }
    return false
  }

  /// Resumes a task with the results of its wait.
  private func answer(_ task: ScriptTask, _ wait: Wait?) {
    switch wait?.cause {
    case .task(let other):
      if wait?.isLate ?? false, other.outcome == .cancelled, let late = other.cancellation {
        resume(task) { $0.pushLate(late.reason) }
      } else if let reason = reason(of: other, for: task) {
        resume(task, raising: { $0.push(reason) })
      } else {
        resume(task) { other.values.push(on: $0) }
      }
    case .callback(let callback):
      let values = callback.takeValues()
      resume(task) { values.push(on: $0) }
    case .other(let other):
      guard let failure = other.failure else { return resume(task) { other.push(on: $0) } }
      task.raised = failure
      resume(task, raising: { $0.push(failure.value) })
    case .sleep, nil: resume(task)
    }
  }

  /// What a task waits for has happened, in a call-out that is not a timer's: it goes on now if the
  /// current run is in one of its modes, otherwise when one of them runs.
  func answerNow(_ task: ScriptTask, push: (LuaStack) -> Int) -> Bool {
    guard !task.isReady, task.phase == .suspended, isServed(task) else { return false }
    if let timer = task.wait?.timer, timer.rawValue != 0 { loop.invalidate(timer) }
    resume(task, push: push)
    return true
  }

  private func isServed(_ task: ScriptTask) -> Bool {
    loop.isRunning(inOneOf: task.modes)
      || task.extras != nil && loop.isRunning(inOneOf: task.waitModes)
  }

  private func begin(_ task: ScriptTask) {
    guard let coroutine = task.coroutine else { return }
    let outer = enter(task)
    leave(task, state.begin(coroutine) { keep($0, $1, of: task) }, outer)
  }

  /// Resumes a suspended task with values, and handles the outcome.
  func resume(_ task: ScriptTask, push: (LuaStack) -> Int = { _ in 0 }) {
    guard let coroutine = task.coroutine else { return }
    let outer = enter(task)
    let outcome = withState { $0.resume(coroutine, push: push) { keep($0, $1, of: task) } }
    leave(task, outcome, outer)
  }

  /// Resumes a suspended task so that a value is raised where it waits.
  func resume(_ task: ScriptTask, raising push: (LuaStack) -> Void) {
    guard let coroutine = task.coroutine else { return }
    let outer = enter(task)
    leave(task, state.resume(coroutine, raising: push) { keep($0, $1, of: task) }, outer)
  }

  /// A task goes on: its wait is over.
  /// - Returns: What ran before, for `leave`.
  private func enter(_ task: ScriptTask) -> Running {
    task.phase = .running
    task.isReady = false
    task.wait = nil
    let outer = running
    running = Running(task: task)
    return outer
  }

  /// Handles how a task that went on has ended or suspended.
  private func leave(_ task: ScriptTask, _ outcome: DispatchOutcome, _ outer: Running) {
    switch outcome {
    case .suspended(let coroutine):
      suspend(task, coroutine)
      if isEnding { end(task) }
    case .returned: functionEnded(task, .returned)
    case .failed(let coroutine): functionFailed(task, coroutine, isStop: false)
    case .stopped(let coroutine): functionFailed(task, coroutine, isStop: true)
    case .nested:
      let message = LuaReference(pushing: "calls are nested too deep to go on", on: state.stack)
      functionEnded(task, .failed, TaskFailure(value: message, error: nestingError))
    }
    running = outer
  }

  /// Keeps the results of a task's function if they may be needed; those of
  /// a handler are dropped.
  private func keep(_ stack: LuaStack, _ count: Int, of task: ScriptTask) {
    guard task.subject.isChunk else { return }
    if task === context.waitingChunk { runtime.mainChunk.returned?(stack, count) }
    if count == 0 || !task.hasHandle && task.waiters.isEmpty { return }
    task.values = TaskValues(popping: count, of: stack)
  }

  // MARK: The end of all

  /// Ends all suspended tasks; their `<close>` variables are closed. Tasks that these make end too.
  /// - Parameter forGood: From then on nothing can be made, and nothing can wait.
  func endAll(forGood: Bool = true) {
    context.waitingChunk = nil
    let (began, stops) = (loop.clock.processorTime(), state.stopCount)
    for task in all { end(task, closes: !mustHurry(since: began, stops)) }
    let wasEnding = context.isEnding
    context.isEnding = true
    defer { context.isEnding = forGood || wasEnding }
    for task in all { end(task, closes: !mustHurry(since: began, stops)) }
    table = TaskTable()
    reportUnawaited()
  }

  /// Whether a guest has taken as long to close what its tasks hold as one call may.
  private func mustHurry(since began: Int64, _ stops: Int) -> Bool {
    guard runtime.granted.guest != nil, let limit = state.limits.callout else { return false }
    return state.stopCount > stops
      || .nanoseconds(loop.clock.processorTime() - began) > limit
  }

  /// Ends a suspended task where it waits, at once.
  /// - Parameter closes: Whether its `<close>` variables are closed.
  func end(_ task: ScriptTask, closes: Bool = true) {
    guard let coroutine = task.coroutine, task.phase != .running else { return }
    giveUpWait(task)
    let wasPrepared = task.phase == .prepared
    task.phase = .ended
    task.outcome = .cancelled
    task.coroutine = nil
    task.wait = nil
    task.parent?.children.remove(task)
    task.parent = nil
    self[coroutine.index] = nil
    let outer = current
    current = .task(task)
    if wasPrepared || !closes {
      if closes { state.discard(coroutine) } else { state.abandon(coroutine) }
    } else if state.isSuspended(coroutine), let error = state.end(coroutine) {
      runtime.report(error, .task(task))
    }
    runtime.tracer?.task(task, false)
    task.tellOfEnd()
    current = outer
    setSuspended(task.subject, false)
  }
}

extension Tasks {
  /// Whether it resumes a task.
  func isOfWait(_ callout: TimerCallout) -> Bool { callout.actions == waitActions }

  /// A timer's name in traces: its own, or where it was made; or the task that it resumes.
  func traceName(of id: TimerID, _ callout: TimerCallout) -> String {
    if isOfWait(callout) {
      return self[callout.payload].map { runtime.label(of: .task($0)) } ?? "a task that has ended"
    }
    if let failed = unawaited[id] { return "failure of \(runtime.label(of: failed.subject))" }
    let name = context.handles.name(ofTimer: id)
    return name.isEmpty ? state.text(of: context.handles.place(ofTimer: id)) : name
  }
}

/// The call-out of a turn, or of the timer of a wait: the payload is the coroutine.
private let resumeTask: TimerActions.Fire = { context, payload, id, _ in
  Runtime.with(context) { runtime in
    runtime.withTasks { tasks in
      // No script knows it: during the task's code, it keeps no run going.
      let timer = TimerID(rawValue: id)
      let task = tasks[payload]
      let isTooSoon = timer.isTurn ? false : task.map { tasks.putOff(timer, of: $0) } ?? false
      if !timer.isTurn { tasks.loop.invalidate(timer) }
      if let task, !isTooSoon { tasks.goOn(task) }
    }
  }
}

/// With many tasks, a task and its coroutine are 2 kB somewhere in memory.
private let prefetchTask: TimerActions.Prefetch = { context, payload, isNext in
  Unmanaged<Runtime>.fromOpaque(context)._withUnsafeGuaranteedRef { runtime in
    runtime.door.prefetch(task: payload, isNext: isNext)
  }
}

// Unsafe: made once, and never changed.
nonisolated(unsafe) private let waitActions = TimerActions.make(
  fire: resumeTask, prefetch: prefetchTask)

extension Subject {
  var isChunk: Bool { if case .chunk = self { true } else { false } }

  /// Whether it is the main chunk, before or after its first wait.
  var isOfChunk: Bool {
    if case .task(let task) = self { return task.subject.isChunk && task.madeAt.source < 0 }
    return isChunk
  }
}

extension LuaReference {
  /// Keeps a text. [-0, +0, raises: -]
  convenience init(pushing text: String, on stack: LuaStack) {
    stack.push(text)
    self.init(popping: stack)
  }

  package convenience init(pushing bytes: [UInt8], on stack: LuaStack) {
    bytes.withUnsafeBytes { stack.push(bytes: $0) }
    self.init(popping: stack)
  }
}

extension LuaStack {
  /// Pushes the results of a deadline. [-0, +3, raises: -]
  /// - Parameter purpose: What was waited for, such as "for a line of stdin".
  func pushTimedOut(_ purpose: String) {
    pushNil()
    push("timed out: waited \(purpose)")
    push("ETIMEDOUT" as StaticString)
  }

  /// The same, with a text that Lua holds. [-0, +3, raises: -]
  fileprivate func pushLate(_ text: LuaReference) -> Int {
    pushNil()
    push(text)
    push("ETIMEDOUT" as StaticString)
    return 3
  }
}
