// The loop in Lua: modes, running, stopping, waking (D1, D2, D14 to D17), and items of any kind.

internal import LuaEmbed
internal import MoonloopCore

/// What the loop's handle offers.
let loopEntries: [LuaEntry] =
  loopRunEntries + loopMakingEntries + loopKindEntries + loopItemEntries + [
    .method("record") { hostLoop($0, $1, "loop:record", loopRecord) },
    .method("why") { hostLoop($0, $1, "loop:why", loopWhy) },
    .method("dump") { hostValue($0, $1, "loop:dump", loopDump) },
    .method("metrics") { hostLoop($0, $1, "loop:metrics", loopMetrics) },
    .metamethod("__tostring") { hostValue($0, $1, "tostring") { "loop (\($0.loop.name))" } },
  ]

private let loopRunEntries: [LuaEntry] = [
  .method("run") { hostLoop($0, $1, "loop:run", loopRun) },
  .method("stop") { hostValue($0, $1, "loop:stop", loopStop) },
  .method("stop_when_next_looking", loopStopLater),
  .method("now", loopNow),
  .method("wake_up") { hostAction($0, $1, "loop:wake_up", loopWakeUp) },
  .field("mode") { host($0, $1, "loop.mode", loopMode) },
  .field("depth") { hostValue($0, $1, "loop.depth") { $0.loop.depth } },
  // Whether it is asleep (R5), which code that runs on it never sees.
  .field("is_waiting") { hostValue($0, $1, "loop.is_waiting") { $0.loop.isWaiting } },
  .field("on_error", loopOnError, set: loopSetOnError),
  .field("timer_slack", loopTimerSlack, set: loopSetTimerSlack),
  .field("spin", loopSpin, set: loopSetSpin),
]

/// Makes something that is not an item, and adds it; the kinds of items add theirs.
private let loopMakingEntries: [LuaEntry] = [
  .method("perform") { hostLoop($0, $1, "loop:perform", loopPerform) },
  .method("perform_after") { hostLoop($0, $1, "loop:perform_after", loopPerformAfter) },
  .method("cancel_performs") { hostValue($0, $1, "loop:cancel_performs", loopCancelPerforms) },
  .method("task", loopTask),
]

/// Modes, and items of any kind in them.
private let loopItemEntries: [LuaEntry] = [
  .method("add") { hostLoop($0, $1, "loop:add", loopAdd) },
  .method("remove") { hostLoop($0, $1, "loop:remove", loopRemove) },
  .method("contains") { hostLoop($0, $1, "loop:contains", loopContains) },
  .method("modes") { hostLoop($0, $1, "loop:modes", loopModes) },
  .method("add_common_mode") { hostValue($0, $1, "loop:add_common_mode", loopAddCommonMode) },
  .method("next_timer") { hostValue($0, $1, "loop:next_timer", loopNextTimer) },
]

extension HostCall {
  /// The first argument must be the loop: a dot in place of the colon is an error.
  @inline(__always)
  func requireLoop() throws(ScriptMistake) {
    if kinds.loop.handle(stack.L, 1) == nil { throw notSelf("loop") }
  }

  @inline(never)
  func notSelf(_ kind: String) -> ScriptMistake {
    if stack.isCollected(1) {
      return mistake("the \(kind) was collected already: a finalizer uses it too late")
    }
    return mistake("must be called with a colon; got \(given(1)) for the \(kind)")
  }

  func boolean(_ index: Int32) throws(ScriptMistake) -> Bool {
    guard stack.type(index) == .boolean else {
      throw mistake("takes true or false, got \(given(index))")
    }
    return stack.boolean(index)
  }

  /// A handler that may be nil, kept; for `on_error` fields.
  func handlerReference(_ index: Int32) throws(ScriptMistake) -> LuaReference? {
    if stack.type(index) == .nil { return nil }
    try function(index, "the handler")
    stack.pushValue(index)
    return LuaReference(popping: stack)
  }

  func push(_ reference: LuaReference?) {
    if let reference { stack.push(reference) } else { stack.pushNil() }
  }
}

// MARK: Running

private let runOptions: [StaticString] = ["mode", "timeout", "until_handled"]

/// `loop:run { mode, timeout, until_handled }` returns the result, the value of a stop, and whether
/// a stop met the run (R19).
func loopRun(_ call: HostCall) throws -> Int32 {
  if call.count > 2 {
    throw call.mistake("takes a mode, or a table such as { mode = \"default\", timeout = 5 }")
  }
  let runtime = call.runtime
  var mode = ModeName.default
  var timeout: Duration?
  var returnAfterSource = false
  switch call.stack.type(2) {
  case .none, .nil: break
  case .string: mode = try call.mode(2)
  default:
    let options = try call.options(2, runOptions, example: "{ mode = \"default\", timeout = 5 }")
    mode = try options.mode() ?? .default
    timeout = try options.seconds("timeout", .any).flatMap {
      $0 == .max ? nil : .nanoseconds($0)
    }
    returnAfterSource = try options.boolean("until_handled") ?? false
  }
  if mode == .common {
    throw call.mistake(
      "'common' stands for all common modes, and a run is in one mode; name one, such as "
        + "'default'")
  }
  try call.requireNesting(mode)
  return runtime.runs.run(call, mode, timeout, returnAfterSource)
}

