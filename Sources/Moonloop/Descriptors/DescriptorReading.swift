// Reading from descriptors: available bytes, lines, everything; bytes read ahead are kept with
// the handle.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// The bytes read from a descriptor beyond what the script asked for. Loop thread only.
final class ReadAhead {
  var input = StreamInput()
  /// Counts what was read ahead as script memory.
  var charge: MemoryCharge?

  /// The buffer of a descriptor, made when first needed.
  static func of(_ source: Loop.DescriptorSource) -> ReadAhead {
    if let buffer = source.state(as: ReadAhead.self) { return buffer }
    let buffer = ReadAhead()
    source.maker.state = buffer
    return buffer
  }
}

/// `fd:read(format)`: a string; or nil, message, code: "EOF" at the end, "EAGAIN" if there is not
/// enough now. Never waits.
func descriptorRead(_ call: HostCall) throws -> Int32 {
  let handle = try call.selfHandle(call.kinds.fd)
  let format = try call.readFormat(2)
  try call.requireValid(handle)
  return try handle.withItem(as: Loop.DescriptorSource.self) { source in
    if case .some(let count) = format, count > 0, !source.hasMakerState {
      return try call.readDirectly(source, count)
    }
    return try call.read(source, ReadAhead.of(source), format)
  }
}

extension HostCall {
  fileprivate func readFormat(_ index: Int32) throws(ScriptMistake) -> StreamFormat {
    switch stack.type(index) {
    case .none, .nil: return .line(keepsNewline: false)
    case .number:
      if let count = stack.integer(index), count >= 0 { return .some(count) }
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
    let scratch = withRuntime { $0.loop.scratch }
    let part = UnsafeMutableRawBufferPointer(rebasing: scratch[0..<min(count, scratch.count)])
    let result = withLoop { loop in
      Result { () throws(SystemError) in try loop.read(source, into: part) }
    }
    switch result {
    case .failure(let error): throw failure(error, of: source)
    case .success(0):
      source.isAtEnd = true
      throw endOfFile
    case .success(let length):
      stack.push(bytes: UnsafeRawBufferPointer(rebasing: part[0..<length]))
      return 1
    }
  }

  fileprivate var endOfFile: OperatingFailure { OperatingFailure("end of file", "EOF") }

  /// Reads through the buffer, and informs the loop whether something is left in it.
  fileprivate func read(
    _ source: Loop.DescriptorSource, _ buffer: ReadAhead, _ format: StreamFormat
  ) throws -> Int32 {
    do {
      let results = try readBuffered(source, buffer, format)
      source.hasReadAhead = !buffer.input.isEmpty
      if buffer.charge != nil { state.count(buffer.input.count, in: &buffer.charge) }
      return results
    } catch let failure as OperatingFailure {
      // EAGAIN: the bytes are not enough, and only the kernel can deliver more.
      source.hasReadAhead = !buffer.input.isEmpty && failure.code != "EAGAIN"
      throw failure
    }
  }

  private func readBuffered(
    _ source: Loop.DescriptorSource, _ buffer: ReadAhead, _ format: StreamFormat
  ) throws -> Int32 {
    var isAtEnd = false
    while true {
      if try push(format, buffer, source, isAtEnd: isAtEnd) { return 1 }
      if isAtEnd { throw endOfFile }
      isAtEnd = try fill(buffer, source) == 0
    }
  }

  /// Pushes what the format asks for, if it is available.
  private func push(
    _ format: StreamFormat, _ buffer: ReadAhead, _ source: Loop.DescriptorSource, isAtEnd: Bool
  ) throws -> Bool {
    switch buffer.input.find(format, from: 0, isAtEnd: isAtEnd) {
    case .piece(let range, let next):
      // Taken before it is pushed, because pushing may run a finalizer of the script that also
      // reads.
      let held = buffer.input.hold()
      buffer.input.drop(next)
      held.withBytes { stack.push(bytes: UnsafeRawBufferPointer(rebasing: $0[range])) }
      return true
    case .tooLong(let next, let goesOn):
      let isLine = format != .all
      buffer.input.drop(next)
      buffer.input.isSkipping = goesOn && isLine
      throw tooLong(
        source, isLine ? "the line" : "what there is to read", buffer.input.limit(for: format))
    case .needsMore, .end, .malformed:
      if format == .some(0) {  // asks for nothing, and gets it
        stack.push("" as StaticString)
        return true
      }
      buffer.input.noteSearched()
      return false
    }
  }

  private func tooLong(
    _ source: Loop.DescriptorSource, _ what: String, _ limit: Int
  ) -> OperatingFailure {
    let label = source.name.isEmpty ? "descriptor \(source.fd)" : "fd '\(source.name)'"
    return OperatingFailure(
      "\(label): \(what) is longer than \(limit) bytes; it is dropped", "EMSGSIZE")
  }

  /// Gets more from the kernel.
  /// - Returns: 0 at the end of file.
  private func fill(_ buffer: ReadAhead, _ source: Loop.DescriptorSource) throws -> Int {
    let scratch = runtime.loop.scratch
    do throws(SystemError) {
      let length = try source.read(loop.kernel, into: scratch)
      if length == 0 { source.isAtEnd = true }
      let isKept = buffer.input.append(UnsafeRawBufferPointer(rebasing: scratch[0..<length]))
      if buffer.input.count > scratch.count { state.charge(buffer.input.count, to: &buffer.charge) }
      if !isKept {
        buffer.input.removeAll()
        throw SystemError(call: "read", code: Errno.noMemory)
      }
      return length
    } catch { throw failure(error, of: source) }
  }
}
