// What tests run on: fresh loops for the scripts of one state, calls with a limit in real time,
// and leftovers. Private: used by `moonloop.testing.bed`, which the test runner uses.

internal import Glibc
internal import LuaEmbed
internal import MoonloopCore

/// The loops of tests, the innermost last; each is the thread's own until it is left.
package final class TestBed {
  struct Level {
    let outer: Loop.OuterLoop
    let kernel: LinuxKernel
    /// Ends the trace of the loop.
    var untrace: (() -> Void)?
    /// The handler of signals before this one.
    let wakes: Int32?
    /// The reports of errors since the last call.
    var reports: [String] = []
    /// What was left over at the last look. It is held so that no other object can have
    /// its identity.
    var known: [LeftoverIdentity: Int] = [:]
  }

  unowned(unsafe) let runtime: Runtime  // it holds its bed
  var levels: [Level] = []
  /// Whether a signal that asks the program to end only stops the present call.
  var hearsSignals = false
  /// The number given to the last leftover.
  var lastID = 0
  /// The tasks there were at each look, by its number; held as well.
  var knownTasks: [Int: [ScriptTask]] = [:]
  var lastLook = 0
  /// Whether it runs a program, which knows nothing about tests and their clocks.
  var runsProgram = false
  /// Called for each line.
  var follower: LuaReference?
  /// Whether processes that lose their parent become children of this one.
  var adopts = false
  /// The descriptors that hold the ports given to tests, the oldest first.
  private var reservations: [Int32] = []
  /// Follows the loop of a simulation.
  var recorder: (LoopRecorder, TraceWatcher)?
  /// Says at a terminal how far that simulation is.
  var progress: SimulationProgress?
  /// The time limit of the call under way.
  private(set) var limit: RealTimeLimit?
  /// Begins to trace a loop that is entered; the result ends that.
  package var trace: ((Loop) -> () -> Void)?
  /// The kernel of the program's own loop, if consoles reach the loops of tests.
  private var attended: LinuxKernel?

  init(_ runtime: Runtime) { self.runtime = runtime }

  deinit {
    for fd in reservations { Glibc.close(fd) }
  }

  /// Holds the port of a descriptor, for as long as a test may use it.
  func hold(_ reservation: Int32) {
    reservations.append(reservation)
    if reservations.count > 256 { Glibc.close(reservations.removeFirst()) }
  }
}

extension TestBed {
  /// Lets `require "moonloop.testing.host"` give the functions below, for the program that runs
  /// tests.
  @discardableResult
  package static func open(in runtime: Runtime) -> TestBed {
    let bed = TestBed(runtime)
    runtime.bed = bed
    runtime.followClock()
    runtime.state.preload(
      LuaModule(
        "moonloop.testing.host",
        bedEntries + bedSystemEntries + bedToolEntries + bedProcessEntries
          + bedRecordingEntries))
    return bed
  }

  /// From now on other processes of the user may ask for a console of the innermost loop.
  /// - Parameter kernel: That of the program's own loop.
  package func hearAttention(_ kernel: LinuxKernel) {
    attended = kernel
    attend()
  }

  private func attend() {
    guard let attended else { return }
    runtime.console.hearAttention(levels.last?.kernel ?? attended)
  }

  /// Leaves every loop of a test that is still entered.
  package func close() {
    while !levels.isEmpty { leave() }
  }

  fileprivate func enter(_ name: String, _ clock: ClockMode) throws {
    let kernel = try LinuxKernel(clock: clock, isReproducible: true)
    let loop = try Loop.makeIsolated(name, kernel)
    let wakes = Ending.isCaught ? Ending.wake(kernel.wakeUpDescriptor) : nil
    levels.append(TestBed.Level(outer: loop.beginIsolation(), kernel: kernel, wakes: wakes))
    runtime.enter(loop)
    levels[levels.count - 1].untrace = trace?(loop)
    attend()
    runtime.errors.write = { [unowned self] text in  // the runtime holds both
      if let last = levels.indices.last { levels[last].reports.append(text) }
    }
  }

