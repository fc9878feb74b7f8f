// What `moonloop.posix` offers about the process: its folder, its environment, names.

internal import Glibc
internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

let posixSystemEntries: [LuaEntry] = [
  .function("folder") { host($0, $1, "folder", posixFolder) },
  // `set_folder(path)`: of the whole process.
  .function("set_folder") {
    hostDone($0, $1, "set_folder") {
      try $0.check("chdir", chdir(try $0.systemText(1, "the path")))
    }
  },
  .function("environment") { host($0, $1, "environment", posixEnvironment) },
  .function("set_variable") { hostDone($0, $1, "set_variable", posixSetVariable) },
  .function("link") { host($0, $1, "link", posixLink) },
  .function("set_mode") { hostDone($0, $1, "set_mode", posixSetMode) },
  .function("ids") { host($0, $1, "ids", posixIDs) },
  .function("set_id") { hostDone($0, $1, "set_id", posixSetID) },
  .function("set_priority") { hostDone($0, $1, "set_priority", posixSetPriority) },
  .function("names") { host($0, $1, "names", posixNames) },
  .function("machine") { hostValue($0, $1, "machine", posixMachine) },
  .function("interfaces") { host($0, $1, "interfaces", posixInterfaces) },
  // `stop_sqlite()`: a limit, or the end of a worker, also ends statements of SQLite from now on.
  .function("stop_sqlite") { hostAction($0, $1, "stop_sqlite") { _ in LuaState.stopSQLite() } },
]

/// `folder()`: the working folder.
private func posixFolder(_ call: HostCall) throws -> Int32 {
  guard let path = getcwd(nil, 0) else { throw SystemError(call: "getcwd", code: errno) }
  defer { free(path) }
  call.stack.push(bytes: UnsafeRawBufferPointer(start: path, count: strlen(path)))
  return 1
}

/// `environment()`: all variables of the process.
private func posixEnvironment(_ call: HostCall) throws -> Int32 {
  call.stack.newTable()
  for line in Child.environment {
    guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
    line.withUnsafeBytes { bytes in
      call.stack.push(bytes: UnsafeRawBufferPointer(rebasing: bytes[..<equals]))
      call.stack.push(bytes: UnsafeRawBufferPointer(rebasing: bytes[(equals + 1)...]))
    }
    call.stack.rawSet(-3)
  }
  return 1
}

/// `set_variable(name, value or nil)`: of the whole process.
private func posixSetVariable(_ call: HostCall) throws {
  let name = try call.systemText(1, "the name")
  if call.count < 2 || call.stack.type(2) == .nil {
    try call.check("unsetenv", unsetenv(name))
  } else {
    try call.check("setenv", setenv(name, try call.systemText(2, "the value"), 1))
  }
}

/// `link(path)`: what a symbolic link points to.
private func posixLink(_ call: HostCall) throws -> Int32 {
  let path = try call.systemText(1, "the path")
  let scratch = call.runtime.loop.scratch
  let target = scratch.assumingMemoryBound(to: CChar.self)
  let count = try call.check("readlink", readlink(path, target.baseAddress!, target.count))
  call.stack.push(bytes: UnsafeRawBufferPointer(rebasing: scratch[0..<count]))
  return 1
}

/// `set_mode(path, bits)`: adds permissions to those of a file.
private func posixSetMode(_ call: HostCall) throws {
  let path = try call.systemText(1, "the path")
  let bits = mode_t(try call.stack.integer(2, "the permissions", in: 0...0o7777))
  var status = stat()
  try call.check("stat", stat(path, &status))
  try call.check("chmod", chmod(path, (status.st_mode & 0o7777) | bits))
}

/// `ids()`: the numbers of the user, the group and the parent process.
private func posixIDs(_ call: HostCall) throws -> Int32 {
  call.stack.push(Int(getuid()))
  call.stack.push(Int(getgid()))
  call.stack.push(Int(getppid()))
  return 3
}

/// `set_id("user" | "group", number)`: of the whole process.
private func posixSetID(_ call: HostCall) throws {
  let number = UInt32(try call.stack.integer(2, "the number", in: 0...Int(UInt32.max)))
  if call.stack.string(1) == "user" {
    try call.check("setuid", setuid(number))
  } else {
    try call.check("setgid", setgid(number))
  }
}

