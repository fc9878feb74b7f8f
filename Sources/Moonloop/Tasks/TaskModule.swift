// Tasks in Lua: `loop:task`, `scope:task`, and what a task's handle offers (D18 to D21).

internal import LuaEmbed
internal import MoonloopCore

/// What a task's handle offers, which is also the scope that the task's function gets.
let taskEntries: [LuaEntry] = [
  .method("task") { host($0, $1, "task:task", taskTask) },
  .method("await") { host($0, $1, "task:await", taskAwait) },
  .method("wait") { host($0, $1, "task:wait", taskWait) },
  // Every await of the task, now and later, raises the reason (D21).
  .method("cancel") {
    hostAction($0, $1, "task:cancel") { $0.cancel(try $0.selfTask(), reason: 2) }
  },
  .method("invalidate") { hostAction($0, $1, "task:invalidate", taskInvalidate) },
  .method("is_valid") { hostValue($0, $1, "task:is_valid") { try $0.selfTask().phase != .ended } },
  .method("is_done") { hostValue($0, $1, "task:is_done") { try $0.selfTask().phase == .ended } },
  .field("status") { hostValue($0, $1, "task.status") { try $0.selfTask().statusText } },
  .field("name") { hostValue($0, $1, "task.name") { try $0.selfTask().name } },
  .field("on_error", taskOnError, set: taskSetOnError),
  .metamethod("__close") { host($0, $1, "close", taskClose) },
  .metamethod("__tostring") { hostValue($0, $1, "tostring", taskToString) },
]

extension HostCall {
  @inline(__always)
  func selfTask() throws(ScriptMistake) -> ScriptTask {
    guard let task = task(1) else { throw notSelf("task") }
    return task
  }

  /// The task of a handle; nil if it is not a task.
  func task(_ index: Int32) -> ScriptTask? {
    runtime.kinds.task.handle(stack.L, index)?.object(as: ScriptTask.self)
  }

  /// Pushes a new handle of a task. [-0, +1]
  func push(handleOf task: ScriptTask) {
    runtime.kinds.task.push(stack.L).hold(task)
    task.hasHandle = true
  }

  /// The running task; nil in a handler that has not waited yet.
  var currentTask: ScriptTask? {
    if case .task(let task) = runtime.current { task } else { nil }
  }
}

// MARK: Making

private let taskOptions: [StaticString] = ["name", "modes", "owner", "on_error"]
private let childOptions: [StaticString] = ["name", "modes", "on_error"]

/// `loop:task([options,] fn, ...)`: a task of the loop; `fn` gets the arguments, or else its scope.
let loopTask: LuaRawFunction = { L, context in
  hostLoop(L, context, "loop:task") { call in try call.makeTask(in: nil, taskOptions) }
}

/// `scope:task([options,] fn, ...)`: a child, which the scope waits for, fails with and cancels;
/// `fn` gets the arguments.
func taskTask(_ call: HostCall) throws -> Int32 {
  let owner = try call.selfTask()
  if owner.phase == .ended || owner.phase == .joining && owner.cancellation != nil {
    throw call.mistake(
      "the scope is closed: \(call.runtime.label(of: .task(owner))) has ended; make tasks in an "
        + "open scope, or with loop:task")
  }
  return try call.makeTask(in: owner, childOptions)
}

