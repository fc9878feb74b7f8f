// `ml.process.run`: a whole child in one call; its output is always drained,
// its input written meanwhile.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

private let runOptions: [StaticString] = [
  "input", "stdin", "stdout", "stderr", "descriptors", "cwd", "env", "env_add", "uid", "gid",
  "group", "linger", "timeout", "grace", "check", "limit", "name",
]

/// The default limit for each output.
private let defaultOutputLimit = 64 << 20

/// `ml.process.run { program, arguments…, input, timeout, check, … }`: `{ code, signal, stdout,
/// stderr }`; or nil, message, code.
func processRun(_ call: HostCall) throws -> Int32 {
  try call.requireRoom()
  call.stack.setCount(1)
  let options = try call.options(
    1, runOptions, example: "{ \"sort\", input = text }", unnamed: .max)
  let arguments = try call.childArguments(1)
  var plan = ChildPlan()
  plan.arguments = arguments
  try call.readUser(options, &plan)
  let input = try call.runInput(options)
  var streams = try call.readPlan(options, &plan, defaults: [.null, .pipe, .pipe])
  if input != nil {
    if options.push("stdin") != .nil {
      throw call.mistake("'input' and 'stdin' cannot both be given", hint: "leave one out")
    }
    call.stack.pop()
    streams[0] = .pipe
  } else if case .pipe = streams[0] {
    throw call.mistake("'stdin' cannot be \"pipe\"", hint: "give 'input', or use spawn")
  }
  plan.streams += try call.childDescriptors(options)
  let run = ProcessRun()
  run.limit = try options.integer("limit", in: 0...Int.max) ?? defaultOutputLimit
  run.checks = try options.boolean("check") ?? false
  run.grace = try options.seconds("grace", .notNegative) ?? defaultGrace
  let timeout = try options.seconds("timeout", .notNegative)
  let linger = try options.seconds("linger", .notNegative) ?? defaultLinger
  let name = try options.name() ?? call.title(of: arguments)
  _ = try call.requireWaiting()
  try call.requireRoom(new: 1 + streams.count(where: \.isPipe))
  var ends = try call.openEnds(streams, plan)
  let child = try call.spawn(&plan, ends)
  let process = ScriptProcess(
    call.runtime, child, title: call.title(of: arguments), name: name,
    modes: call.runtime.currentModes, isDetached: false,
    leadsGroup: plan.leadsGroup)
  process.linger = linger == .max ? nil : linger
  call.runtime.handles.note(
    process.source, of: call.kind(ProcessKind.self), madeAt: call.stack.position)
  process.source.maker.state = process
  run.process = process
  try run.connect(ends.handOver(call.runtime), input, on: call.runtime)
  if let timeout, timeout != .max {
    run.timeout = timeout
    process.after(timeout) { [weak run] in run?.timeIsOver() }
  }
  return try call.wait(for: run)
}

extension HostCall {
  fileprivate func runInput(_ options: Options) throws(ScriptMistake) -> [UInt8]? {
    defer { stack.pop() }
    let type = options.push("input")
    if type == .nil { return nil }
    if type == .number { stack.makeString(stack.absolute(-1)) }
    guard let bytes = stack.withBytes(-1, { Array($0) }) else {
      throw mistake("'input' must be a string, got \(given(-1))")
    }
    return bytes
  }

  fileprivate func wait(for run: ProcessRun) throws(LoopError) -> Int32 {
    let modes = runtime.loopContext.servingModes(of: runtime.current)
    let other = RunWait(run, modes: modes)
    try run.process.add(other)
    return suspend(Wait(.other(other)))
  }
}

/// One `ml.process.run` under way. Loop thread only.
private final class ProcessRun {
  fileprivate(set) var process: ScriptProcess! = nil
  var limit = 0
  var checks = false
  var grace: Int64 = 0
  var timeout: Int64 = 0
  private var isLate = false
  /// The output that was too long, and whether memory was: then no limit of this call was.
  private var overflow: (output: String, isOutOfMemory: Bool)?
  private var output: PipeSink?
  private var errors: PipeSink?

  /// Reads and writes our ends of the child's pipes.
  func connect(_ ours: [Int32], _ input: [UInt8]?, on runtime: Runtime) throws {
    do throws(LoopError) {
      try process.begin()
      if let input { process.charge = runtime.state.charge(input.count) }
      if ours[0] >= 0 { try process.add(feeder(ours[0], input ?? [], runtime)) }
      output = try sink(ours[1], "output", runtime)
      errors = try sink(ours[2], "error", runtime)
    } catch {
      runtime.end(process.source)
      throw error
    }
  }

  private func feeder(
    _ fd: Int32, _ input: [UInt8], _ runtime: Runtime
  ) -> Loop.DescriptorSource {
    var done = 0
    let kernel = runtime.loop.kernel
    let source = Loop.DescriptorSource(
      fd, closesDescriptor: true, events: .write, reenabled: .write
    ) { source, _ in
      let isOver = input.withUnsafeBytes { bytes in
        if done == bytes.count { return true }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
        do throws(SystemError) { done += try source.write(kernel, rest) } catch {
          return error.name != "EAGAIN"  // it does not want more, which is no failure
        }
        return done == bytes.count
      }
      if isOver { source.invalidate() }
    }
    source.isNonBlocking = true
    return source
  }

