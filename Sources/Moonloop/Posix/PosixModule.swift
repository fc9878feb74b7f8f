// `require "moonloop.posix"`: system calls by descriptor, one function each, for modules that
// provide another library's interface (see docs/compat.md). Only `wait` waits.

internal import Glibc
internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

let posixModule = LuaModule(
  "moonloop.posix",
  posixEntries + posixSocketEntries + posixSystemEntries + posixWaitEntries)

private let posixEntries: [LuaEntry] = [
  .function("read") { host($0, $1, "read", posixRead) },
  .function("write") { host($0, $1, "write", posixWrite) },
  .function("close") {
    hostDone($0, $1, "close") { try $0.check("close", Glibc.close(try $0.posixNumber())) }
  },
  .function("set_blocking") {
    hostDone($0, $1, "set_blocking") {
      try ChildDescriptors.setBlocking(try $0.posixNumber(), $0.stack.boolean(2))
    }
  },
  .function("access") { host($0, $1, "access", posixAccess) },
  .function("kind") { hostValue($0, $1, "kind", posixKind) },
  .function("is_ready") { hostValue($0, $1, "is_ready", posixIsReady) },
  .function("pipe") { host($0, $1, "pipe", posixPipe) },
  .function("socketpair") { host($0, $1, "socketpair", posixSocketPair) },
  // `file(call, ...)`: a call of `moonloop.files`, made here and now. Blocks until it is done.
  .function("file") { host($0, $1, "file") { Int32($0.stack.push(try $0.fileCall(1).run())) } },
  .function("blank") { host($0, $1, "blank", posixBlank) },
]

extension HostCall {
  /// The descriptor among the arguments.
  func posixNumber(_ index: Int32 = 1) throws(ScriptMistake) -> Int32 {
    Int32(try stack.integer(index, "the descriptor", in: 0...Int(Int32.max)))
  }

  /// The result of a system call: fails with errno if it is negative.
  @discardableResult
  func check<Value: SignedInteger>(
    _ call: StaticString, _ result: Value
  ) throws(SystemError) -> Value {
    if result < 0 { throw SystemError(call: "\(call)", code: errno) }
    return result
  }
}

/// A host function whose only result is success.
@inline(__always)
func hostDone(
  _ L: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ name: StaticString,
  _ body: (HostCall) throws -> Void
) -> Int32 {
  hostValue(L, context, name) { call in
    try body(call)
    return true
  }
}

/// Repeats a system call that a signal interrupted.
func again<Value: SignedInteger>(_ body: () -> Value) -> Value {
  while true {
    let result = body()
    if result >= 0 || errno != EINTR { return result }
  }
}

/// `read(fd, most)`: the bytes; an empty string at the end.
private func posixRead(_ call: HostCall) throws -> Int32 {
  let fd = try call.posixNumber()
  let scratch = call.runtime.loop.scratch
  let most = try call.stack.integer(2, "how many bytes", in: 0...Int.max)
  let count = again { Glibc.read(fd, scratch.baseAddress, min(most, scratch.count)) }
  try call.check("read", count)
  call.stack.push(bytes: UnsafeRawBufferPointer(rebasing: scratch[0..<count]))
  return 1
}

/// `write(fd, text [, from])`: how many bytes of the text were written, starting at a position.
private func posixWrite(_ call: HostCall) throws -> Int32 {
  let fd = try call.posixNumber()
  let from = call.count >= 3 ? try call.stack.integer(3, "the first byte", in: 1...Int.max) : 1
  let count = call.stack.withBytes(2) { bytes -> Int in
    let rest = UnsafeRawBufferPointer(rebasing: bytes[min(from - 1, bytes.count)...])
    return again { Glibc.write(fd, rest.baseAddress, rest.count) }
  }
  guard let count else { throw call.mistake("the text must be a string, got \(call.given(2))") }
  call.stack.push(try call.check("write", count))
  return 1
}

/// `access(fd)`: "r", "w" or "rw", as it was opened.
private func posixAccess(_ call: HostCall) throws -> Int32 {
  let flags = try call.check("fcntl", fcntl(try call.posixNumber(), F_GETFL))
  switch flags & O_ACCMODE {
  case O_RDONLY: call.stack.push("r" as StaticString)
  case O_WRONLY: call.stack.push("w" as StaticString)
  default: call.stack.push("rw" as StaticString)
  }
  return 1
}

/// `kind(fd)`: "file", "folder", "terminal", "pipe", "device", "unix", "tcp", "udp" or "unknown".
private func posixKind(_ call: HostCall) throws -> some LuaPushable {
  let fd = try call.posixNumber()
  var status = stat()
  try call.check("fstat", fstat(fd, &status))
  let kind: StaticString
  switch status.st_mode & S_IFMT {
  case S_IFREG: kind = "file"
  case S_IFDIR: kind = "folder"
  case S_IFIFO: kind = "pipe"
  case S_IFCHR: kind = isatty(fd) == 1 ? "terminal" : "device"
  case S_IFSOCK: kind = socketKind(fd)
  default: kind = "unknown"
  }
  return kind
}

private func socketKind(_ fd: Int32) -> StaticString {
  var type: Int32 = 0
  var size = socklen_t(MemoryLayout<Int32>.size)
  getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size)
  let isStream = type == Int32(SOCK_STREAM.rawValue)
  switch Sockets.name(of: fd)?.family {
  case .unix: return isStream ? "unix" : "unknown"
  case .inet, .inet6: return isStream ? "tcp" : "udp"
  case nil: return "unknown"
  }
}

/// `is_ready(fd, "r" | "w" | "d" | "p")`: whether it is ready now: to read, to write, to learn that
/// the peer has gone, to read urgent data.
private func posixIsReady(_ call: HostCall) throws -> some LuaPushable {
  let fd = try call.posixNumber()
  let event: Int32
  switch call.stack.string(2) {
  case "r": event = POLLIN | POLLHUP | POLLERR
  case "w": event = POLLOUT | POLLHUP | POLLERR
  case "d": event = 0x2000 | POLLHUP  // POLLRDHUP needs _GNU_SOURCE
  case "p": event = POLLPRI
  default: throw call.mistake("the event must be \"r\", \"w\", \"d\" or \"p\"")
  }
  let asked = Int16(event & ~(POLLHUP | POLLERR))
  var found: Int16 = 0
  let count = try call.check("poll", again { lookAt(fd, for: asked, found: &found) })
  return count > 0 && Int32(found) & event != 0
}

/// `pipe()`: the reading end and the writing end; both block.
private func posixPipe(_ call: HostCall) throws -> Int32 {
  let ends = try ChildDescriptors.pipe()
  call.stack.push(Int(ends.read))
  call.stack.push(Int(ends.write))
  return 2
}

/// `socketpair(isDatagram)`: two connected Unix sockets; both block.
private func posixSocketPair(_ call: HostCall) throws -> Int32 {
  let type = call.stack.boolean(1) ? SOCK_DGRAM : SOCK_STREAM
  var pair: [Int32] = [0, 0]
  let flags = Int32(SOCK_CLOEXEC.rawValue)
  try call.check("socketpair", socketpair(AF_UNIX, Int32(type.rawValue) | flags, 0, &pair))
  call.stack.push(Int(pair[0]))
  call.stack.push(Int(pair[1]))
  return 2
}

/// `blank()`: a userdata with room for one value; its module defines it with `debug`.
private func posixBlank(_ call: HostCall) throws -> Int32 {
  _ = call.runtime.kinds.blank.push(call.stack.L)
  return 1
}
