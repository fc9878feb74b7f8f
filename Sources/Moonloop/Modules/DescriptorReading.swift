// Reading from descriptors: bytes as they come, lines, everything; what was read ahead is kept with
// the handle.

internal import LuaEmbed
internal import MoonloopCore

/// What was read from a descriptor beyond what the script asked for. Loop thread only.
final class ReadAhead {
  private var bytes: [UInt8] = []
  private var head = 0
  /// Up to here no newline was found.
  private var searched = 0
  /// How long a line may be.
  var lineLimit = 1 << 20
  /// The rest of a line that was too long is dropped as it comes.
  var isSkipping = false

  /// How much `fd:read "a"` holds at most.
  static let allLimit = 64 << 20

  var count: Int { bytes.count - head }

  func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

  /// How many bytes the first line has, with its newline; nil if there is no whole line.
  func lineLength() -> Int? {
    let start = max(head, searched)
    let found = bytes.withUnsafeBytes { bytes -> Int? in
      guard start < bytes.count else { return nil }
      return bytes[start...].firstIndex(of: 10)
    }
    searched = found ?? bytes.count
    return found.map { $0 - head + 1 }
  }

  /// Hands out so many bytes from the front, and drops them and perhaps some more.
  func take<Result>(
    _ count: Int, dropping extra: Int = 0, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    let result = bytes.withUnsafeBytes {
      body(UnsafeRawBufferPointer(rebasing: $0[head..<(head + count)]))
    }
    head += count + extra
    if head == bytes.count {
      // A buffer that has grown large is not kept for a handle that may be idle for long.
      bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 16)
      head = 0
      searched = 0
    } else if head >= 1 << 16 && head * 2 > bytes.count {
      bytes.removeFirst(head)
      searched = max(0, searched - head)
      head = 0
    }
    return result
  }
}

extension Runtime {
  /// The read-ahead of a descriptor, made when first needed.
  func readAhead(of source: Loop.DescriptorSource) -> ReadAhead {
    if let buffer = source.maker.state as? ReadAhead { return buffer }
    let buffer = ReadAhead()
    source.maker.state = buffer
    return buffer
  }
}

/// What one read asks for, in the words of the io library.
private enum ReadFormat {
  case bytes(Int)
  case line(keepsNewline: Bool)
  case all
}

/// `fd:read(format)`: a string; or nil, message, code: "EOF" at the end, "EAGAIN" if there is not
/// enough now. Never waits.
let descriptorRead: LuaRawFunction = { L, context in
  host(L, context, "fd:read") { call in
    let (handle, source) = try call.selfDescriptor()
    let format = try call.readFormat(2)
    try call.requireValid(handle)
    let buffer = source.maker.state as? ReadAhead
    if case .bytes(let count) = format, count > 0, buffer == nil {
      return try call.readDirectly(source, count)
    }
    return try call.read(source, call.runtime.readAhead(of: source), format)
  }
}

extension HostCall {
  fileprivate func readFormat(_ index: Int32) throws(ScriptMistake) -> ReadFormat {
    switch stack.type(index) {
    case .none, .nil: return .line(keepsNewline: false)
    case .number:
      if let count = stack.integer(index), count >= 0 { return .bytes(count) }
      throw mistake("the number of bytes must be a whole number >= 0, got \(given(index))")
    case .string:
      switch stack.string(index) {
      case "l", "*l": return .line(keepsNewline: false)
      case "L", "*L": return .line(keepsNewline: true)
      case "a", "*a": return .all
      default: break
      }
    default: break
    }
    throw mistake(
      "unknown format \(given(index))", hint: "use a number of bytes, \"l\", \"L\" or \"a\"")
  }

  /// Bytes straight from the kernel: nothing was read ahead.
  @inline(__always)
  fileprivate func readDirectly(_ source: Loop.DescriptorSource, _ count: Int) throws -> Int32 {
    try withRuntime { runtime in
      let scratch = runtime.scratch
      let part = UnsafeMutableRawBufferPointer(rebasing: scratch[0..<min(count, scratch.count)])
      let length: Int
      do throws(SystemError) { length = try source.read(runtime.loop.kernel, into: part) } catch {
        throw failure(error, of: source)
      }
      if length == 0 { throw endOfFile }
      stack.push(bytes: UnsafeRawBufferPointer(rebasing: part[0..<length]))
      return 1
    }
  }

