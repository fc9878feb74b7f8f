// What tests of real programs need of the system: folders of their own, and ports.

internal import Glibc
internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// The entries of `moonloop.testing.host` for what a test makes and asks for.
let bedToolEntries: [LuaEntry] = [
  .function("make_folder") { hostValue($0, $1, "", bedMakeFolder) },
  .function("make_folders") { hostValue($0, $1, "", bedMakeFolders) },
  .function("write_file") { hostValue($0, $1, "", bedWriteFile) },
  .function("remove_folder") { hostValue($0, $1, "", bedRemoveFolder) },
  .function("working_folder") { hostValue($0, $1, "", bedWorkingFolder) },
  .function("set_working_folder") { host($0, $1, "set_working_folder", bedSetWorkingFolder) },
  .function("free_port") { host($0, $1, "", bedFreePort) },
  .function("is_listening") { hostValue($0, $1, "", bedIsListening) },
  .function("pipe") { host($0, $1, "pipe", bedPipe) },
  // `close(descriptor)`.
  .function("close") {
    hostAction($0, $1, "close") {
      _ = close(Int32(try $0.stack.integer(1, "the descriptor", in: 0...Int(Int32.max))))
    }
  },
  .function("write") { hostValue($0, $1, "write", bedWrite) },
  .function("open") { hostValue($0, $1, "open", bedOpen) },
]

/// `make_folder(parent or nil)`: the path of a new, empty folder, else among the temporary ones.
private func bedMakeFolder(_ call: HostCall) throws -> some LuaPushable {
  let temporary = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  let parent = call.stack.string(1) ?? temporary
  var template = Array("\(parent)/moonloop-XXXXXX".utf8CString)
  let made = template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) != nil }
  if !made { throw SystemError(call: "mkdtemp in '\(parent)'", code: errno) }
  return template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
}

/// `set_working_folder(path)`: true; or nil and why not.
private func bedSetWorkingFolder(_ call: HostCall) throws -> Int32 {
  let path = try call.systemText(1, "the folder")
  if chdir(path) == 0 {
    call.stack.push(true)
    return 1
  }
  call.stack.pushNil()
  call.stack.push(String(cString: strerror(errno)))
  return 2
}

/// `make_folders(path)`: makes a folder and those it is in, where they are missing.
private func bedMakeFolders(_ call: HostCall) throws -> some LuaPushable {
  let path = try call.systemText(1, "the folder")
  var end = path.startIndex
  while end < path.endIndex {
    end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
    let part = String(path[..<end])
    if mkdir(part, 0o777) != 0 && errno != EEXIST {
      throw SystemError(call: "mkdir '\(part)'", code: errno)
    }
  }
  return true
}

/// `write_file(path, text)`: a new file takes the place of the old one once all of it is written: a
/// full disk leaves the old one. What is no plain file is written to.
private func bedWriteFile(_ call: HostCall) throws -> some LuaPushable {
  let path = try call.systemText(1, "the file")
  let text = FileValue.bytes(call.stack.withBytes(2) { Array($0) } ?? [])
  var status = stat()
  let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
  let target = realpath(path, nil)
  defer { free(target) }
  let name = FileValue.bytes(Array((target.map { String(cString: $0) } ?? path).utf8))
  let made =
    isSpecial
    ? FileCall("store", [name, text, .number(0), .number(0), .number(0)])
    : FileCall("replace", [name, text, .number(-1)])
  do { _ = try made.run().get() } catch {
    throw SystemError(call: "write '\(path)'", code: error.code)
  }
  return true
}

/// `working_folder()`: the path of the folder that relative paths begin in.
private func bedWorkingFolder(_ call: HostCall) throws -> some LuaPushable {
  guard let path = getcwd(nil, 0) else { throw SystemError(call: "getcwd", code: errno) }
  defer { free(path) }
  return String(cString: path)
}

/// `remove_folder(path)`: removes a folder and its contents; links are not followed.
private func bedRemoveFolder(_ call: HostCall) throws -> some LuaPushable {
  let path = try call.systemText(1, "the folder")
  if let failure = remove(path, in: AT_FDCWD) { throw failure }
  return true
}

/// - Returns: What could not be removed, and why; everything else has been removed all the same.
private func remove(_ name: String, in folder: Int32) -> SystemError? {
  if unlinkat(folder, name, 0) == 0 || errno == ENOENT { return nil }
  guard errno == EISDIR || errno == EPERM else {
    return SystemError(call: "unlinkat '\(name)'", code: errno)
  }
  let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
  let opened = openat(folder, name, flags)
  guard opened >= 0, let entries = fdopendir(opened) else {
    let failure = SystemError(call: "openat '\(name)'", code: errno)
    if opened >= 0 { close(opened) }
    return failure
  }
  var failure: SystemError?
  while let entry = readdir(entries) {
    let inner = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if inner != "." && inner != ".." { failure = remove(inner, in: opened) ?? failure }
  }
  closedir(entries)
  if unlinkat(folder, name, AT_REMOVEDIR) == 0 { return failure }
  return failure ?? SystemError(call: "unlinkat '\(name)'", code: errno)
}

// MARK: Ports

