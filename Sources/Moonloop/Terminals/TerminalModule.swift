// Terminals in Lua: `ml.tty.open`, raw mode, the size.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// The functions of `ml.tty`.
let terminalModuleEntries: [LuaEntry] = [
  .function("open") { host($0, $1, "ml.tty.open", terminalOpen) },
  .function("is_tty") { hostValue($0, $1, "ml.tty.is_tty", terminalIs) },
]

/// What a terminal handle offers.
let terminalEntries: [LuaEntry] = [
  .method("read", terminalRead),
  .method("read_some", terminalReadSome),
  .method("lines", terminalLines),
  .method("write", terminalWrite),
  .method("on_resize") { host($0, $1, "tty:on_resize", terminalOnResize) },
  .method("invalidate", terminalInvalidate),
  .method("is_valid") { hostValue($0, $1, "tty:is_valid") { try $0.selfTerminal().isOpen } },
  .field("columns") {
    hostValue($0, $1, "tty.columns") { try Terminal.size($0.openTerminal().fd).columns }
  },
  .field("rows") { hostValue($0, $1, "tty.rows") { try Terminal.size($0.openTerminal().fd).rows } },
  .field("raw", terminalIsRaw, set: terminalSetRaw),
  .field("stream") { host($0, $1, "tty.stream", terminalStream) },
  .metamethod("__close", terminalInvalidate),
  .metamethod("__tostring") { hostValue($0, $1, "tostring", terminalToString) },
]

private let terminalOptions: [StaticString] = ["fd", "raw", "signals", "name"]

/// `ml.tty.open { fd, raw, signals, name }`: a terminal; or nil, message, code.
func terminalOpen(_ call: HostCall) throws -> Int32 {
  try call.requireRoom()
  var given: Int32?
  var isRaw = false
  var keepsSignals = false
  var name = "tty"
  if call.stack.type(1) != .none && call.stack.type(1) != .nil {
    let options = try call.options(1, terminalOptions, example: "{ raw = true }")
    given = try options.integer("fd", in: 0...Int(Int32.max)).map { Int32($0) }
    isRaw = try options.boolean("raw") ?? false
    keepsSignals = try options.boolean("signals") ?? false
    name = try options.name() ?? name
  }
  if given == nil && Terminal.isTerminal(0) { given = 0 }
  return try call.openTerminal(given, name, isRaw, keepsSignals)
}

extension HostCall {
  fileprivate func openTerminal(
    _ given: Int32?, _ name: String, _ isRaw: Bool, _ keepsSignals: Bool
  ) throws -> Int32 {
    let runtime = runtime
    let what = given.map { "descriptor \($0)" } ?? "this process"
    let fd: Int32
    do throws(SystemError) { fd = try Terminal.open(given) } catch {
      let isNone = error.name == "ENOTTY" || error.name == "ENXIO"
      let text = given == nil ? "\(what) has no terminal" : "\(what) is not a terminal"
      throw OperatingFailure(
        "ml.tty.open: \(isNone ? text : "\(what): \(error.message)")", error.name)
    }
    var traits = StreamTraits()
    traits.name = name
    let stream: ScriptStream
    do throws(SystemError) { stream = try runtime.makeStream(fd, traits, on: stack) } catch {
      ChildDescriptors.close(fd)
      throw error
    }
    let terminal = ScriptTerminal(fd, stream)
    do throws(SystemError) { try terminal.setRaw(isRaw, keepsSignals: keepsSignals) } catch {
      runtime.end(stream.source)
      throw OperatingFailure("ml.tty.open: \(what): \(error.message)", error.name)
    }
    kinds.terminal.push(stack.L).hold(terminal)
    stack.rotate(-2, 1)
    stack.popSlot(TerminalSlot.stream, of: -2)
    runtime.terminals = runtime.terminals.filter { $0.value.isOpen }
    runtime.terminals[ObjectIdentifier(terminal)] = terminal
    return 1
  }

  /// The terminal that a method is called on.
  func selfTerminal() throws(ScriptMistake) -> ScriptTerminal {
    let terminal = kinds.terminal.handle(stack.L, 1)?.object(as: ScriptTerminal.self)
    guard let terminal else { throw notSelf("tty") }
    return terminal
  }