extension HostCall {
  /// Makes a task from the function at 2, or at 3 after options, which may hold the function
  /// instead.
  fileprivate func makeTask(in owner: ScriptTask?, _ known: [StaticString]) throws -> Int32 {
    let task = ScriptTask(
      subject: .chunk, modes: owner?.modes ?? runtime.currentModes)
    var first: Int32 = 2
    if stack.type(2) == .table {
      try read(options: 2, of: task, known)
      if stack.type(3) == .function { first = 3 }
    }
    if first == 2 && stack.type(2) == .table {
      _ = try Options(call: self, index: 2).pushHandler("[1]", isRequired: true)
      stack.rotate(3, 1)
      first = 3
    }
    try function(first, "the function")
    try requireRoom(for: .tasks)
    task.setCharge(ofModes: state.charge(task.modes))
    task.madeAt = stack.position
    if let maker = currentTask, maker.madeAt.source >= 0, runtime.tasks.isOurs(task.madeAt) {
      // One of our modules shares out the work of a script's task.
      task.madeAt = maker.madeAt
      if task.name.isEmpty { task.name = maker.name }
    }
    task.generation = owner == nil ? runtime.generations.making : 0
    push(handleOf: task)
    let hasArguments = count > first + 1
    stack.rotate(first, 1)  // the handle lies below the function and its arguments
    runtime.tasks.prepare(
      task, in: owner, on: stack, function: first + 1, isScope: owner == nil && !hasArguments)
    return 1
  }

  private func read(options index: Int32, of task: ScriptTask, _ known: [StaticString]) throws {
    let options = try options(index, known, example: "{ name = \"fetch\", modes = \"common\" }")
    if let modes = try options.modes() { task.modes = modes }
    if let name = try options.name() { task.setName(HandleName(name, state)) }
    task.onError = try options.reference("on_error")
    if let owner = try options.string("owner") {
      guard owner == "none" else {
        throw mistake(
          "'owner' must be \"none\", got \"\(owner)\"; a task with an owner is made by scope:task")
      }
      task.isDetached = true
    }
  }
}

// MARK: Waiting for its end

/// `task:await()`: suspends the running code until the task has ended; returns its results, or
/// raises its error (D19).
func taskAwait(_ call: HostCall) throws -> Int32 {
  let task = try call.selfTask()
  try call.refuseOptions("task:wait")
  let coroutine = try call.requireWaiting()
  if task.phase == .ended { return try call.give(task) }
  try call.requireOther(task)
  return call.suspend(Wait(.task(task)), coroutine)
}

extension HostCall {
  /// A table passed to `await` is meant for `wait`, which has a timeout.
  func refuseOptions(_ wait: StaticString) throws(ScriptMistake) {
    if stack.type(2) == .table {
      throw mistake("takes no options; use \(wait) { timeout = … }")
    }
  }

  /// The results of a task that has ended, or its error, raised.
  fileprivate func give(_ task: ScriptTask) throws(RaisedValue) -> Int32 {
    if task.failure?.error.kind == .interrupted, runtime.errors.expectsInterrupts() {
      state.interruptHandle.interrupt()  // a value that is raised would be reported
      return 0
    }
    if let reason = runtime.tasks.reason(of: task, for: currentTask) { throw RaisedValue(reason) }
    return Int32(task.values.push(on: stack))
  }

  /// A task that waited for itself, or for a task whose scope contains it, would wait forever.
  fileprivate func requireOther(_ task: ScriptTask) throws(ScriptMistake) {
    guard let current = currentTask else { return }
    if task === current { throw mistake("a task cannot wait for itself: it would never end") }
    if task.owns(current) {
      throw mistake(
        "\(runtime.label(of: .task(task))) waits for the tasks of its scope, including this one: "
          + "neither would ever end")
    }
    if current.waiters.isEmpty { return }  // the last of a circle would be one
    var next = task
    while case .task(let other)? = next.wait?.cause, !next.isReady {
      if other === current {
        throw mistake(
          "\(runtime.label(of: .task(task))) waits for this task: neither would ever end")
      }
      next = other
    }
  }
}

private let waitOptions: [StaticString] = ["timeout", "mode"]

/// `task:wait { timeout, mode }`: runs the loop until the task has ended (D20, D50).
func taskWait(_ call: HostCall) throws -> Int32 {
  let task = try call.selfTask()
  let (timeout, mode) = try call.nestedWaitOptions(2)
  if let reason = call.runtime.tasks.reasonNotToWait() { throw RaisedValue(reason) }
  if task.phase == .ended { return try call.give(task) }
  try call.requireOther(task)
  try call.requireNesting()
  return try call.wait(for: task, mode, timeout)
}