extension HostCall {
  /// Checks that a run may begin here: not too deep, and not in a finalizer (D55).
  func requireNesting(_ mode: ModeName? = nil) throws(ScriptMistake) {
    if runtime.generations.isInLoad && mode != debugMode {
      throw mistake(
        "the loop is already running: a reloaded file cannot run it",
        hint: "leave that to moonloop run, or to a task")
    }
    let limit = min(state.limits.nesting, loop.nestingLimit)
    let depth = max(loop.depth, state.depth)  // a call-out without a run counts as well
    if depth >= limit || !loop.canRun {
      throw mistake(
        "runs and calls are nested \(depth) deep; the limit is \(limit)",
        hint: limit == state.limits.nesting && limit < LuaLimits.deepest
          ? "let handlers return, or raise it: ml.limit { nesting = \(LuaLimits.deepest) }"
          : "let handlers return")
    }
    if stack.boundary == "__gc" {
      throw mistake("a loop cannot be run in a finalizer (__gc)")
    }
  }
}

/// `loop:stop(value)` ends the innermost run, and returns whether there was one (R16).
func loopStop(_ call: HostCall) throws -> some LuaPushable {
  try call.requireLoop()
  // A script cannot end the runs of a host, nor a file that is reloaded those of the program.
  let isAllowed = !call.runtime.errors.isHosted || call.runtime.runs.isInOwnRun
  return isAllowed && !call.runtime.generations.isInLoad && call.loop.stop(call.stopValue())
}

/// `loop:stop_when_next_looking(value)`: remembered if the loop is not running.
let loopStopLater: LuaRawFunction = { L, context in
  hostAction(L, context, "loop:stop_when_next_looking") { call in
    try call.requireLoop()
    if call.runtime.generations.isInLoad { return }
    call.loop.stopWhenNextLooking(call.stopValue())
  }
}

extension HostCall {
  fileprivate func stopValue() -> LuaReference? {
    if stack.type(2) == .none || stack.type(2) == .nil { return nil }
    stack.pushValue(2)
    return LuaReference(popping: stack)
  }
}

func loopWakeUp(_ call: HostCall) throws {
  try call.requireLoop()
  call.loop.wakeUp()
}

// MARK: Time

/// `loop:now()`: seconds on the loop's clock, the same in a whole pass; needs no argument.
private let loopNow: LuaRawFunction = { L, context in
  let nanoseconds = Runtime.with(context) { $0.withLoop { $0.toldTime() } }
  LuaStack(L: L!).push(Double(nanoseconds) / 1e9)
  return 1
}

// MARK: Modes

func loopAddCommonMode(_ call: HostCall) throws -> some LuaPushable {
  try call.requireLoop()
  let mode = try call.mode(2)
  if mode == .common {
    throw call.mistake("'common' is the set itself; name a mode to be in it")
  }
  let failures = call.loop.addCommonMode(mode)
  if let first = failures.first {
    throw OperatingFailure("loop:add_common_mode: \(first)", first.code)
  }
  return true
}

/// `loop:next_timer(mode)`: the earliest date of a mode's timers.
func loopNextTimer(_ call: HostCall) throws -> Double? {
  try call.requireLoop()
  let mode = call.count < 2 ? .default : try call.mode(2)
  return call.loop.nextTimerDate(mode: mode).map { Double($0.nanoseconds) / 1e9 }
}

func loopMode(_ call: HostCall) throws -> Int32 {
  if let mode = call.loop.currentMode {
    call.stack.push(ref: call.runtime.modeRef(mode))
  } else {
    call.stack.pushNil()
  }
  return 1
}

// MARK: Lateness

private let loopTimerSlack: LuaRawFunction = { L, context in
  hostValue(L, context, "loop.timer_slack") { $0.loop.timerSlack / .seconds(1) }
}

private let loopSetTimerSlack: LuaRawFunction = { L, context in
  hostAction(L, context, "loop.timer_slack") { $0.loop.timerSlack = try $0.lateness() }
}

private let loopSpin: LuaRawFunction = { L, context in
  hostValue(L, context, "loop.spin") { $0.loop.spin / .seconds(1) }
}

private let loopSetSpin: LuaRawFunction = { L, context in
  hostAction(L, context, "loop.spin") { $0.loop.spin = try $0.lateness() }
}

extension HostCall {
  /// The value of a field that decides how late others of the loop are, too.
  fileprivate func lateness() throws(ScriptMistake) -> Duration {
    try requireGrant(of: .limits)
    let nanoseconds = try seconds(2, "the value", .notNegative)
    if nanoseconds > 1_000_000_000 { throw mistake("must be at most 1 s, got \(given(2))") }
    return .nanoseconds(nanoseconds)
  }
}

// MARK: Errors

let loopOnError: LuaRawFunction = { L, context in
  hostValue(L, context, "loop.on_error") { $0.runtime.errors.onError }
}

let loopSetOnError: LuaRawFunction = { L, context in
  hostAction(L, context, "loop.on_error") { call in
    let errors = call.runtime.errors
    if call.stack.type(2) == .string, let verdict = call.stack.string(2) {
      guard let verdict = ErrorPolicy.Verdict(rawValue: verdict) else {
        throw call.mistake(
          "the handler must be a function, \"continue\" or \"stop\", got \(call.given(2))")
      }
      errors.onError = nil
      errors.verdict = verdict
      return
    }
    errors.onError = try call.handlerReference(2)
  }
}
