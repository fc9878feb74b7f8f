// Timers in Lua: `loop:timer`, `loop:after`, `loop:every`, `loop:at`, `ml.timer` (D3 to D8).

internal import LuaEmbed
internal import MoonloopCore

/// What a timer handle offers.
let timerEntries: [LuaEntry] = [
  .method("again") { hostAction($0, $1, "timer:again", timerAgain) },
  .method("again_at") { hostValue($0, $1, "timer:again_at", timerAgainAt) },
  .method("fire") { host($0, $1, "timer:fire", timerFire) },
  .field("next_fire", timerNextFire, set: timerSetNextFire),
  .field("interval") { hostValue($0, $1, "timer.interval", timerInterval) },
  .field("tolerance", timerTolerance, set: timerSetTolerance),
  // What all items have; the functions of `itemEntries` are for items that are not timers.
  .method("invalidate", timerInvalidate),
  .method("is_valid") {
    hostValue($0, $1, "timer:is_valid") { $0.timers.slot(of: try $0.selfTimer()) != nil }
  },
  .method("modes") { host($0, $1, "timer:modes", timerModes) },
  .method("keep_alive") { host($0, $1, "timer:keep_alive", timerKeepAlive) },
  .field("name", timerName),
  .field("fires") { hostValue($0, $1, "timer.fires", timerFires) },
  .field("on_error", timerOnError, set: timerSetOnError),
  .metamethod("__close", timerInvalidate),
  .metamethod("__tostring") { hostValue($0, $1, "tostring", timerToString) },
]

// MARK: Making

private let timerOptions: [StaticString] = [
  "first", "every", "at", "tolerance", "modes", "name", "keep_alive", "on_error", "handler",
]

/// `loop:timer { first, every, tolerance, modes, name, keep_alive, on_error, handler }`
let loopTimer: LuaRawFunction = { hostLoop($0, $1, "loop:timer") { try makeTimer($0, .loop) } }

/// `ml.timer { … }`: made, in no mode yet.
let moduleTimer: LuaRawFunction = { host($0, $1, "ml.timer") { try makeTimer($0, .module) } }

private func makeTimer(_ call: HostCall, _ entry: ItemEntry) throws -> Int32 {
  let options = try call.options(
    entry.options, timerOptions, example: "{ every = 1, function() … end }",
    hints: ["cron": "use loop:cron { \"0 3 * * *\", function() … end }"])
  let interval = try options.seconds("every", .positive) ?? 0
  let first = try options.seconds("first", .any)
  let wall = try options.seconds("at", .date)
  guard first != nil || interval > 0 || wall != nil else {
    throw call.mistake("needs 'first', 'every' or 'at', in seconds")
  }
  if wall != nil && (first != nil || interval > 0) {
    throw call.mistake("'at' is a date, and cannot be combined with 'first' or 'every'")
  }
  let tolerance = try options.seconds("tolerance", .notNegative) ?? 0
  let modes = try options.modes()
  let name = try options.name()
  let keepsAlive = try options.boolean("keep_alive") ?? true
  let onError = try options.reference("on_error")
  if entry == .module && modes != nil {
    throw call.mistake("'modes' is for loop:timer; give the modes to loop:add")
  }
  _ = try options.pushHandler("[1]", isRequired: true)
  let loop = call.loop
  let bounded = interval > 0 ? min(tolerance, interval / 2) : tolerance
  if let name, call.runtime.generations.load != nil {
    let request = TimerRequest(
      interval: interval, first: first, wall: wall, tolerance: bounded, keepsAlive: keepsAlive,
      onError: onError, modes: entry == .loop ? modes ?? [.default] : nil)
    if try call.remakeTimer(name, request) { return 1 }
  }
  let date = wall == nil ? loop.dueDate(after: first ?? interval, repeats: interval > 0) : .max
  let id = try call.pushTimer(
    handler: -1, date: date, interval: interval, tolerance: bounded)
  if let wall { try call.setWallDate(of: id, to: wall) }
  if let name { call.runtime.setName(ofTimer: id, name) }
  if let onError { call.runtime.setOnError(ofTimer: id, onError) }
  if !keepsAlive { loop.setHolds(of: id, false) }
  if entry == .loop {
    for mode in modes ?? [.default] { call.scheduleTimer(id, mode) }
  } else {
    call.kinds.timer.finalize(call.stack.L, -1)
  }
  return 1
}

/// `loop:after(seconds, handler)`
func loopAfter(_ call: HostCall) throws -> Int32 {
  let delay = try call.seconds(2, "the delay", .notNegative)
  try call.handlerAlone("loop:perform_after")
  let date = call.withLoop { $0.dueDate(after: delay) }
  return try call.addSimpleTimer(date: date, interval: 0)
}

