// What the console, which is written in Lua, asks of the host. Private: `moonloop.console.host`
// exists from the moment a console is requested.

internal import Glibc
internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

extension HostCall {
  /// The custom source among the arguments.
  package func consoleSource(_ index: Int32) throws(ScriptMistake) -> Loop.Source {
    guard let handle = runtime.kinds.source.handle(stack.L, index) else {
      throw mistake("a source is missing")
    }
    return handle.item(as: Loop.Source.self)
  }
}

/// The mode of breakpoints, which serves only the console.
let debugMode: ModeName = "moonloop.debug"

/// The name of the console's tasks and items.
let consoleName = "console"

/// `ml.break_here(options)`: a nested run that serves only the console (D39).
let moduleBreakHere: LuaRawFunction = { L, context in
  Runtime.of(context).console.open()
  return callSource(
    L, context, "ml.break_here", "return require('moonloop.console.breakpoint').here(...)")
}

let consoleEntries: [LuaEntry] = [
  .function("folder") { host($0, $1, "folder", consoleFolder) },
  // `errors()`: how many errors of handlers there were.
  .function("errors") { hostValue($0, $1, "errors") { $0.runtime.errors.count } },
  .function("sweep") { host($0, $1, "sweep", consoleSweep) },
  .function("user", consoleUser),
  .function("processes") { host($0, $1, "processes", consoleProcesses) },
  .function("ask") { hostValue($0, $1, "ask", consoleAsk) },
  .function("number", consoleNumber),
  .function("is_reachable", consoleIsReachable),
  .function("base", consoleBase),
  .function("stop_clock", consoleStopClock),
  .function("start_clock", consoleStartClock),
  .function("stop_busy", consoleStopBusy),
  // `watch_end(stream)`: its end is noticed within a busy call-out, too.
  .function("watch_end") {
    hostAction($0, $1, "watch_end") { Attention.watchEnd(of: try $0.selfStream().source.fd) }
  },
]

/// `stop_busy()`: stops the call-out that the console interrupts.
private let consoleStopBusy: LuaRawFunction = { _, context in
  Runtime.of(context).console.stopCallout()
  return 0
}

/// `stop_clock()`: the loop's time stands still until as many calls of `start_clock`.
private let consoleStopClock: LuaRawFunction = { _, context in
  let runtime = Runtime.of(context)
  runtime.loop.stopClock()
  runtime.bed?.limit?.hold()
  return 0
}

private let consoleStartClock: LuaRawFunction = { _, context in
  let runtime = Runtime.of(context)
  runtime.bed?.limit?.release()
  runtime.loop.startClock()
  return 0
}

/// `is_reachable()`: whether other processes may ask for a console of this loop.
private let consoleIsReachable: LuaRawFunction = { L, context in
  LuaStack(L: L!).push(Runtime.of(context).loop.hearsAttention)
  return 1
}

/// `base()`: the coroutine of the call-out under way, which may have resumed others.
private let consoleBase: LuaRawFunction = { L, context in
  let stack = LuaStack(L: L!)
  guard let base = Runtime.of(context).state.callOut else { return 0 }
  stack.push(coroutineOf: base)
  return 1
}

/// `user()`: the ID of the user whose rights the process has.
private let consoleUser: LuaRawFunction = { L, _ in
  LuaStack(L: L!).push(Int(geteuid()))
  return 1
}

/// `number()`: the ID of this process.
private let consoleNumber: LuaRawFunction = { L, _ in
  LuaStack(L: L!).push(Int(getpid()))
  return 1
}

/// `ask(pid, interrupts)`: asks a process to open its console, or to stop what keeps it busy.
private func consoleAsk(_ call: HostCall) throws -> some LuaPushable {
  let pid = Int32(try call.stack.integer(1, "the process", in: 1...Int(Int32.max)))
  try Attention.ask(pid, interrupts: call.stack.boolean(2))
  return true
}

// MARK: The folder of sockets

