// What the test runner asks the system: folders, the time that passes outside of any loop, and what
// its output is.

internal import Glibc
internal import LuaEmbed
internal import MoonloopCore

/// The entries of `moonloop.testing.host` that do not concern loops.
let bedSystemEntries: [LuaEntry] = [
  .function("files") { host($0, $1, "", bedFiles) },
  .function("monotonic", bedMonotonic),
  // `errors()`: how many errors of handlers there were.
  .function("errors") { hostValue($0, $1, "errors") { $0.runtime.errors.count } },
  .function("is_terminal") { hostValue($0, $1, "is_terminal", bedIsTerminal) },
  .function("columns") { hostValue($0, $1, "columns", bedColumns) },
  .function("is_own_output") { host($0, $1, "is_own_output", bedIsOwnOutput) },
]

/// `files(path)`: what a folder holds, `{ name, kind }` each, in order of names.
private func bedFiles(_ call: HostCall) throws -> Int32 {
  let path = try call.systemText(1, "the folder")
  guard let folder = opendir(path) else {
    throw SystemError(call: "opendir '\(path)'", code: errno)
  }
  defer { closedir(folder) }
  var names: [String] = []
  while let entry = readdir(folder) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != "." && name != ".." { names.append(name) }
  }
  call.stack.push(list: names.sorted()) { name in
    call.stack.newTable(fields: 2)
    call.stack.setField("name", name)
    call.stack.setField("kind", kind(of: "\(path)/\(name)"))
  }
  return 1
}

/// A link that leads nowhere counts as a file, which cannot be opened; one to a folder is not
/// followed: it may lead back.
private func kind(of path: String) -> String {
  var status = stat()
  guard lstat(path, &status) == 0 else { return "other" }
  if status.st_mode & S_IFMT == S_IFLNK {
    return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG ? "file" : "other"
  }
  switch status.st_mode & S_IFMT {
  case S_IFREG: return "file"
  case S_IFDIR: return "directory"
  default: return "other"
  }
}

/// `monotonic()`: seconds that have passed since some moment, whatever any loop's clock says.
private let bedMonotonic: LuaRawFunction = { L, _ in
  LuaStack(L: L!).push(Double(RealTime.monotonic) / 1e9)
  return 1
}

/// `is_terminal(descriptor)`.
private func bedIsTerminal(_ call: HostCall) throws -> some LuaPushable {
  let fd = try call.stack.integer(1, "the descriptor", in: 0...Int(Int32.max))
  return isatty(Int32(fd)) == 1
}

/// `is_own_output(path)`: whether standard output or error goes into this file.
private func bedIsOwnOutput(_ call: HostCall) throws -> Int32 {
  var file = stat()
  let isThere = stat(try call.systemText(1, "the file"), &file) == 0
  let isOwn = [STDOUT_FILENO, STDERR_FILENO].contains { fd in
    var own = stat()
    return isThere && fstat(fd, &own) == 0 && own.st_ino == file.st_ino
      && own.st_dev == file.st_dev
  }
  call.stack.push(isOwn)
  return 1
}

/// `columns()`: how wide the terminal of the standard output is; nil if it is none.
private func bedColumns(_ call: HostCall) throws -> Int? {
  var size = winsize()
  let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
  return isKnown ? Int(size.ws_col) : nil
}