/// `loop:every(seconds, handler)`
func loopEvery(_ call: HostCall) throws -> Int32 {
  let interval = try call.seconds(2, "the interval", .positive)
  try call.handlerAlone("function() … end")
  let date = call.withLoop { $0.dueDate(after: interval, repeats: true) }
  return try call.addSimpleTimer(date: date, interval: interval)
}

/// `loop:at(epoch, handler)`: a wall-clock date, which follows steps of the clock (D7).
func loopAt(_ call: HostCall) throws -> Int32 {
  let epoch = try call.seconds(2, "the date", .date)
  try call.handlerAlone("function() … end")
  let results = try call.addSimpleTimer(date: .max, interval: 0)
  if let id = call.timerID(-1) { try call.setWallDate(of: id, to: epoch) }
  return results
}

/// `loop:cron(schedule, handler)`: dates of a calendar; written in Lua on top of `loop:timer`.
let loopCron: LuaRawFunction = { L, context in
  callSource(L, context, "loop:cron", "return require('moonloop.cron')(...)")
}

extension HostCall {
  /// The handler at 3; arguments after it would never reach it.
  fileprivate func handlerAlone(_ instead: StaticString) throws {
    try function(3, "the handler")
    if count > 3, stack.type(4) != .nil {
      throw mistake("takes no arguments for the handler; use \(instead)")
    }
  }

  /// Makes a timer of the handler at 3, and adds it to the default mode.
  @inline(__always)
  fileprivate func addSimpleTimer(date: Int64, interval: Int64) throws -> Int32 {
    try requireOpen()
    return try withRuntime { runtime in
      var ref: Int32 = 0
      let handle = runtime.kinds.timer.push(stack.L, heldFunction: 3, &ref)
      let callout = TimerCallout(timerActions, context: runtime.context, payload: ref)
      guard
        let id = withLoop({
          $0.makeTimer(date: date, interval: interval, callout: callout)
        })
      else {
        stack.dropHeld(ref)
        throw tooManyTimers()
      }
      note(id, handle, runtime)
      withLoop { $0.add(id) }
      return 1
    }
  }

  /// Gives a new timer a date of the wall clock, or ends it.
  fileprivate func setWallDate(of id: TimerID, to epoch: Int64) throws(SystemError) {
    do throws(SystemError) {
      try loop.setWallDate(of: id, to: epoch)
    } catch {
      loop.invalidate(id)
      throw error
    }
  }

  /// Makes a timer of the handler at an index, in no mode yet, and pushes its handle. [-0, +1]
  fileprivate func pushTimer(
    handler: Int32, date: Int64, interval: Int64, tolerance: Int64
  ) throws -> TimerID {
    try requireOpen()
    return try withRuntime { runtime in
      guard
        let id = runtime.loop.makeTimer(
          date: date, interval: interval, tolerance: tolerance,
          callout: TimerCallout(timerActions, context: runtime.context))
      else { throw tooManyTimers() }
      note(id, runtime.kinds.timer.push(stack.L, function: handler), runtime)
      return id
    }
  }

  /// Ties a new timer and its handle together.
  @inline(__always)
  private func note(_ id: TimerID, _ handle: LuaHandle, _ runtime: Runtime) {
    handle.index = UInt32(truncatingIfNeeded: id.slot)
    handle.generation = id.generation
    handle.pointer = runtime.context
    runtime.handles.note(
      timer: id, madeAt: stack.position, generation: runtime.withGenerations { $0.making })
  }

  @inline(never)
  func tooManyTimers() -> ScriptMistake {
    if runtime.handles.limit == loop.timerLimit {
      return mistake("the limit of \(loop.timerLimit) timers is reached; see ml.limit")
    }
    return mistake("the loop has \(loop.timerLimit) timers, and cannot hold more")
  }

  /// Adds the timer whose handle is on top of the stack to a mode; the loop holds it then (D4).
  func scheduleTimer(_ id: TimerID, _ mode: ModeName) {
    holdTimer(id)
    loop.add(id, mode)
  }

  func holdTimer(_ id: TimerID) {
    let records = timers.records
    if records[id.slot].callout.payload == 0 {
      records[id.slot].callout.payload = stack.hold(-1)
    }
  }

  /// Lets only the script hold a timer that is in no mode any more.
  func letGoOfTimerIfNowhere(_ id: TimerID) {
    let records = loop.timers.records
    guard let slot = loop.timers.slot(of: id), records[slot].callout.payload != 0,
      loop.modeNames(of: id).isEmpty, !loop.contains(id, .common)
    else { return }
    stack.pushUnheld(records[slot].callout.payload)
    records[slot].callout.payload = 0
    runtime.kinds.timer.guardOld(stack.L, -1)
    stack.pop()
  }

