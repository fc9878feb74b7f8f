// What the console, which is written in Lua, asks of the host. Private: `moonloop.console.host` is
// there from the moment that a console is wanted.

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

/// The mode of breakpoints, in which only the console is served.
let debugMode: ModeName = "moonloop.debug"

/// What the tasks of the console are called, and its items.
let consoleName = "console"

/// `ml.break_here(options)`: a nested run in which only the console is served (D39).
let moduleBreakHere: LuaRawFunction = { L, context in
  Runtime.of(context).console.open()
  return callSource(
    L, context, "break_here", "return require('moonloop.console.breakpoint').here(...)")
}

let consoleEntries: [LuaEntry] = [
  .function("folder", consoleFolder), .function("sweep", consoleSweep),
  .function("user", consoleUser),
  .function("processes", consoleProcesses), .function("ask", consoleAsk),
  .function("number", consoleNumber), .function("is_reachable", consoleIsReachable),
  .function("base", consoleBase), .function("stop_clock", consoleStopClock),
  .function("start_clock", consoleStartClock), .function("stop_busy", consoleStopBusy),
]

/// `stop_busy()`: ends the call-out that the console is served in the middle of.
private let consoleStopBusy: LuaRawFunction = { _, context in
  Runtime.of(context).console.stopCallout()
  return 0
}

/// `stop_clock()`: the time of the loop stands until as many calls of `start_clock`.
private let consoleStopClock: LuaRawFunction = { _, context in
  Runtime.of(context).loop.stopClock()
  return 0
}

private let consoleStartClock: LuaRawFunction = { _, context in
  Runtime.of(context).loop.startClock()
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

/// `user()`: the number of the user whose rights the process has.
private let consoleUser: LuaRawFunction = { L, _ in
  LuaStack(L: L!).push(Int(geteuid()))
  return 1
}

/// `number()`: of this process.
private let consoleNumber: LuaRawFunction = { L, _ in
  LuaStack(L: L!).push(Int(getpid()))
  return 1
}

/// `ask(pid, interrupts)`: asks a process to open its console, or to stop what keeps it busy.
private let consoleAsk: LuaRawFunction = { L, context in
  host(L, context, "ask") { call in
    let pid = Int32(try call.stack.integer(1, "the process", in: 1...Int(Int32.max)))
    try Attention.ask(pid, interrupts: call.stack.boolean(2))
    call.stack.push(true)
    return 1
  }
}

// MARK: The folder of sockets

/// `folder()`: where the sockets of consoles are; made if need be. Nobody else may look into it.
private let consoleFolder: LuaRawFunction = { L, context in
  host(L, context, "folder") { call in
    let path = consoleFolderPath
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      throw OperatingFailure(
        "cannot make the folder '\(path)' for consoles: \(SystemError(call: "mkdir", code: errno))",
        SystemError(call: "mkdir", code: errno).name)
    }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw SystemError(call: "lstat", code: errno) }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
      throw OperatingFailure("'\(path)' must be a folder of yours, for consoles", "EPERM")
    }
    if status.st_mode & 0o077 != 0 { try call.check("chmod", chmod(path, 0o700)) }
    call.stack.push(path)
    return 1
  }
}

/// `sweep()`: removes the sockets of programs that were killed.
private let consoleSweep: LuaRawFunction = { L, context in
  host(L, context, "sweep") { call in
    let path = consoleFolderPath
    for name in names(in: path) where name.hasSuffix(".sock") {
      guard let pid = Int32(name.dropLast(5)), kill(pid, 0) != 0, errno == ESRCH else { continue }
      unlink("\(path)/\(name)")
    }
    return 0
  }
}

/// What a folder holds; nothing if it cannot be read.
private func names(in path: String) -> [String] {
  guard let directory = opendir(path) else { return [] }
  defer { closedir(directory) }
  var found: [String] = []
  while let entry = readdir(directory) {
    found.append(
      withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      })
  }
  return found
}

/// That of the session if there is one, else one in the folder for temporary files.
private var consoleFolderPath: String {
  if let runtime = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), runtime.hasPrefix("/") {
    return "\(runtime)/moonloop"
  }
  return "/tmp/moonloop-\(geteuid())"
}

// MARK: Processes

/// `processes()`: those of the user that would open a console: pid, arguments, folder, start.
private let consoleProcesses: LuaRawFunction = { L, context in
  host(L, context, "processes") { call in
    let stack = call.stack
    stack.newTable(items: 4)
    var count: Int64 = 0
    for pid in userProcesses() where pid != getpid() && Attention.isHeard(by: pid) {
      let arguments = contents("/proc/\(pid)/cmdline").split(
        separator: 0, omittingEmptySubsequences: false)
      guard arguments.count > 1, isProgram(arguments[0], pid) else { continue }
      stack.newTable(fields: 3)
      stack.setField("pid", Int(pid))
      if let start = start(of: pid) {
        stack.push("since")
        stack.push(start)
        stack.rawSet(-3)
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
}

/// Whether it is this program: by what runs, or by its name if that was replaced meanwhile.
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
  for name in names(in: "/proc") {
    var status = stat()
    guard let pid = Int32(name), stat("/proc/\(pid)", &status) == 0, status.st_uid == geteuid()
    else { continue }
    found.append(pid)
  }
  return found.sorted()
}

/// When a process began, in seconds since 1970.
private func start(of pid: Int32) -> Double? {
  let line = contents("/proc/\(pid)/stat")
  // The name in parentheses may have anything in it; the time is the 20th field behind.
  guard let end = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
  let fields = line[(end + 1)...].split(separator: UInt8(ascii: " "))
  guard fields.count > 19, let ticks = Double(String(decoding: fields[19], as: UTF8.self)) else {
    return nil
  }
  let boot = contents("/proc/stat").split(separator: UInt8(ascii: "\n"))
    .first { $0.starts(with: "btime ".utf8) }
    .flatMap { Double(String(decoding: $0.dropFirst(6), as: UTF8.self)) }
  return boot.map { $0 + ticks / Double(sysconf(Int32(_SC_CLK_TCK))) }
}

/// What stands in a file; nothing if it cannot be read.
private func contents(_ path: String) -> [UInt8] {
  let fd = open(path, O_RDONLY | O_CLOEXEC)
  if fd < 0 { return [] }
  defer { close(fd) }
  var bytes: [UInt8] = []
  var part = [UInt8](repeating: 0, count: 4096)
  while true {
    let count = again { read(fd, &part, part.count) }
    if count <= 0 { return bytes }
    bytes += part[0..<count]
  }
}
