// `ml.guest { … }`: an untrusted script in this process, with its grants.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopRecording
internal import MoonloopSystem

private let guestOptions: [StaticString] = [
  "file", "text", "args", "allow", "limits", "functions", "name", "modes", "keep_alive", "isolate",
  "on_output", "on_limit", "on_error",
]
private let guestLimits: [StaticString] = [
  "memory", "callout", "callouts", "cpu", "instructions", "handles", "share", "output", "wakes",
  "messages", "log_lines",
]
/// Functions that would keep the host's thread, or reach what belongs to the host.
private let notInside: [StaticString] = ["run", "reload", "tty"]

let moduleGuest: LuaRawFunction = { L, context in
  host(L, context, "ml.guest") { call in
    try call.requireRoom()
    if call.runtime.granted.guest != nil { throw call.mistake("a guest may not make guests") }
    Tape.letGo()
    if !Intake.isPlain {
      throw OperatingFailure("ml.guest: a program with guests cannot be recorded", "ENOTSUP")
    }
    let options = try call.options(
      1, guestOptions, example: "{ file = \"plugin.lua\", allow = { \"timers\" } }")
    let script = try call.guestScript(options)
    let grants = try call.guestGrants(options, script)
    let name = try options.name() ?? script.name
    let modes = try options.modes() ?? [.default]
    let isIsolated = try options.boolean("isolate") ?? false
    let kind = isIsolated ? IsolatedGuest.self : LocalGuest.self
    var limits = try call.guestLimits(options)
    // What a guest holds, its host holds.
    limits.state.memory = limits.state.memory.map { min($0, max(1 << 20, call.state.memoryLeft)) }
    let guest = kind.init(call.runtime, limits, try call.guestFunctions(options))
    guest.hearsOutput = try options.pushHandlerOrNil("on_output")
    guest.hearsLimits = try options.pushHandlerOrNil("on_limit")
    let argument = try call.guestArgument(options)
    let source = guest.makeSource(name)
    try call.open(guest, script, argument, grants, name.isEmpty ? "guest" : name)
    source.maker.state = guest
    call.push(call.kind(GuestKind.self), source, handlers: 2)
    guest.mayHold = try options.boolean("keep_alive") ?? true
    return try call.finish(source, options, modes: modes)
  }
}

extension HostCall {
  fileprivate func guestScript(_ options: Options) throws -> WorkerText {
    let (file, text) = (try options.systemText("file"), try options.bytes("text"))
    let script: WorkerText
    if let text {
      if file != nil { throw mistake("takes 'file' or 'text', not both") }
      script = WorkerText(source: text, name: "=guest")
    } else if let file {
      do throws(SystemError) { script = try WorkerText(file: file, searching: nil) } catch {
        throw OperatingFailure("ml.guest: cannot read \(file): \(error.message)", error.name)
      }
    } else {
      if options.hasUnnamed {
        _ = stack.rawGet(1, item: 1)
        defer { stack.pop() }
        throw mistake("unknown element [1]", hint: "write file = \(given(-1))")
      }
      throw mistake("needs a script: 'file' or 'text'")
    }
    return script
  }

  /// Throws if the script does not compile.
  private func requireCompiled(_ script: WorkerText) throws {
    try script.bytes.withUnsafeBytes { bytes in
      do throws(LuaError) {
        try state.load(bytes: bytes, name: script.chunkName, on: stack)
        stack.pop()
      } catch { throw OperatingFailure("ml.guest: \(error.message)", "ENOEXEC") }
    }
  }

  fileprivate func guestGrants(
    _ options: Options, _ script: WorkerText
  ) throws(ScriptMistake) -> GuestGrants {
    var grants = GuestGrants()
    grants.advice = .table
    if let file = script.file { grants.setScript(file) }
    defer { stack.pop() }
    let type = options.push("allow")
    if type == .nil { return grants }
    let table = stack.absolute(-1)
    guard type == .table else {
      throw mistake("'allow' must be a list of grants, got \(given(table))")
    }
    var place: Int64 = 1
    while stack.rawGet(table, item: place) != .nil {
      defer { stack.pop() }
      let word = try string(stack.absolute(-1), "a grant")
      if let name = notInside.first(where: { "\($0)" == word }) {
        throw mistake("'allow': '\(name)' is not available for guests inside a program")
      }
      do throws(GuestGrants.Mistake) { try grants.allow(word) } catch {
        throw mistake("'allow': \(error.message)")
      }
      place += 1
    }
    stack.pop()
    return grants
  }