  /// The timer of a handle at an index; nil if it is no timer.
  @inline(__always)
  func timerID(_ index: Int32) -> TimerID? {
    guard let handle = kinds.timer.handle(stack.L, index) else { return nil }
    return TimerID(slot: Int(handle.index), generation: handle.generation)
  }

  @inline(__always)
  func selfTimer() throws(ScriptMistake) -> TimerID {
    guard let id = timerID(1) else { throw notSelf("timer") }
    return id
  }

  func invalidTimer() -> ScriptMistake {
    mistake("the timer is invalid: it has ended or was invalidated; make a new one")
  }
}

extension Runtime {
  func setName(ofTimer id: TimerID, _ name: String) {
    guard let slot = loop.timers.slot(of: id) else { return }
    loop.timers.records[slot].flags.insert(.noted)
    handles.setName(ofTimer: id, name)
  }

  func setOnError(ofTimer id: TimerID, _ handler: LuaReference?) {
    guard let slot = loop.timers.slot(of: id) else { return }
    loop.timers.records[slot].flags.insert(.noted)
    handles.setOnError(ofTimer: id, handler)
  }

  @inline(__always)
  package var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}

// MARK: Firing

/// The core's call-out of a timer: its handler gets the timer, and how many fires were missed.
private let fireTimer: TimerActions.Fire = { context, payload, id, missed in
  // The state that this runs for holds the runtime: no reference is counted for a fire.
  Unmanaged<Runtime>.fromOpaque(context)._withUnsafeGuaranteedRef { runtime in
    let outer = runtime.running
    runtime.running = Running(timer: id)
    let outcome = runtime.door.dispatch(held: payload, integer: missed)
    if case .returned = outcome {
    } else {
      runtime.tasks.settle(outcome, .timer(TimerID(rawValue: id)))
    }
    runtime.running = outer
  }
}

/// The timer has ended: nothing holds it any more.
private let timerEnded: TimerActions.Release = { context, payload, id, isNoted in
  Unmanaged<Runtime>.fromOpaque(context)._withUnsafeGuaranteedRef { runtime in
    if payload != 0 { runtime.door.dropHeld(payload) }
    if isNoted { runtime.handles.forget(timer: TimerID(rawValue: id)) }
  }
}

// Unsafe: made once, and never changed.
nonisolated(unsafe) private let timerActions = TimerActions.make(
  fire: fireTimer, release: timerEnded)

extension Runtime {
  /// Whether a timer is one that a script made, not one of ours.
  func isScriptTimer(_ callout: TimerCallout) -> Bool {
    callout.context == context && callout.actions == timerActions
  }
}

/// A handle was collected: a timer that is in no mode ends with it.
func releaseTimer(_ handle: LuaHandle) {
  guard let context = handle.pointer else { return }
  let id = TimerID(slot: Int(handle.index), generation: handle.generation)
  Unmanaged<Runtime>.fromOpaque(context)._withUnsafeGuaranteedRef { runtime in
    runtime.withLoop { $0.invalidate(id) }
  }
}

// MARK: Methods

/// The script invalidated a timer, and where is not known.
private let endedSomewhere = UInt32.max

/// A place in one word: 12 bits for the source, 20 for the line.
private func packed(_ place: LuaPosition) -> UInt32 {
  guard 0..<4094 ~= place.source, 0..<(1 << 20) ~= place.line else { return endedSomewhere }
  return UInt32(place.source + 1) << 20 | UInt32(place.line)
}

extension LuaHandle {
  /// Where the script invalidated its timer; no place: unknown.
  var timerEndedAt: LuaPosition? {
    if word == 0 { return nil }
    if word == endedSomewhere { return .nowhere }
    return LuaPosition(source: Int32(word >> 20) - 1, line: Int32(word & 0xfffff))
  }
}

let timerInvalidate: LuaRawFunction = { L, context in
  host(L, context, "timer:invalidate") { call in
    guard let handle = call.kinds.timer.handle(call.stack.L, 1) else {
      throw call.notSelf("timer")
    }
    let id = TimerID(slot: Int(handle.index), generation: handle.generation)
    return call.withRuntime { runtime in
      if let load = runtime.withGenerations({ $0.load }), load.release(id, runtime.handles) {
        return 0
      }
      if let isNoted = call.timers.isNoted(id) {
        // To ask for the place takes longer than to end the timer: only for those with a name.
        let isAsked = isNoted || runtime.measuring != nil
        handle.word = isAsked ? packed(call.stack.position) : endedSomewhere
      }
      call.withLoop { $0.invalidate(id) }
      return 0
    }
  }
}

