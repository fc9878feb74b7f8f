// Input from other threads, as a recording keeps it: messages of workers and of named
// ports, replies, ends, errors, output.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopRecording
internal import MoonloopSystem

/// Room in a port that was full; without further data.
struct RoomNotice: Sendable {}

/// What a worker or a guest has written to a standard stream.
struct WorkerOutput: Sendable {
  let stream: Int32
  let bytes: [UInt8]

  func write() {
    if stream == 1 { return StandardStreams.print(bytes) }
    _ = try? StandardStreams.flushOutput()
    bytes.withUnsafeBytes(writeToStandardError)
  }
}

extension PortMessage: UnsentMessage {
  func forget() { reply?.forget() }
}

/// Writes and reads the messages of one state. Loop thread only.
final class TapedMessages: MessageTape {
  private let home: UInt64
  private let loop: Loop

  init(_ loop: Loop, home: UInt64) {
    self.loop = loop
    self.home = home
  }

  private enum Kind: Int {
    case message, notice, failure, returned, failed, stopped, reply, dropped, room, end, output,
      exited
  }

  func record(_ message: any Sendable, into writer: inout PackedWriter) -> any Sendable {
    var told = message
    func begin(_ kind: Kind) { writer.put(kind.rawValue) }
    switch message {
    case let answer as ReplyAnswer:
      switch answer {
      case .value(let value):
        begin(.reply)
        put(value, &writer)
      case .dropped, .failed: begin(.dropped)  // it comes from elsewhere
      }
    case let message as PortMessage:
      begin(.message)
      put(message.value, &writer)
      writer.put(message.reply != nil)
      writer.put(message.from != nil)
      if let from = message.from { put(from, &writer) }
      told = PortMessage(
        value: message.value, reply: message.reply.map(ReplyTicket.init(recording:)),
        from: message.from)
    case let notice as PortNotice:
      begin(.notice)
      writer.put(notice.text)
      writer.put(notice.code)
    case let notice as WorkerNotice: put(notice, &writer)
    case let end as PortEnd:
      begin(.end)
      put(end, &writer)
    case let output as WorkerOutput: put(output, &writer)
    default: begin(.room)
    }
    return told
  }

  private func put(_ output: WorkerOutput, _ writer: inout PackedWriter) {
    writer.put(Kind.output.rawValue)
    writer.put(Int(output.stream))
    writer.put(output.bytes)
  }

  private func put(_ notice: WorkerNotice, _ writer: inout PackedWriter) {
    func begin(_ kind: Kind) { writer.put(kind.rawValue) }
    switch notice {
    case .failed(let failure):
      begin(.failure)
      put(failure, &writer)
    case .wrote(let output): put(output, &writer)
    case .ended(.returned(let values)):
      begin(.returned)
      writer.put(values.count)
      for value in values { put(value, &writer) }
    case .ended(.failed(let failure)):
      begin(.failed)
      put(failure, &writer)
    case .ended(.stopped): begin(.stopped)
    case .ended(.exited(let status)):
      begin(.exited)
      writer.put(Int(status))
    }
  }

  func play(_ reader: inout PackedReader) -> any Sendable {
    switch Kind(rawValue: reader.number()) {
    case .message:
      let value = clone(&reader)
      let (hasReply, hasSender) = (reader.flag(), reader.flag())
      return PortMessage(
        value: value, reply: hasReply ? ReplyTicket(replaying: ()) : nil,
        from: hasSender ? right(&reader) : nil)
    case .notice: return PortNotice(text: reader.text(), code: reader.text())
    case .failure: return WorkerNotice.failed(failure(&reader))
    case .returned:
      return WorkerNotice.ended(
        .returned((0..<reader.count()).map { _ in clone(&reader) }))
    case .failed: return WorkerNotice.ended(.failed(failure(&reader)))
    case .stopped: return WorkerNotice.ended(.stopped)
    case .exited: return WorkerNotice.ended(.exited(Int32(clamping: reader.number())))
    case .reply: return ReplyAnswer.value(clone(&reader))
    case .dropped: return ReplyAnswer.dropped
    case .end: return end(&reader)
    case .output:
      return WorkerOutput(stream: Int32(clamping: reader.number()), bytes: Array(reader.content()))
    case .room, nil: return RoomNotice()
    }
  }

  // MARK: Values

  private enum Carried: Int { case own, foreign, descriptor, nothing }

  private func put(_ value: StructuredClone, _ writer: inout PackedWriter) {
    let value = value.thawed
    writer.put(value.header, value.bytes)
    writer.put(value.attachments.count)
    for attachment in value.attachments {
      switch attachment {
      case .port(let right): put(right, &writer)
      case .descriptor(let sent):
        writer.put(Carried.descriptor.rawValue)
        writer.put(Int(sent.fd))
      case .frozen: preconditionFailure("a frozen table would leave the process")
      }
    }
  }