  private func sink(
    _ fd: Int32, _ name: String, _ runtime: Runtime
  ) throws(LoopError) -> PipeSink? {
    guard fd >= 0 else { return nil }
    // An abandoned run has gone before its process.
    let sink = PipeSink(fd, limit: limit, runtime) { [weak self] isOutOfMemory in
      guard let self else { return }
      overflow = overflow ?? (output: name, isOutOfMemory: isOutOfMemory)
      process.kill()
    }
    sink.process = process
    process.outputs.append(sink)
    try process.add(sink.source)
    return sink
  }

  func timeIsOver() {
    if process.child.look() { return }  // the alarm was served first
    isLate = true
    process.terminate(SignalNumber.term, grace: grace)
  }

  /// No task waits for it any more.
  func abandon() { process.terminate(SignalNumber.term, grace: grace) }

  /// Pushes its outcome: the result; or nil, message, code and the result. [-0, +n]
  func push(on stack: LuaStack) -> Int {
    let status = process.status ?? .unknown
    guard let failure = failure(status) else {
      pushResult(status, on: stack)
      return 1
    }
    let count = stack.pushFailure(failure.text, failure.code)
    if overflow?.isOutOfMemory ?? false { return count }
    pushResult(status, on: stack)
    return count + 1
  }

  /// How it ended, and what it wrote. [-0, +1]
  private func pushResult(_ status: ChildStatus, on stack: LuaStack) {
    stack.newTable(fields: 4)
    stack.setFields(status)
    for (name, sink) in [("stdout" as StaticString, output), ("stderr", errors)] {
      guard let sink else { continue }
      stack.push(name)
      sink.bytes.withUnsafeBytes { stack.push(bytes: $0) }
      stack.rawSet(-3)
    }
  }

  private func failure(_ status: ChildStatus) -> (text: String, code: String)? {
    let title = process.title
    if let overflow, overflow.isOutOfMemory {
      return (
        "ml.process.run: there was no memory for the standard \(overflow.output) of '\(title)', "
          + "which was killed; raise the memory limit, or use spawn and read as it comes", "ENOMEM"
      )
    } else if let overflow {
      return (
        "ml.process.run: '\(title)' wrote more than \(limit) bytes to its standard "
          + "\(overflow.output), and was killed; raise 'limit', or use spawn and read as it comes",
        "EMSGSIZE"
      )
    }
    if isLate {
      let seconds = LuaText.short(Double(timeout) / 1e9)
      return ("ml.process.run: '\(title)' had not ended after \(seconds) s", "ETIMEDOUT")
    }
    if !checks || status.code == 0 { return nil }
    var text = "ml.process.run: '\(title)' "
    if let code = status.code {
      text += "ended with code \(code)"
    } else {
      text += status.signal.map { "was killed by \(SignalNumber.title(of: $0))" } ?? "ended"
    }
    let last = (errors?.bytes ?? []).split(separator: 10).last.map { $0.prefix(400) }
    if let last { text += ": " + LuaText.clean(String(decoding: last, as: UTF8.self)) }
    return (text, "FAILED")
  }
}

/// A child's output from a pipe, kept.
private final class PipeSink: ChildOutput {
  private(set) var source: Loop.DescriptorSource! = nil
  private(set) var bytes: [UInt8] = []
  /// Counts them as script memory.
  private var charge: MemoryCharge?
  weak var process: ScriptProcess?

  init(_ fd: Int32, limit: Int, _ runtime: Runtime, overflow: @escaping (Bool) -> Void) {
    let kernel = runtime.loop.kernel
    let scratch = runtime.loop.scratch
    source = Loop.DescriptorSource(fd, closesDescriptor: true) {
      [weak self, weak runtime] source, _ in
      guard let self, let runtime else { return source.invalidate() }
      do throws(SystemError) {
        let count = try source.read(kernel, into: scratch)
        if count > 0 {
          let isTooMuch = bytes.count + count > limit
          if !isTooMuch {
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: scratch[0..<count]))
            runtime.state.count(bytes.count, in: &charge)
          }
          if !isTooMuch && runtime.state.hasRoom() { return }
          if isTooMuch {
            bytes += UnsafeRawBufferPointer(rebasing: scratch[..<(limit - bytes.count)])
          } else {
            (bytes, charge) = ([], nil)
          }
          overflow(!isTooMuch)
        }
      } catch {
        if error.name == "EAGAIN" { return }
      }
      source.invalidate()
      process?.lookAgain()
    }
    source.isNonBlocking = true
  }

  var fd: Int32 { source.fd }
  var isUntouched: Bool { false }
  func isOver(_ waiters: [ScriptTask]) -> Bool { !source.isValid }
}

/// A task waits for the end of a run.
private final class RunWait: ProcessWait {
  private let run: ProcessRun

  init(_ run: ProcessRun, modes: [ModeName]) {
    self.run = run
    super.init(run.process, modes: modes, push: { run.push(on: $0) })
  }

  override func abandon() {
    run.abandon()
    super.abandon()
  }
}