extension HostCall {
  /// The options of all waits by a nested run.
  func nestedWaitOptions(_ index: Int32) throws -> (timeout: Int64?, mode: ModeName?) {
    if stack.type(index) == .none || stack.type(index) == .nil { return (nil, nil) }
    let options = try options(index, waitOptions, example: "{ timeout = 5 }")
    let timeout = try options.seconds("timeout", .any)
    let mode = try options.mode()
    if mode == .common {
      throw mistake("'common' is a set of modes; wait in one mode of it, such as 'default'")
    }
    return (timeout, mode)
  }

  /// - Parameter purpose: What is waited for, if the script has not made the task.
  func wait(
    for task: ScriptTask, _ mode: ModeName?, _ timeout: Int64?, purpose: (() -> String)? = nil
  ) throws -> Int32 {
    let limit = timeout.flatMap { $0 == .max ? nil : Duration.nanoseconds($0) }
    let (result, mode) = runtime.tasks.run(
      until: task, mode: mode, timeout: limit, owner: currentTask)
    if let reason = runtime.tasks.reasonNotToWait() { throw RaisedValue(reason) }
    if task.phase == .ended { return try give(task) }
    switch result {
    case .timedOut:
      stack.pushTimedOut(purpose?() ?? "for \(runtime.label(of: .task(task)))")
      return 3
    case .finished: throw mistake(runtime.tasks.deadlock(of: task, in: mode))
    case .stopped, .handledSource: throw OperatingFailure("the run was stopped", "ECANCELED")
    }
  }
}

// MARK: Cancelling

extension HostCall {
  /// Cancels a task with the value at an index as reason, or with ours.
  func cancel(_ task: ScriptTask, reason index: Int32) {
    guard task.phase != .ended, task.cancellation == nil else { return }
    if stack.type(index) == .none || stack.type(index) == .nil {
      stack.push(runtime.values.cancelled)
    } else {
      stack.pushValue(index)
    }
    runtime.tasks.cancel(task, Cancellation(reason: LuaReference(popping: stack)))
  }
}

/// `task:invalidate()` cancels without a reason (D8).
func taskInvalidate(_ call: HostCall) throws {
  let task = try call.selfTask()
  call.stack.setCount(1)
  call.cancel(task, reason: 2)
}

/// `__close` cancels, and waits for the end where that is possible, even in a task that is
/// cancelled itself. It raises nothing: a failure is reported.
func taskClose(_ call: HostCall) throws -> Int32 {
  let task = try call.selfTask()
  call.cancel(task, reason: 3)
  if task.phase == .ended || call.currentTask.map(task.owns) ?? false { return 0 }
  guard call.state.waitObstacle(call.stack.L) == nil,
    let coroutine = call.state.currentTask(call.stack.L)
  else {
    return 0
  }
  var wait = Wait(.task(task))
  wait.isQuiet = true
  return call.suspend(wait, coroutine)
}

// MARK: Fields

extension ScriptTask {
  /// The status as Lua names it.
  var statusText: StaticString {
    switch (phase, outcome) {
    case (.running, _): "running"
    case (.prepared, _), (.suspended, _), (.joining, _): "suspended"
    case (.ended, .failed): "failed"
    case (.ended, .cancelled): "cancelled"
    case (.ended, _): "done"
    }
  }
}

let taskOnError: LuaRawFunction = { L, context in
  hostValue(L, context, "task.on_error") { try $0.selfTask().onError }
}

let taskSetOnError: LuaRawFunction = { L, context in
  hostAction(L, context, "task.on_error") { try $0.selfTask().onError = try $0.handlerReference(2) }
}

func taskToString(_ call: HostCall) throws -> some LuaPushable {
  let task = try call.selfTask()
  return "\(call.runtime.label(of: .task(task))): \(task.statusText)"
}