/// `set_priority(pid, number)`: from -20 to 19; lower ones are served first.
private func posixSetPriority(_ call: HostCall) throws {
  let pid = id_t(try call.stack.integer(1, "the process", in: 0...Int(Int32.max)))
  let number = Int32(try call.stack.integer(2, "the priority", in: -20...19))
  let which = __priority_which_t(PRIO_PROCESS.rawValue)
  try call.check("setpriority", setpriority(which, pid, number))
}

/// `names(family, host, port)`: the names of a host and a service. Blocks: it is for workers.
private func posixNames(_ call: HostCall) throws -> Int32 {
  let isV6 = call.stack.string(1) == "inet6"
  let host = try call.systemText(2, "the host")
  let port = try call.stack.integer(3, "the port", in: 0...65535)
  var v4 = sockaddr_in()
  v4.sin_family = sa_family_t(AF_INET)
  v4.sin_port = in_port_t(port).bigEndian
  var v6 = sockaddr_in6()
  v6.sin6_family = sa_family_t(AF_INET6)
  v6.sin6_port = in_port_t(port).bigEndian
  let isAddress =
    isV6
    ? inet_pton(AF_INET6, host, &v6.sin6_addr) == 1 : inet_pton(AF_INET, host, &v4.sin_addr) == 1
  guard isAddress else { throw call.mistake("the host must be an address in figures") }
  let (code, name, service) =
    isV6 ? names(of: v6) : names(of: v4)
  if code != 0 { throw OperatingFailure(String(cString: gai_strerror(code)), word(of: code)) }
  call.stack.push(name)
  call.stack.push(service)
  return 2
}

private func names<Address>(of address: Address) -> (Int32, String, String) {
  var address = address
  var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
  var service = [CChar](repeating: 0, count: Int(NI_MAXSERV))
  let size = socklen_t(MemoryLayout<Address>.size)
  let code = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      getnameinfo(
        $0, size, &name, socklen_t(name.count), &service, socklen_t(service.count), 0)
    }
  }
  return (code, text(name), text(service))
}

private func text(_ bytes: [CChar]) -> String {
  String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

private func word(of code: Int32) -> String {
  switch code {
  case EAI_AGAIN: "EAI_AGAIN"
  case EAI_NONAME: "EAI_NONAME"
  case EAI_FAMILY: "EAI_FAMILY"
  case EAI_MEMORY: "EAI_MEMORY"
  default: "EAI_FAIL"
  }
}

/// `machine()`: such as "x86_64".
private func posixMachine(_ call: HostCall) throws -> some LuaPushable {
  var name = utsname()
  try call.check("uname", uname(&name))
  return withUnsafeBytes(of: &name.machine) {
    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
  }
}

/// `interfaces()`: lists by name of `{ family, ip, netmask, mac, internal }`.
private func posixInterfaces(_ call: HostCall) throws -> Int32 {
  var first: UnsafeMutablePointer<ifaddrs>?
  try call.check("getifaddrs", getifaddrs(&first))
  defer { freeifaddrs(first) }
  call.stack.newTable()
  var counts: [String: Int64] = [:]
  for entry in sequence(first: first, next: { $0?.pointee.ifa_next }).prefix(while: { $0 != nil }) {
    guard let one = entry?.pointee, let ip = address(one.ifa_addr) else { continue }
    let name = String(cString: one.ifa_name)
    let count = counts[name, default: 0] + 1
    counts[name] = count
    call.stack.push(name)
    if count == 1 {
      call.stack.newTable()
    } else {
      call.stack.push(name)
      _ = call.stack.rawGet(-3)
    }
    call.stack.newTable(fields: 5)
    call.stack.setField("ip", ip)
    call.stack.setField("netmask", address(one.ifa_netmask) ?? "")
    call.stack.setField("family", ip.contains(":") ? "inet6" : "inet")
    call.stack.setField("internal", one.ifa_flags & UInt32(IFF_LOOPBACK) != 0)
    call.stack.setField("mac", "00:00:00:00:00:00")
    call.stack.rawSet(-2, item: count)
    call.stack.rawSet(-3)
  }
  return 1
}

/// A numeric IP address; nil for others.
private func address(_ raw: UnsafeMutablePointer<sockaddr>?) -> String? {
  guard let raw else { return nil }
  let size: Int
  switch Int32(raw.pointee.sa_family) {
  case AF_INET: size = MemoryLayout<sockaddr_in>.size
  case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
  default: return nil
  }
  var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
  let code = getnameinfo(
    raw, socklen_t(size), &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
  return code == 0 ? text(host) : nil
}