  fileprivate func guestLimits(_ options: Options) throws(ScriptMistake) -> GuestLimits {
    var limits = GuestLimits()
    defer { stack.pop() }
    if options.push("limits") == .nil { return limits }
    let given = try self.options(
      stack.absolute(-1), Moonloop.guestLimits, example: "{ memory = \"8M\", callout = 0.1 }",
      unnamed: 0, within: "limits.")
    limits.state.memory = try given.bytes("memory", atLeast: 1 << 20) ?? limits.state.memory
    if let time = try given.seconds("callout", .positive) {
      limits.state.callout = .nanoseconds(min(max(time, 10_000_000), 1 << 50))
    }
    limits.state.instructions = try given.integer("instructions", in: 1000...(1 << 30))
    limits.state.handles =
      try given.integer("handles", in: 1...(1 << 24)) ?? limits.state.handles
    limits.output = try given.integer("output", in: 0...(1 << 40)) ?? limits.output
    for rate in [GuestRate.callouts, .wakes, .messages, .logLines] {
      guard let count = try given.integer(rate.word, in: 1...(1 << 30)) else { continue }
      limits.rates[rate] = Int64(count)
    }
    limits.share = try part("share", of: given) ?? limits.share
    if let cpu = try part("cpu", of: given) {
      limits.rates[.processor] = max(Int64(cpu * 1e9), 1_000_000)
      // One call must not take much more than all calls of a second may.
      let call = Duration.nanoseconds(max(limits.rates[.processor], 10_000_000))
      limits.state.callout = min(limits.state.callout ?? call, call)
    }
    return limits
  }

  /// A number above 0, up to 1; nil if it is not given.
  private func part(_ name: StaticString, of options: Options) throws(ScriptMistake) -> Double? {
    defer { stack.pop() }
    if options.push(name) == .nil { return nil }
    guard let part = stack.number(-1), part > 0, part <= 1 else {
      throw mistake("'\(name)' must be a number > 0 and <= 1, got \(given(-1))")
    }
    return part
  }

  fileprivate func guestFunctions(
    _ options: Options
  ) throws(ScriptMistake) -> [ExactText: LuaReference] {
    var functions: [ExactText: LuaReference] = [:]
    defer { stack.pop() }
    let type = options.push("functions")
    if type == .nil { return functions }
    let table = stack.absolute(-1)
    guard type == .table else {
      throw mistake("'functions' must be a table of functions by name, got \(given(table))")
    }
    stack.pushNil()
    while stack.next(table) {
      guard stack.type(-2) == .string, stack.type(-1) == .function else {
        throw mistake("'functions' must map names to functions, got \(given(-1))")
      }
      let name = ExactText(try string(-2, "a name in 'functions'"))
      functions[name] = LuaReference(popping: stack)
    }
    return functions
  }

  fileprivate func guestArgument(_ options: Options) throws(ScriptMistake) -> StructuredClone {
    _ = options.push("args")
    defer { stack.pop() }
    do throws(StructuredClone.Obstacle) {
      return try StructuredClone(stack, -1, root: "args") { runtime.attachment($0, $1) }
    } catch { throw mistake("\(error.path) is \(error.what), which cannot be sent") }
  }

  fileprivate func open(
    _ guest: ScriptGuest, _ script: WorkerText, _ argument: StructuredClone,
    _ grants: GuestGrants, _ name: String
  ) throws {
    do {
      switch guest {
      case let guest as LocalGuest: try open(guest, script, argument, grants, name)
      case let guest as IsolatedGuest: try open(guest, script, argument, grants, name)
      default: break
      }
    } catch let error as SystemError {
      throw OperatingFailure("ml.guest: \(error.message)", error.name)
    } catch let error as LuaError {
      throw OperatingFailure("ml.guest: \(error.message)", "ENOMEM")
    }
  }