func timerAgain(_ call: HostCall) throws {
  let id = try call.selfTimer()
  let delay = try call.seconds(2, "the delay", .notNegative)
  let exists = call.withLoop { $0.rearm(id, after: delay) }
  if !exists { throw call.invalidTimer() }
}

/// `timer:again_at(epoch)`: fires at a date of the wall clock, also in its own handler.
func timerAgainAt(_ call: HostCall) throws -> some LuaPushable {
  let id = try call.selfTimer()
  let epoch = try call.seconds(2, "the date", .date)
  if call.timers.slot(of: id) == nil { throw call.invalidTimer() }
  try call.loop.setWallDate(of: id, to: epoch, rearms: true)
  return true
}

/// `timer:fire()`: calls the handler at once; whether it was called (R141).
func timerFire(_ call: HostCall) throws -> Int32 {
  let id = try call.selfTimer()
  if call.timers.slot(of: id) == nil { throw call.invalidTimer() }
  call.stack.setCount(1)
  call.holdTimer(id)
  call.stack.push(call.withLoop { $0.fireNow(id) })
  call.stack.pushValue(1)
  call.letGoOfTimerIfNowhere(id)
  call.stack.pop()
  return 1
}

func timerKeepAlive(_ call: HostCall) throws -> Int32 {
  let id = try call.selfTimer()
  call.loop.setHolds(of: id, try call.boolean(2))
  call.stack.setCount(1)
  return 1
}

// MARK: Fields

let timerNextFire: LuaRawFunction = { L, context in
  host(L, context, "timer.next_fire") { call in
    call.stack.push(date: call.loop.date(of: try call.selfTimer()))
    return 1
  }
}

let timerSetNextFire: LuaRawFunction = { L, context in
  hostAction(L, context, "timer.next_fire") { call in
    let date = try call.seconds(2, "the date", .any)
    if !call.loop.setNextDate(of: try call.selfTimer(), to: date) { throw call.invalidTimer() }
  }
}

let timerName: LuaRawFunction = { L, context in
  hostValue(L, context, "timer.name") { $0.runtime.handles.name(ofTimer: try $0.selfTimer()) }
}

func timerFires(_ call: HostCall) throws -> some LuaPushable {
  let slot = call.loop.timers.slot(of: try call.selfTimer())
  return slot.map { Int(call.loop.timers.records[$0].fires) } ?? 0
}

func timerInterval(_ call: HostCall) throws -> Double? {
  call.seconds(of: try call.selfTimer()) { $0.records[$1].interval }
}

let timerTolerance: LuaRawFunction = { L, context in
  hostValue(L, context, "timer.tolerance") { call in
    call.seconds(of: try call.selfTimer()) { $0.tolerance($1) }
  }
}

let timerSetTolerance: LuaRawFunction = { L, context in
  hostAction(L, context, "timer.tolerance") { call in
    let tolerance = try call.seconds(2, "the tolerance", .notNegative)
    let id = try call.selfTimer()
    guard let slot = call.timers.slot(of: id) else { throw call.invalidTimer() }
    let interval = call.timers.records[slot].interval
    let bounded = interval > 0 ? min(tolerance, interval / 2) : tolerance
    call.loop.setTolerance(of: id, to: bounded)
  }
}

extension LuaStack {
  /// Pushes a date of the loop's clock in seconds; `math.huge`: never; nil: none.
  /// [-0, +1, raises: -]
  func push(date: Int64?) {
    guard let date else { return pushNil() }
    push(date == .max ? Double.infinity : Double(date) / 1e9)
  }
}

extension HostCall {
  /// A field of a timer in seconds; nil if it has ended.
  fileprivate func seconds(of id: TimerID, _ field: (TimerStore, Int) -> Int64) -> Double? {
    loop.timers.slot(of: id).map { Double(field(loop.timers, $0)) / 1e9 }
  }
}

let timerOnError: LuaRawFunction = { L, context in
  hostValue(L, context, "timer.on_error") {
    $0.runtime.handles.onError(ofTimer: try $0.selfTimer())
  }
}

let timerSetOnError: LuaRawFunction = { L, context in
  hostAction(L, context, "timer.on_error") { call in
    let id = try call.selfTimer()
    call.runtime.setOnError(ofTimer: id, try call.handlerReference(2))
  }
}

func timerToString(_ call: HostCall) throws -> some LuaPushable {
  let id = try call.selfTimer()
  let isValid = call.loop.timers.slot(of: id) != nil
  return isValid ? call.runtime.label(of: .timer(id)) : "timer (invalid)"
}