  func openTerminal() throws(ScriptMistake) -> ScriptTerminal {
    let terminal = try selfTerminal()
    if terminal.isOpen { return terminal }
    throw mistake("the terminal was closed", hint: "open it again")
  }
}

/// Calls a function of streams on the stream of a terminal.
private func forward(
  _ L: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ name: StaticString,
  _ function: (HostCall) throws -> Int32
) -> Int32 {
  host(L, context, name) { call in
    _ = try call.openTerminal()
    call.stack.pushSlot(TerminalSlot.stream, of: 1)
    call.stack.rotate(1, 1)  // the stream in the place of the terminal
    call.stack.rotate(2, -1)
    call.stack.pop()
    return try function(call)
  }
}

let terminalRead: LuaRawFunction = { L, context in forward(L, context, "tty:read", readStream) }
let terminalReadSome: LuaRawFunction = { L, context in
  forward(L, context, "tty:read_some", readSomeOfStream)
}
let terminalWrite: LuaRawFunction = { L, context in forward(L, context, "tty:write", writeStream) }
let terminalLines: LuaRawFunction = { L, context in
  forward(L, context, "tty:lines", linesOfStream)
}

// MARK: Size

/// `tty:on_resize(handler)`: called as handler(tty, columns, rows); nil: changes are not reported.
func terminalOnResize(_ call: HostCall) throws -> Int32 {
  let terminal = try call.openTerminal()
  let runtime = call.runtime
  if call.stack.type(2) != .nil { try call.function(2, "the handler") }
  call.stack.setCount(2)
  call.stack.popSlot(TerminalSlot.onResize, of: 1)
  if let old = terminal.resize, old.isValid { runtime.end(old) }
  terminal.resize = nil
  call.stack.pushSlot(TerminalSlot.onResize, of: 1)
  defer { call.stack.setCount(1) }
  guard call.stack.type(-1) == .function else { return 1 }
  let modes = runtime.currentModes
  // Unowned: the source holds the terminal's handle, and ends before the runtime.
  let (watch, source) = try Loop.SignalWatch.make(
    [SignalNumber.winch], name: "tty", on: call.loop
  ) { [unowned runtime, unowned terminal] source, _ in terminal.resized(source, runtime) }
  runtime.handles.note(
    source, of: call.kind(ResizeKind.self), madeAt: call.stack.position)
  source.maker.state = watch
  call.loop.setKeepsAlive(source, false)
  call.stack.pushValue(1)
  source.maker.ref = call.stack.popRef()
  terminal.resize = source
  do { try call.loop.add(source, modes: modes) } catch {
    runtime.end(source)
    throw error
  }
  return 1
}

// MARK: Mode

let terminalIsRaw: LuaRawFunction = { L, context in
  hostValue(L, context, "tty.raw") { try $0.selfTerminal().isRaw }
}

let terminalSetRaw: LuaRawFunction = { L, context in
  hostAction(L, context, "tty.raw") { call in
    let terminal = try call.openTerminal()
    let isRaw = try call.boolean(2)
    if isRaw != terminal.isRaw { try terminal.setRaw(isRaw, keepsSignals: false) }
  }
}

func terminalStream(_ call: HostCall) throws -> Int32 {
  _ = try call.selfTerminal()
  call.stack.pushSlot(TerminalSlot.stream, of: 1)
  return 1
}

// MARK: The end

let terminalInvalidate: LuaRawFunction = { L, context in
  hostAction(L, context, "tty:invalidate") { call in
    let terminal = try call.selfTerminal()
    call.runtime.terminals[ObjectIdentifier(terminal)] = nil
    terminal.end(call.runtime)
    call.stack.pushNil()
    call.stack.popSlot(TerminalSlot.onResize, of: 1)
  }
}

func terminalToString(_ call: HostCall) throws -> some LuaPushable {
  let terminal = try call.selfTerminal()
  let state = terminal.isOpen ? terminal.isRaw ? "raw" : "as it was" : "closed"
  return "tty '\(terminal.stream.source.name)': \(state)"
}

/// `ml.tty.is_tty(fd)`
func terminalIs(_ call: HostCall) throws -> some LuaPushable {
  let fd = try call.stack.integer(1, "the descriptor", in: 0...Int(Int32.max))
  return Terminal.isTerminal(Int32(fd))
}