  /// A replay only has the ports of this loop; for others it has their answers.
  private func put(_ right: PortRight, _ writer: inout PackedWriter) {
    if let arrivals = right.port.arrivals, arrivals.isOf(loop) {
      writer.put(Carried.own.rawValue)
      writer.put(arrivals.number)
      writer.put(right.home == home)
      return
    }
    right.port.noteForeign()
    writer.put(Carried.foreign.rawValue)
    writer.put(right.port.name)
    writer.put(right.port.capacity)
    writer.put(right.isForeign)
  }

  private func clone(_ reader: inout PackedReader) -> StructuredClone {
    let bytes = Array(reader.content())
    let attachments = (0..<reader.count()).map { _ in attachment(&reader) }
    return (try? StructuredClone(decoding: bytes, attachments: attachments))
      ?? StructuredClone([StructuredClone.Tag.nil], tables: 0, attachments: [])
  }

  private func attachment(_ reader: inout PackedReader) -> Attachment {
    switch Carried(rawValue: reader.number()) {
    case .descriptor:
      return .descriptor(SentDescriptor(Descriptor(owning: Int32(clamping: reader.number()))))
    case .own: return .port(own(&reader))
    default: return .port(foreign(&reader))
    }
  }

  private func right(_ reader: inout PackedReader) -> PortRight {
    if Carried(rawValue: reader.number()) == .own { return own(&reader) }
    return foreign(&reader)
  }

  private func own(_ reader: inout PackedReader) -> PortRight {
    let port = loop.port(arriving: reader.number()) ?? nobody()
    return PortRight(port, home: reader.flag() ? home : 0)
  }

  private func nobody() -> Loop.Port {
    let port = Loop.Port(name: "unknown", capacity: 1) { _, _ in }
    port.invalidate()
    return port
  }

  private func foreign(_ reader: inout PackedReader) -> PortRight {
    let port = Loop.Port(name: reader.text(), capacity: reader.number()) { _, _ in }
    port.noteForeign()
    return PortRight(port, home: 0, isForeign: reader.flag())
  }

  // MARK: Errors and ends

  private func put(_ failure: WorkerFailure, _ writer: inout PackedWriter) {
    writer.put(failure.kind.rawValue)
    writer.put(failure.message)
    writer.put(failure.bytes != nil)
    if let bytes = failure.bytes { writer.put(bytes) }
    writer.put(failure.code)
    writer.put(failure.traceback.count)
    for frame in failure.traceback {
      writer.put(frame.source)
      writer.put(frame.line)
      writer.put(frame.function)
      writer.put(frame.role)
    }
    writer.put(failure.value != nil)
    if let value = failure.value { put(value, &writer) }
  }

  private func failure(_ reader: inout PackedReader) -> WorkerFailure {
    let kind = LuaError.Kind(rawValue: reader.text()) ?? .runtime
    let (message, bytes) = (reader.text(), reader.flag() ? Array(reader.content()) : nil)
    let code = reader.optionalText()
    let traceback = (0..<reader.count()).map { _ in
      LuaError.Frame(
        source: reader.text(), line: reader.number(), function: reader.optionalText(),
        role: reader.text())
    }
    let error = LuaError(kind: kind, message: message, code: code, traceback: traceback)
    return WorkerFailure(error, bytes: bytes, value: reader.flag() ? clone(&reader) : nil)
  }

  private func put(_ end: PortEnd, _ writer: inout PackedWriter) {
    switch end {
    case .closed: writer.put(0)
    case .peerEnded: writer.put(1)
    case .failed(let text, let code):
      writer.put(2)
      writer.put(text)
      writer.put(code)
    }
  }

  private func end(_ reader: inout PackedReader) -> PortEnd {
    switch reader.number() {
    case 0: return .closed
    case 1: return .peerEnded
    default: return .failed(reader.text(), code: reader.text())
    }
  }
}

extension Intake {
  /// Does something that is not part of the recording, and may fail. A replay does not do it, but
  /// fails where that did.
  static func attempt(
    _ body: () throws(OperatingFailure) -> Void
  ) throws(OperatingFailure) {
    var failure: OperatingFailure?
    let told = bytes {
      do throws(OperatingFailure) { try body() } catch { failure = error }
      guard let failure else { return [] }
      var writer = PackedWriter()
      writer.put(failure.message)
      writer.put(failure.code)
      return writer.bytes
    }
    if let failure { throw failure }
    if told.isEmpty { return }
    throw told.withUnsafeBytes { bytes in
      var reader = PackedReader(bytes)
      return OperatingFailure(reader.text(), reader.text())
    }
  }
}