  fileprivate func leave() {
    guard let level = levels.popLast() else { return }
    let loop = runtime.loop
    runtime.leave()
    level.untrace?()
    attend()
    loop.endIsolation(level.outer)
    if let wakes = level.wakes { _ = Ending.wake(wakes) }
  }
}

extension HostCall {
  /// The functions below exist only where tests run.
  func requireBed() throws(ScriptMistake) -> TestBed {
    guard let bed = runtime.bed else { throw mistake("no tests run here") }
    return bed
  }
}

private let bedEntries: [LuaEntry] = [
  .function("enter") { hostAction($0, $1, "enter", bedEnter) },
  .function("leave") { hostAction($0, $1, "leave", bedLeave) },
  .function("call") { host($0, $1, "call", bedCall) },
  .function("leftovers") { host($0, $1, "leftovers", bedLeftovers) },
  .function("order") { hostAction($0, $1, "order", bedOrder) },
  .function("start") { host($0, $1, "start", bedStart) },
  .function("hear") { host($0, $1, "hear", bedHear) },
  .function("reports") { host($0, $1, "reports", bedReports) },
  .function("tasks") { host($0, $1, "tasks", bedTasks) },
  // `end_program(signal)`: ends the program as a signal does.
  .function("end_program") {
    hostAction($0, $1, "end_program") {
      Ending.begin(Int32(try $0.stack.integer(1, "the signal", in: 1...64)))
    }
  },
  .function("follow_lines") { hostAction($0, $1, "follow_lines", bedFollow) },
]

private let enterOptions: [StaticString] = ["clock", "name"]

/// `enter { clock, name }`: gives the scripts a fresh loop from now on.
private func bedEnter(_ call: HostCall) throws {
  let options = try call.options(1, enterOptions, example: "{ clock = \"virtual\" }")
  let modes: [(name: String, value: ClockMode)] = [
    ("real", .real), ("virtual", .virtual), ("skip_idle", .skipIdle),
  ]
  let clock = try options.names("clock", modes, "clock")?.first ?? .real
  let name = try options.name()
  try call.requireBed().enter(name ?? "the loop of a test", clock)
}

/// `leave()`: ends that loop; the scripts get the previous one again.
private func bedLeave(_ call: HostCall) throws {
  let bed = try call.requireBed()
  if bed.levels.isEmpty { throw call.mistake("nothing is entered") }
  bed.leave()
}

/// `order(seed)`: events that are ready at once come in an order drawn by a seed; nil: as they are.
private func bedOrder(_ call: HostCall) throws {
  if call.stack.type(1) == .nil || call.stack.type(1) == .none {
    call.loop.hooks.eventOrder = nil
  } else {
    let seed = try call.stack.integer(1, "the seed", in: .min ... .max)
    call.loop.hooks.eventOrder = EventOrder(seed: UInt64(bitPattern: Int64(seed)))
  }
}

// MARK: Calling

/// `call(seconds, fn, ...)`: runs a function as a task, and the loop until it has returned.
private func bedCall(_ call: HostCall) throws -> Int32 {
  let stack = call.stack
  let limit = stack.type(1) == .nil ? nil : try call.seconds(1, "the limit", .positive)
  try call.function(2, "the function")
  try call.requireNesting()
  let runtime = call.runtime
  let bed = try call.requireBed()
  let task = ScriptTask(subject: .chunk, modes: LoopContext.inDefaultMode)
  task.hasHandle = true  // its values and its failure are wanted
  runtime.tasks.prepare(task, in: nil, on: stack, function: 2, isScope: false)
  let ending = bed.finish(task, limit)
  bed.push(ending, of: task, on: stack)
  return 1
}