/// `folder(pid)`: the folder of console sockets: that of another process, which may belong to
/// another session or user; else our own, made if necessary. No one else may access it.
private func consoleFolder(_ call: HostCall) throws -> Int32 {
  let pid = try call.stack.integer(1, "the process", in: 1...Int(Int32.max))
  if pid != Int(getpid()), let path = PrivateFolder.of(process: pid) {
    call.stack.push(path)
    return 1
  }
  do throws(PrivateFolder.Refusal) {
    call.stack.push(try PrivateFolder.own(tightens: true))
    return 1
  } catch {
    if case .failed(let reason) = error.flaw {
      throw OperatingFailure(
        "cannot make the folder '\(error.path)' for consoles: \(reason)", reason.name)
    }
    throw OperatingFailure("'\(error.path)' must be your own folder, for consoles", "EPERM")
  }
}

/// `sweep()`: removes the sockets of killed programs.
private func consoleSweep(_: HostCall) throws -> Int32 {
  PrivateFolder.sweep { name in
    guard name.hasSuffix(".sock"), let pid = Int32(name.dropLast(5)) else { return false }
    return kill(pid, 0) != 0 && errno == ESRCH
  }
  return 0
}

// MARK: Processes

/// `processes()`: the user's processes that would open a console: pid, arguments, folder, start.
private func consoleProcesses(_ call: HostCall) throws -> Int32 {
  let stack = call.stack
  stack.newTable(items: 4)
  var count: Int64 = 0
  for pid in userProcesses() where pid != getpid() && Attention.isHeard(by: pid) {
    let arguments = PrivateFolder.contents("/proc/\(pid)/cmdline").split(
      separator: 0, omittingEmptySubsequences: false)
    guard arguments.count > 1, isProgram(arguments[0], pid) else { continue }
    stack.newTable(fields: 3)
    stack.setField("pid", Int(pid))
    if let start = start(of: pid) {
      stack.setField("since", start)
    }
    stack.push("arguments")
    stack.newTable(items: Int32(clamping: arguments.count))
    for (place, argument) in arguments.dropLast().enumerated() {
      argument.withUnsafeBytes { stack.push(bytes: $0) }
      stack.rawSet(-2, item: Int64(place))
    }
    stack.rawSet(-3)
    count += 1
    stack.rawSet(-2, item: count)
  }
  return 1
}

/// Whether it is this program: by its file, or by its name if the file was replaced meanwhile.
private func isProgram(_ name: ArraySlice<UInt8>, _ pid: Int32) -> Bool {
  func file(_ path: String) -> (UInt64, UInt64)? {
    var status = stat()
    return stat(path, &status) == 0 ? (UInt64(status.st_dev), UInt64(status.st_ino)) : nil
  }
  if let own = file("/proc/self/exe"), let other = file("/proc/\(pid)/exe"), own == other {
    return true
  }
  let last = name.lastIndex(of: UInt8(ascii: "/")).map { name[($0 + 1)...] } ?? name
  return last.elementsEqual("moonloop".utf8)
}

/// The processes of the user, by their numbers.
private func userProcesses() -> [Int32] {
  var found: [Int32] = []
  for name in PrivateFolder.names(in: "/proc") {
    var status = stat()
    guard let pid = Int32(name), stat("/proc/\(pid)", &status) == 0, status.st_uid == geteuid()
    else { continue }
    found.append(pid)
  }
  return found.sorted()
}

/// When a process started, in seconds since 1970.
private func start(of pid: Int32) -> Double? {
  let line = PrivateFolder.contents("/proc/\(pid)/stat")
  // The name in parentheses may contain anything; the time is the 20th field after it.
  guard let end = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
  let fields = line[(end + 1)...].split(separator: UInt8(ascii: " "))
  guard fields.count > 19, let ticks = Double(String(decoding: fields[19], as: UTF8.self)) else {
    return nil
  }
  let boot = PrivateFolder.contents("/proc/stat").split(separator: UInt8(ascii: "\n"))
    .first { $0.starts(with: "btime ".utf8) }
    .flatMap { Double(String(decoding: $0.dropFirst(6), as: UTF8.self)) }
  return boot.map { $0 + ticks / Double(sysconf(Int32(_SC_CLK_TCK))) }
}
