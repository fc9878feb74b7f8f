// What streams pass on: bytes to another stream, descriptors to another process.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// `stream:copy_to(other [, n] [, { timeout }])`: how many bytes were copied.
func streamCopyTo(_ call: HostCall) throws -> Int32 {
  let from = try call.selfStream()
  guard from.bytes.canRead else { throw call.mistake("\(from.label) is for writing only") }
  var timeout: Int64?
  let last = try call.deadline(&timeout)
  let to = try call.stream(2)
  try call.requireWritable(to)
  try call.requireFreeReader(from)
  if from === to { throw call.mistake("\(from.label) cannot be copied to itself") }
  var most = Int.max
  if last >= 3, call.stack.type(3) != .nil {
    guard let count = call.stack.integer(3), count >= 0, call.stack.type(3) == .number else {
      throw call.mistake("the number of bytes must be a whole number >= 0, got \(call.given(3))")
    }
    most = count
  }
  _ = try call.requireWaiting()
  let copy = StreamCopy(from, to, most)
  copy.begin()
  copy.pump()
  call.runtime.hold(to, 2, on: call.stack)
  if copy.isOver {
    copy.release()
    call.runtime.letGoIfIdle(to)
    return Int32(copy.push(on: call.stack))
  }
  let reader = from.makeReader()
  do {
    let status = try call.wait(reader, from, timeout)
    copy.follow(reader.modes)
    to.settleOrBreak()
    return status
  } catch {
    copy.release()
    throw error
  }
}

extension HostCall {
  /// A stream that is an argument.
  fileprivate func stream(_ index: Int32) throws(ScriptMistake) -> ScriptStream {
    guard let handle = kinds.stream.handle(stack.L, index) else {
      throw mistake("takes a stream, got \(given(index))")
    }
    guard handle.word == 0, let stream = ScriptStream.of(handle) else {
      throw mistake("\(runtime.label(of: .item(handle.item))) is closed", hint: "open a new one")
    }
    return stream
  }

  /// A descriptor cannot go through TLS, and an encrypted stream cannot go to another process.
  fileprivate func requirePlain(_ stream: ScriptStream) throws(ScriptMistake) {
    guard stream.bytes.tls != nil else { return }
    throw mistake("\(stream.label) has TLS: it cannot carry descriptors, or be sent as one")
  }

  /// A descriptor: its number, or a stream that uses it.
  fileprivate func descriptor(_ index: Int32) throws(ScriptMistake) -> Int32 {
    if stack.type(index) == .number, let number = stack.integer(index),
      (0...Int(Int32.max)).contains(number)
    {
      return Int32(number)
    }
    if stack.type(index) == .userdata {
      let stream = try stream(index)
      try requirePlain(stream)
      stream.connection = nil  // the peer will have it too
      return stream.source.fd
    }
    throw mistake("takes the number of a descriptor or a stream, got \(given(index))")
  }
}

/// `stream:send_fd(fd [, data] [, { timeout }])`: the stream; the peer of a Unix socket gets a copy
/// of the descriptor.
func streamSendDescriptor(_ call: HostCall) throws -> Int32 {
  let stream = try call.selfStream()
  var timeout = stream.writeTimeout
  let last = try call.deadline(&timeout)
  try call.requireWritable(stream)
  try call.requirePlain(stream)
  let number = try call.descriptor(2)
  if last >= 3, call.stack.type(3) != .nil && call.stack.type(3) != .string {
    throw call.mistake("the data must be a string, got \(call.given(3))")
  }
  // At least one byte must go with it.
  let hasBytes = last >= 3 && call.stack.withBytes(3) { !$0.isEmpty } ?? false
  let passed: PassedDescriptor?
  do throws(SystemError) {
    let outcome =
      hasBytes ? call.stack.withBytes(3) { call.pass(number, $0, through: stream) } : nil
    passed = try
      (outcome
      ?? withUnsafeBytes(of: UInt8(0)) {
        call.pass(number, $0, through: stream)
      }).get()
  } catch {
    return Int32(call.stack.push(error, of: stream))
  }
  if let passed { return try call.wait(for: passed, through: stream, timeout) }
  return try call.finishWrite(stream, goal: stream.state.outputLimit, timeout)
}

extension HostCall {
  /// Sends a descriptor at once if there is room.
  /// - Returns: What has to wait for room.
  fileprivate func pass(
    _ number: Int32, _ data: UnsafeRawBufferPointer, through stream: ScriptStream
  ) -> Result<PassedDescriptor?, SystemError> {
    Result { () throws(SystemError) in
      if let failure = stream.state.writeFailure { throw failure }
      if stream.state.output.isEmpty, try stream.pass(number, data) { return nil }
      return try PassedDescriptor(number, data)
    }
  }

  /// Suspends the running code until a descriptor has been sent.
  fileprivate func wait(
    for passed: PassedDescriptor, through stream: ScriptStream, _ timeout: Int64?
  ) throws -> Int32 {
    _ = try requireWaiting()
    let writer = stream.makeWriter()
    stack.pushValue(1)
    writer.handle = LuaReference(popping: stack)
    writer.goal = stream.state.outputLimit
    writer.passed = passed
    do { return try wait(writer, stream, timeout) } catch {
      writer.passed = nil
      writer.handle = nil
      throw error
    }
  }
}

/// `stream:receive_fd([{ timeout }])`: the number of a descriptor, which then belongs to the
/// script, and the bytes that came with it.
func streamReceiveDescriptor(_ call: HostCall) throws -> Int32 {
  let stream = try call.selfStream()
  guard stream.bytes.canRead else { throw call.mistake("\(stream.label) is for writing only") }
  var timeout = stream.readTimeout
  _ = try call.deadline(&timeout)
  try call.requireFreeReader(stream)
  try call.requirePlain(stream)
  if !stream.state.input.isEmpty {
    throw call.mistake(
      "\(stream.label): \(stream.state.input.count) bytes were read ahead, and a descriptor"
        + " that came with them is lost", hint: "read the descriptor first")
  }
  let reader = stream.makeReader()
  reader.receives = true
  if reader.receive() { return Int32(reader.pushAnswer(on: call.stack)) }
  do { return try call.wait(reader, stream, timeout) } catch {
    reader.receives = false
    throw error
  }
}