/// `start(seconds, fn)`: runs a function as a program's main chunk, and then the loop, if the chunk
/// has not: what `moonloop run` does with a file.
private func bedStart(_ call: HostCall) throws -> Int32 {
  let stack = call.stack
  let seconds = try call.seconds(1, "the limit", .positive)
  try call.function(2, "the function")
  try call.requireNesting()
  stack.pushValue(2)
  let function = LuaReference(popping: stack)
  let runtime = call.runtime
  let bed = try call.requireBed()
  let limit = RealTimeLimit(seconds, call.loop, call.state.interruptHandle)
  bed.runsProgram = true
  runtime.mainChunk.start(function)
  while !runtime.runs.ranLoop || runtime.waitingChunk != nil {
    if Ending.isAskedFor || limit.hasStruck { break }
    if call.loop.run() == .finished {
      runtime.mainChunk.reportDeadlock(in: .default)
      break
    }
    if runtime.waitingChunk == nil { break }
  }
  let isInterrupted = Ending.isAskedFor
  limit.end()
  bed.runsProgram = false
  bed.hearSignals()
  stack.newTable(fields: 2)
  stack.setField(
    "status", limit.hasStruck ? "timeout" : isInterrupted ? "stopped" : "ok")
  stack.setField("reports") { bed.pushReports(on: stack) }
  return 1
}

/// `hear(true)`: a signal that asks the program to end only stops the present call. `hear()`: the
/// number of the signal that did so, or nil.
private func bedHear(_ call: HostCall) throws -> Int32 {
  if call.stack.type(1) == .boolean { call.runtime.bed?.hearsSignals = call.stack.boolean(1) }
  guard call.runtime.bed?.hearsSignals == true else { return 0 }
  let number = Ending.hear()
  if number == 0 { return 0 }
  call.stack.push(Int(number))
  return 1
}

/// `reports(kept)`: takes the reports of errors in the present call beyond the first ones, which
/// stay; and how many those are. Without a number all stay.
private func bedReports(_ call: HostCall) throws -> Int32 {
  let kept = call.stack.type(1) == .number ? max(0, call.stack.integer(1) ?? .max) : .max
  guard let bed = call.runtime.bed else { return 0 }
  call.stack.push(bed.pushReports(after: kept, on: call.stack))
  return 2
}

/// `tasks()`: looks at the tasks there are; returns the number of the look. `tasks(number)`: those
/// made since that look which have not ended; once.
private func bedTasks(_ call: HostCall) throws -> Int32 {
  guard let bed = call.runtime.bed else { return 0 }
  let all = call.runtime.tasks.all
  guard call.stack.type(1) == .number, let look = call.stack.integer(1) else {
    bed.lastLook += 1
    bed.knownTasks[bed.lastLook] = all
    call.stack.push(bed.lastLook)
    return 1
  }
  let known = Set((bed.knownTasks.removeValue(forKey: look) ?? all).map(ObjectIdentifier.init))
  let new = all.filter { !known.contains(ObjectIdentifier($0)) }
  call.stack.push(list: new) { call.push(handleOf: $0) }
  return 1
}

/// `follow_lines(fn)`: from the next call on a function is called for each line, on any coroutine.
private func bedFollow(_ call: HostCall) throws {
  try call.function(1, "the function")
  call.stack.pushValue(1)
  let function = LuaReference(popping: call.stack)
  call.state.followLines(function)
  call.runtime.bed?.follower = function
}

/// How the call of a test ended.
private struct TestEnding {
  var status: StaticString
  /// What was waited for, if that is the reason.
  var waits = ""
}

extension TestBed {
  /// Runs the loop until a task has ended, its time is up, or nothing can end it.
  fileprivate func finish(_ task: ScriptTask, _ limit: Int64?) -> TestEnding {
    let clock = limit.map { RealTimeLimit($0, runtime.loop, runtime.state.interruptHandle) }
    let outer = self.limit
    self.limit = clock
    defer {
      clock?.end()
      self.limit = outer
    }
    var result = RunResult.stopped
    while task.phase != .ended, result == .stopped, !(clock?.hasStruck ?? false),
      !Ending.isAskedFor
    {
      result = runtime.tasks.run(until: task, mode: .default, timeout: nil, owner: nil).result
    }
    let hasStruck = clock?.hasStruck ?? false
    let isInterrupted = Ending.isAskedFor
    hearSignals()
    if task.phase == .ended {
      // The stopped task may still have gone on to its end.
      if task.outcome == .returned { return TestEnding(status: hasStruck ? "timeout" : "ok") }
      if task.failure?.error.isStop ?? false {
        return TestEnding(status: hasStruck ? "timeout" : isInterrupted ? "stopped" : "limit")
      }
      return TestEnding(status: "error")
    }
    let waits = suspendedTasks(first: task) + (hasStruck ? clockNote() : "")
    let status: StaticString = hasStruck ? "timeout" : isInterrupted ? "stopped" : "deadlock"
    clock?.end()
    giveUp(task)
    return TestEnding(status: status, waits: waits)
  }