  fileprivate var endOfFile: OperatingFailure { OperatingFailure("end of file", "EOF") }

  /// Reads through the buffer, and tells the loop whether something is left in it.
  fileprivate func read(
    _ source: Loop.DescriptorSource, _ buffer: ReadAhead, _ format: ReadFormat
  ) throws -> Int32 {
    do {
      let results = try readBuffered(source, buffer, format)
      source.hasReadAhead = buffer.count > 0
      return results
    } catch let failure as OperatingFailure {
      // EAGAIN: what is there is not enough, and only the kernel can bring more.
      source.hasReadAhead = buffer.count > 0 && failure.code != "EAGAIN"
      throw failure
    }
  }

  private func readBuffered(
    _ source: Loop.DescriptorSource, _ buffer: ReadAhead, _ format: ReadFormat
  ) throws -> Int32 {
    var isAtEnd = false
    while true {
      if try push(format, buffer, source, isAtEnd: isAtEnd) { return 1 }
      if isAtEnd { throw endOfFile }
      isAtEnd = try fill(buffer, source) == 0
    }
  }

  /// Pushes what the format asks for, if it is there.
  private func push(
    _ format: ReadFormat, _ buffer: ReadAhead, _ source: Loop.DescriptorSource, isAtEnd: Bool
  ) throws -> Bool {
    switch format {
    case .bytes(let count):
      if buffer.count == 0 { return false }
      buffer.take(min(count, buffer.count)) { stack.push(bytes: $0) }
    case .all:
      if !isAtEnd {
        if buffer.count <= ReadAhead.allLimit { return false }
        buffer.take(buffer.count) { _ in }
        throw tooLong(source, "what there is to read", ReadAhead.allLimit)
      }
      buffer.take(buffer.count) { stack.push(bytes: $0) }
    case .line(let keepsNewline): return try pushLine(buffer, source, isAtEnd, keepsNewline)
    }
    return true
  }

  private func pushLine(
    _ buffer: ReadAhead, _ source: Loop.DescriptorSource, _ isAtEnd: Bool, _ keepsNewline: Bool
  ) throws -> Bool {
    if buffer.isSkipping {
      buffer.isSkipping = buffer.lineLength() == nil && !isAtEnd
      buffer.take(buffer.lineLength() ?? buffer.count) { _ in }
    }
    if let length = buffer.lineLength() {
      if length - 1 > buffer.lineLimit {
        buffer.take(length) { _ in }
        throw tooLong(source, "the line", buffer.lineLimit)
      }
      let newline = keepsNewline ? 0 : 1
      buffer.take(length - newline, dropping: newline) { stack.push(bytes: $0) }
      return true
    }
    if buffer.count > buffer.lineLimit {
      buffer.take(buffer.count) { _ in }
      buffer.isSkipping = !isAtEnd
      throw tooLong(source, "the line", buffer.lineLimit)
    }
    if !isAtEnd || buffer.count == 0 { return false }
    buffer.take(buffer.count) { stack.push(bytes: $0) }
    return true
  }

  private func tooLong(
    _ source: Loop.DescriptorSource, _ what: String, _ limit: Int
  ) -> OperatingFailure {
    let label = source.name.isEmpty ? "descriptor \(source.fd)" : "fd '\(source.name)'"
    return OperatingFailure(
      "\(label): \(what) is longer than \(limit) bytes; it is dropped", "EMSGSIZE")
  }

  /// Brings more from the kernel.
  /// - Returns: 0 at the end of file.
  private func fill(_ buffer: ReadAhead, _ source: Loop.DescriptorSource) throws -> Int {
    let scratch = runtime.scratch
    do throws(SystemError) {
      let length = try source.read(loop.kernel, into: scratch)
      buffer.append(UnsafeRawBufferPointer(rebasing: scratch[0..<length]))
      return length
    } catch { throw failure(error, of: source) }
  }
}
