// The text of a worker's script, and its limits as scripts write them.

internal import Glibc
internal import LuaEmbed
internal import MoonloopCore

/// What a worker runs.
struct WorkerText {
  let bytes: [UInt8]
  let chunkName: String
  /// What the worker is called, unless it was given a name.
  let name: String

  init(source: [UInt8], name chunkName: String = "=worker") {
    bytes = source
    self.chunkName = chunkName
    name = ""
  }

  /// Reads a file: beside the script, as `require` does, else in the working directory.
  /// - Parameter path: Of `package.path`.
  init(file: String, searching path: String?) throws(SystemError) {
    let found = Self.find(file, path)
    bytes = Self.withoutMarks(try Self.read(found))
    chunkName = "@" + found
    name = String(file.split(separator: "/").last ?? "")
  }

  /// The same through the intake: a replay has the text of then.
  init(throughIntake file: String, searching path: String?) throws(SystemError) {
    var text: WorkerText?
    var failure: SystemError?
    let told = Intake.bytes {
      var writer = PackedWriter()
      do throws(SystemError) {
        let found = try WorkerText(file: file, searching: path)
        text = found
        writer.put(0)
        writer.put(found.bytes)
        writer.put(found.chunkName)
        writer.put(found.name)
      } catch {
        failure = error
        writer.put(Int(error.code))
        writer.put(error.call)
      }
      return writer.bytes
    }
    if let failure { throw failure }
    if let text {
      self = text
      return
    }
    let played = told.withUnsafeBytes { bytes in
      var reader = PackedReader(bytes)
      let code = Int32(clamping: reader.number())
      let content = Array(reader.content())
      return (code: code, content: content, chunkName: reader.text(), name: reader.text())
    }
    if played.code != 0 {
      throw SystemError(call: String(decoding: played.content, as: UTF8.self), code: played.code)
    }
    (bytes, chunkName, name) = (played.content, played.chunkName, played.name)
  }

  private static func find(_ file: String, _ path: String?) -> String {
    if ["/", "./", "../"].contains(where: file.hasPrefix) { return file }
    for template in (path ?? "").split(separator: ";") where template.hasSuffix("/?.lua") {
      let candidate = template.dropLast(5) + file
      if access(String(candidate), F_OK) == 0 {
        return candidate.hasPrefix("./") ? String(candidate.dropFirst(2)) : String(candidate)
      }
    }
    return file
  }

  /// More is no script: `/dev/zero` has no end.
  private static let sizeLimit = 16 << 20

  static func read(_ path: String) throws(SystemError) -> [UInt8] {
    let fd = open(path, O_RDONLY | O_CLOEXEC)
    if fd < 0 { throw SystemError(call: "open", code: errno) }
    defer { close(fd) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(fd, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      if count < 0 { throw SystemError(call: "read", code: errno) }
      if count == 0 { return bytes }
      bytes += buffer[0..<count]
      if bytes.count > sizeLimit { throw SystemError(call: "read", code: EFBIG) }
    }
  }

  /// After a byte order mark, and at the end of a first line with `#`.
  static func withoutMarks(_ bytes: [UInt8]) -> [UInt8] {
    var rest = bytes[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    if rest.first == UInt8(ascii: "#") { rest = rest.drop { $0 != UInt8(ascii: "\n") } }
    return Array(rest)
  }
}

extension Options {
  /// A number of bytes: a whole number, or a text such as "8M".
  func bytes(_ name: StaticString, atLeast least: Int) throws(ScriptMistake) -> Int? {
    let type = push(name)
    defer { call.stack.pop() }
    if type == .nil { return nil }
    let text = type == .string ? call.stack.string(-1) : nil
    let value = text.map(ByteCount.of) ?? call.stack.integer(-1)
    guard let value, value >= least else {
      throw call.mistake(
        "'\(name)' must be a size of at least \(least >> 20)M, such as \"64M\", got "
          + call.given(-1), hint: text.flatMap(ByteCount.better).map { "write \"\($0)\"" })
    }
    return value
  }
}