/// Calls a function with a new TCP socket and an address of this machine.
private func withSocket<Result>(
  port: UInt16, _ body: (Int32, UnsafeMutablePointer<sockaddr>) -> Result
) throws -> Result {
  let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  if fd < 0 { throw SystemError(call: "socket", code: errno) }
  defer { close(fd) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
  return withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body(fd, $0) }
  }
}

private let addressSize = socklen_t(MemoryLayout<sockaddr_in>.size)

/// `free_port()`: a TCP port of 127.0.0.1 that was free a moment ago, and that no run of tests on
/// this machine has been given lately.
private func bedFreePort(_ call: HostCall) throws -> Int32 {
  let bed = try call.requireBed()
  for _ in 0..<1000 {
    let port = try unboundPort()
    guard let reservation = try reserve(port) else { continue }
    bed.hold(reservation)
    call.stack.push(Int(port))
    return 1
  }
  throw SystemError(call: "bind", code: EADDRINUSE)
}

private func unboundPort() throws -> UInt16 {
  let port = try withSocket(port: 0) { fd, address -> UInt16? in
    var size = addressSize
    guard bind(fd, address, size) == 0, getsockname(fd, address, &size) == 0 else { return nil }
    return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
      UInt16(bigEndian: $0.pointee.sin_port)
    }
  }
  guard let port else { throw SystemError(call: "bind", code: errno) }
  return port
}

/// Binds an abstract name that stands for a port: other processes see it, and it ends with us.
/// - Returns: The descriptor that holds it; nil if the port has been given already.
private func reserve(_ port: UInt16) throws -> Int32? {
  let fd = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  if fd < 0 { throw SystemError(call: "socket", code: errno) }
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let name = [0] + Array("moonloop/port/\(port)".utf8)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
  let size = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + name.count
  let isBound = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(fd, $0, socklen_t(size)) == 0 }
  }
  if isBound { return fd }
  let code = errno
  close(fd)
  if code == EADDRINUSE { return nil }
  throw SystemError(call: "bind", code: code)
}

/// `is_listening(port, is_ipv6)`: whether a connection to a port of 127.0.0.1, or of ::1, would be
/// accepted. On the same machine that is known at once, so nothing waits here.
private func bedIsListening(_ call: HostCall) throws -> some LuaPushable {
  let port = UInt16(try call.stack.integer(1, "the port", in: 1...65535))
  if call.stack.boolean(2) { return isListeningOnIPv6(port) }
  if let isListed = isListed(port) { return isListed }
  return try withSocket(port: port) { fd, address in connect(fd, address, addressSize) == 0 }
}

/// Whether the system knows of a listener: a connection would be one that the program gets.
/// - Returns: nil if the system does not say.
private func isListed(_ port: UInt16) -> Bool? {
  let digits = String(port, radix: 16, uppercase: true)
  let end = ":" + String(repeating: "0", count: 4 - digits.count) + digits
  let zeros = String(repeating: "0", count: 16)
  let addresses = ["0100007F", "00000000", zeros + zeros, zeros + "FFFF00000100007F"]
  let wanted = addresses.map { $0 + end }
  var answer: Bool?
  for table in ["tcp", "tcp6"] where answer != true {
    guard let file = fopen("/proc/net/\(table)", "re") else { continue }
    defer { fclose(file) }
    answer = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { line in
      while let text = fgets(line.baseAddress!, 512, file) {
        let fields = String(cString: text).split(separator: " ", maxSplits: 4)
        if fields.count > 3, fields[3] == "0A", wanted.contains(String(fields[1])) { return true }
      }
      return false
    }
  }
  return answer
}

private func isListeningOnIPv6(_ port: UInt16) -> Bool {
  let fd = socket(AF_INET6, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  if fd < 0 { return false }
  defer { close(fd) }
  var address = sockaddr_in6()
  address.sin6_family = sa_family_t(AF_INET6)
  address.sin6_port = port.bigEndian
  address.sin6_addr = in6addr_loopback
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
    }
  }
}

// MARK: Descriptors: for the tests of our own scripts, which hand them to the loop

/// `pipe()`: the descriptors of a new pipe, to read from and to write to; neither blocks.
private func bedPipe(_ call: HostCall) throws -> Int32 {
  var ends: [Int32] = [0, 0]
  if pipe(&ends) != 0 { throw SystemError(call: "pipe", code: errno) }
  for end in ends {
    _ = fcntl(end, F_SETFL, O_NONBLOCK)
    _ = fcntl(end, F_SETFD, FD_CLOEXEC)
  }
  call.stack.push(Int(ends[0]))
  call.stack.push(Int(ends[1]))
  return 2
}

/// `write(descriptor, text)`: past the loop; what does not fit is dropped.
private func bedWrite(_ call: HostCall) throws -> some LuaPushable {
  let fd = try call.stack.integer(1, "the descriptor", in: 0...Int(Int32.max))
  let text = try call.string(2, "the text")
  return write(Int32(fd), text, text.utf8.count)
}

/// `open(path)`: a descriptor to read a file by.
private func bedOpen(_ call: HostCall) throws -> some LuaPushable {
  let path = try call.systemText(1, "the file")
  let fd = open(path, O_RDONLY | O_CLOEXEC)
  if fd < 0 { throw SystemError(call: "open '\(path)'", code: errno) }
  return Int(fd)
}
