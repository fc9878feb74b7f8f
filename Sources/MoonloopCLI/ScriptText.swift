// Reads the text of a script and prepares it for Lua.

internal import Glibc
internal import Synchronization

/// A script that cannot be read or is not text.
struct ScriptFailure: Error {
  let message: String
  let status: Int32
}

/// The bytes of a script, owned.
final class ScriptText {
  private let buffer: UnsafeMutableRawBufferPointer
  private var begin: Int
  private let end: Int
  /// Its chunk name in Lua: `@file.lua`, `=stdin`.
  let name: String

  /// - Throws: `ScriptFailure`.
  init(_ source: ScriptSource) throws(ScriptFailure) {
    switch source {
    case .chunk(let text):
      name = "=(command line)"
      end = strlen(text)
      buffer = .allocate(byteCount: max(end, 1), alignment: 1)
      buffer.copyMemory(from: UnsafeRawBufferPointer(start: text, count: end))
      begin = 0
    case .nothing:
      name = "=(command line)"
      buffer = .allocate(byteCount: 1, alignment: 1)
      begin = 0
      end = 0
    case .standardInput:
      name = "=stdin"
      (buffer, end) = try readAll(0, "standard input")
      begin = 0
      begin = try skipMarks("standard input")
    case .file(let path):
      let shown = String(cString: path)
      name = "@" + shown
      let fd = open(path, O_RDONLY | O_CLOEXEC)
      if fd < 0 { throw failure(shown, errno) }
      defer { close(fd) }
      (buffer, end) = try readAll(fd, shown)
      begin = 0
      begin = try skipMarks(shown)
    }
  }

  /// A text that was already read.
  init(_ bytes: UnsafeRawBufferPointer, name: String) {
    self.name = name
    buffer = .allocate(byteCount: max(bytes.count, 1), alignment: 1)
    buffer.copyMemory(from: bytes)
    begin = 0
    end = bytes.count
  }

  deinit { buffer.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[begin..<end]) }

  /// Where Lua starts: after a byte order mark, and at the end of a first line with `#`, so that
  /// line numbers stay right.
  private func skipMarks(_ shown: String) throws(ScriptFailure) -> Int {
    var at = buffer[..<end].starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    if at < end && buffer[at] == UInt8(ascii: "#") {
      at = buffer[at..<end].firstIndex(of: UInt8(ascii: "\n")) ?? end
    }
    if at < end && buffer[at] == 0x1B {
      throw ScriptFailure(
        message: "\(shown): this is a compiled (binary) chunk; run the source text",
        status: ExitStatus.failure)
    }
    return at
  }
}

private func failure(_ shown: String, _ code: Int32) -> ScriptFailure {
  ScriptFailure(
    message: "cannot read \(shown): \(String(cString: strerror(code)))", status: ExitStatus.usage)
}

/// The largest text that `load` takes, too; of recordings, those whose size is known may be larger.
private let sizeLimit = 256 << 20

/// Reads a descriptor to its end.
private func readAll(
  _ fd: Int32, _ shown: String, hasSizeLimit: Bool = true
) throws(ScriptFailure) -> (UnsafeMutableRawBufferPointer, Int) {
  var status = stat()
  let isRegular = fstat(fd, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  let limit = isRegular && !hasSizeLimit ? Int.max : sizeLimit
  if isRegular && status.st_size > limit { throw failure(shown, EFBIG) }
  // One byte more, so that the read that finds the end has room.
  var capacity = isRegular && status.st_size > 0 ? Int(status.st_size) + 1 : 65536
  var base = malloc(capacity)
  var count = 0
  while let present = base {
    let got = read(fd, present + count, capacity - count)
    if got < 0 && errno == EINTR { continue }
    if got < 0 {
      let code = errno
      free(present)
      throw failure(shown, code)
    }
    if got == 0 { return (UnsafeMutableRawBufferPointer(start: present, count: capacity), count) }
    count += got
    if count > limit {
      free(present)
      throw failure(shown, EFBIG)
    }
    if count == capacity {
      capacity *= 2
      base = realloc(present, capacity)
      if base == nil { free(present) }
    }
  }
  throw failure(shown, ENOMEM)
}

/// A file that stays in memory until the program ends.
struct WholeFile {
  /// Keeps their addresses, so that leak checkers see them as used.
  private static let kept = Mutex<[UInt]>([])
  let bytes: UnsafeRawBufferPointer

  init(_ path: UnsafePointer<CChar>) throws(ScriptFailure) {
    let shown = String(cString: path)
    let fd = open(path, O_RDONLY | O_CLOEXEC)
    if fd < 0 { throw failure(shown, errno) }
    defer { close(fd) }
    let (buffer, count) = try readAll(fd, shown, hasSizeLimit: false)
    bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
    Self.kept.withLock { $0.append(UInt(bitPattern: buffer.baseAddress)) }
  }
}