  private func open(
    _ guest: LocalGuest, _ script: WorkerText, _ argument: StructuredClone,
    _ grants: GuestGrants, _ name: String
  ) throws {
    var chunk: LuaReference?
    var text: WorkerText?
    let chunkName = script.chunkName
    try guest.open(name, grants) { lua in
      try script.bytes.withUnsafeBytes { bytes in
        do throws(LuaError) {
          try lua.load(bytes: bytes, name: script.chunkName, on: lua.stack)
          chunk = LuaReference(popping: lua.stack)
        } catch {
          // It is wrong, or there is no room for it in the guest, which reports that at its start.
          try requireCompiled(script)
          text = script
        }
      }
      return argument.size + (text?.bytes.count ?? 0)
    } start: { runtime in
      let push = { (stack: LuaStack) in
        argument.push(on: stack, pushAttachment: runtime.push)
        return 1
      }
      if let chunk { return runtime.mainChunk.start(chunk, pushArguments: push) }
      text?.bytes.withUnsafeBytes { bytes in
        do throws(LuaError) {
          try runtime.mainChunk.start(
            bytes: bytes, name: chunkName, pushArguments: push)
        } catch { runtime.report(error, .chunk) }
      }
    }
  }

  private func open(
    _ guest: IsolatedGuest, _ script: WorkerText, _ argument: StructuredClone,
    _ grants: GuestGrants, _ name: String
  ) throws {
    do throws(GuestGrants.Mistake) { try grants.requireIsolable() } catch {
      throw mistake("'allow': \(error.message)")
    }
    try requireCompiled(script)
    do {
      try guest.open(name, grants, script) { stack in
        stack.setField("start", true)
        stack.setField("name", name)
        stack.setField("decides", guest.hearsLimits)
        if let file = script.file {
          stack.setField("file", file)
        } else {
          stack.setField("text", bytes: script.bytes)
        }
        stack.setList("allow", grants.words) { stack.push($0) }
        stack.setList("functions", guest.functions.keys.map(\.text).sorted()) { stack.push($0) }
        guest.limits.push(on: stack)
        stack.setField("args") { argument.push(on: stack, pushAttachment: runtime.push) }
      }
    } catch is StructuredClone.Obstacle {
      throw mistake("the script and 'args' are larger than \(guest.limits.message) bytes")
    }
  }

  func selfGuest() throws(ScriptMistake) -> ScriptGuest {
    let source = try selfItem(of: GuestKind.self)
    guard let guest = ScriptGuest.of(source) else { throw mistake("it has ended") }
    return guest
  }
}

// MARK: Methods

/// `guest:keep_alive(false)`: it does not keep a run of the host going, busy or not.
func guestKeepAlive(_ call: HostCall) throws -> Int32 {
  let holds = try call.boolean(2)
  try call.selfGuest().mayHold = holds
  call.stack.setCount(1)
  return 1
}

/// `guest:suspend()`: removes it from all modes.
func guestSuspend(_ call: HostCall) throws -> Int32 {
  try call.selfGuest().suspend()
  call.stack.setCount(1)
  return 1
}

/// `guest:resume()`: puts it back.
func guestResume(_ call: HostCall) throws -> Int32 {
  try call.selfGuest().resume()
  call.stack.setCount(1)
  return 1
}

let guestUsage: LuaRawFunction = { L, context in
  host(L, context, "guest:usage") { call in
    try call.selfGuest().usage.push(on: call.stack)
    return 1
  }
}

extension GuestLimits {
  /// Sets them in the table on top, as `ml.guest` takes them. [-0, +0]
  fileprivate func push(on stack: LuaStack) {
    stack.push("limits" as StaticString)
    stack.newTable(fields: 11)
    if let memory = state.memory { stack.setField("memory", memory) }
    if let time = state.callout { stack.setField("callout", time / .seconds(1)) }
    if let instructions = state.instructions { stack.setField("instructions", instructions) }
    if let handles = state.handles { stack.setField("handles", handles) }
    for rate in GuestRate.allCases where rates[rate] < .max {
      if rate == .processor {
        stack.setField(rate.word, Double(rates[rate]) / 1e9)
      } else {
        stack.setField(rate.word, Int(rates[rate]))
      }
    }
    stack.setField("share", share)
    stack.setField("output", output)
    stack.rawSet(-3)
  }
}
