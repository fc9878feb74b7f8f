// TLS on an existing stream: `stream:starttls`, and what was negotiated.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// `stream:starttls { host, … }` or `{ server = true, cert, … }`: the stream, once it is encrypted.
func streamStartTLS(_ call: HostCall) throws -> Int32 {
  let stream = try call.selfStream()
  guard stream.bytes.canRead, stream.bytes.canWrite else {
    throw call.mistake("\(stream.label) is one-way; TLS needs both directions")
  }
  if stream.bytes.tls != nil { throw call.mistake("\(stream.label) has TLS already") }
  try call.requireFreeReader(stream)
  try call.requireWritable(stream)
  _ = try call.requireWaiting()
  let timeout: Int64?
  do {
    let request = try call.startTLS(2)
    timeout = request.timeout ?? stream.readTimeout
    if !stream.state.input.isEmpty {
      let text = "\(stream.state.input.count) bytes have come before the handshake"
      throw OperatingFailure("\(stream.label): \(text)", "ETLS_PROTOCOL")
    }
    let session = try request.session()
    session.companion = call.state.charge(TLSSession.footprint)
    stream.bytes.tls = session
  } catch let failure as OperatingFailure {
    // Nothing goes on in the clear.
    stream.breakOff(SystemError(call: "TLS", code: Errno.cancelled))
    throw failure
  }
  let reader = stream.makeReader()
  call.stack.setCount(1)
  reader.shaken = LuaReference(popping: call.stack)
  if stream.shake() { return Int32(reader.pushShaken(on: call.stack)) }
  do { return try call.wait(reader, stream, timeout) } catch {
    reader.shaken = nil
    stream.breakOff(SystemError(call: "TLS", code: Errno.cancelled))
    throw error
  }
}

extension StreamReader {
  /// Pushes the outcome of a handshake: the stream, or why not.
  func pushShaken(on stack: LuaStack) -> Int {
    defer { shaken = nil }
    if let failure = stream.state.readFailure, !(stream.bytes.tls?.isReady ?? false) {
      return stack.push(failure, of: stream)
    }
    if let shaken { stack.push(shaken) } else { stack.pushNil() }
    return 1
  }
}

extension ScriptStream {
  /// Goes on with the handshake.
  /// - Returns: Whether it is over; then the stream is broken, or encrypted.
  func shake() -> Bool {
    guard let tls = bytes.tls else { return true }
    do throws(SystemError) {
      let isDone = try bytes.shake(tls, runtime.loop.kernel, runtime.loop.scratch)
      chargeQueue()
      return isDone
    } catch {
      breakOff(error)
      return true
    }
  }

  /// A handshake that fails or is given up leaves nothing to read or write.
  func breakOff(_ error: SystemError) {
    bytes.endReading(error)
    state.writeFailure = state.writeFailure ?? error
    state.output.removeAll()
    chargeQueue()
  }

  /// What failed, as text: messages of TLS say more than its code.
  func words(of error: SystemError) -> String {
    guard error.call == "TLS", let reason = bytes.tls?.reason, !reason.isEmpty else {
      return "\(error)"
    }
    return "TLS: \(reason) (\(error.name))"
  }
}

/// `stream.tls`: what was negotiated; nil without TLS.
func streamTLS(_ call: HostCall) throws -> Int32 {
  guard let tls = try call.selfStream().bytes.tls, tls.isReady else {
    call.stack.pushNil()
    return 1
  }
  let facts = tls.facts
  call.stack.newTable(fields: 6)
  for (name, value) in [
    ("version", facts.version), ("cipher", facts.cipher), ("alpn", facts.protocol),
    ("host", facts.host), ("subject", facts.subject), ("certificate", facts.pem),
  ] as [(StaticString, String)] where !value.isEmpty { call.stack.setField(name, value) }
  return 1
}