  /// After the first signal runs go on, for what tests have to close.
  fileprivate func hearSignals() {
    if hearsSignals { _ = Ending.hear() }
  }

  /// Ends a task that will not end by itself; its `<close>` variables have a second for it.
  private func giveUp(_ task: ScriptTask) {
    let reason = LuaReference(pushing: "the test is over", on: runtime.state.stack)
    runtime.tasks.cancel(task, Cancellation(reason: reason))
    let limit = RealTimeLimit(1_000_000_000, runtime.loop, runtime.state.interruptHandle)
    defer { limit.end() }
    if !Ending.isAskedFor {
      _ = runtime.tasks.run(until: task, mode: .default, timeout: .seconds(1), owner: nil)
    }
    if task.phase != .ended { runtime.tasks.end(task) }
  }

  /// Why virtual time did not come to what the test waits for.
  private func clockNote() -> String {
    let clock = runtime.loop.clock
    let holds = clock.holds.names
    if clock.mode != .virtual || holds.isEmpty { return "" }
    return "\nvirtual time stands still while it is held by \(holds.joined(separator: ", ")): "
      + "use clock = \"real\" or \"skip_idle\""
  }

  /// What every suspended task waits for, and where: a paragraph each.
  private func suspendedTasks(first: ScriptTask) -> String {
    let others = runtime.tasks.all.filter { $0 !== first && $0.phase == .suspended }
    return ([first] + others).map { task in
      let who = task === first ? "the test" : runtime.label(of: .task(task))
      var text = "\(who) waits \(runtime.tasks.forWhat(task))"
      if let coroutine = task.coroutine, runtime.state.isSuspended(coroutine) {
        let frames = LuaState.frames(of: runtime.state.stack(of: coroutine).L)
        text += frames.map { "\n\t\($0)" }.joined()
      }
      return text
    }.joined(separator: "\n")
  }

  /// Pushes the table that describes an ended call. [-0, +1]
  fileprivate func push(_ ending: TestEnding, of task: ScriptTask, on stack: LuaStack) {
    stack.newTable(fields: 8)
    stack.setField("status", "\(ending.status)")
    if !ending.waits.isEmpty { stack.setField("waits", ending.waits) }
    push(failureOf: task, on: stack)
    stack.push("results")
    stack.newTable(items: 4)
    let count = ending.status.description == "ok" ? task.values.push(on: stack) : 0
    for item in (0..<count).reversed() { stack.rawSet(-Int32(item) - 2, item: Int64(item) + 1) }
    stack.setField("n", count)
    stack.rawSet(-3)
    stack.setField("reports") { pushReports(on: stack) }
  }

  private func push(failureOf task: ScriptTask, on stack: LuaStack) {
    guard let failure = task.failure else { return }
    runtime.tasks.take(failure)
    stack.setField("message", failure.error.message)
    stack.setField("traceback", failure.error.report)
    stack.setField("value", failure.value)
    stack.setList("frames", failure.error.traceback) { frame in
      stack.newTable(fields: 4)
      stack.setField("source", frame.source)
      stack.setField("line", frame.line)
      stack.setField("role", frame.role)
      if let function = frame.function { stack.setField("name", function) }
    }
  }

  /// Takes the reports beyond the first ones, and pushes a list of them. [-0, +1]
  /// - Returns: How many are left.
  @discardableResult
  func pushReports(after kept: Int = 0, on stack: LuaStack) -> Int {
    stack.push(list: levels.last?.reports.dropFirst(kept) ?? []) { stack.push($0) }
    guard let last = levels.indices.last else { return 0 }
    levels[last].reports.removeLast(max(0, levels[last].reports.count - kept))
    return levels[last].reports.count
  }
}
