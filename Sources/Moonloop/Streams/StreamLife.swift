// How a stream begins and ends, and what its descriptor's events do.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// The parameters of a new stream, for modules that make one from a descriptor.
struct StreamTraits {
  var name = ""
  var canRead = true
  var canWrite = true
  /// Whether the stream closes the descriptor.
  var closesDescriptor = true
  /// Where it is served when no task waits for it; nil: in the modes of the running code (D62).
  var modes: [ModeName]?
  /// The descriptor is known to be nonblocking, so that is not checked.
  var isNonBlocking = false
  /// It is a connection of this family with no other owner.
  var connection: SocketAddress.Family?
  /// Where the script made it; nil: at the present place.
  var madeAt: LuaPosition?

  init() {}
}

extension Runtime {
  /// Makes a stream on a descriptor, and pushes its handle. It is in no mode until a task waits
  /// for it; the script ends it, or the collector does when it is unreachable. [-0, +1]
  /// - Throws: `SystemError` if the descriptor is not open or a directory; it is then left open.
  func makeStream(
    _ fd: Int32, _ traits: StreamTraits, on stack: LuaStack
  ) throws(SystemError) -> ScriptStream {
    let kind = itemKinds[StreamKind.self]
    let source = Loop.DescriptorSource(
      fd, closesDescriptor: traits.closesDescriptor, events: [], reenabled: [.read, .write],
      name: traits.name, handler: kind.event)
    source.onFailure = kind.failure
    if traits.isNonBlocking {
      source.isNonBlocking = true
    } else {
      try source.inspect(loop.kernel)
    }
    loop.setKeepsAlive(source, false)
    let stream = ScriptStream(
      self, source, modes: traits.modes ?? loopContext.modes(of: current), canRead: traits.canRead,
      canWrite: traits.canWrite)
    stream.connection = traits.connection
    source.maker.state = stream
    kinds.stream.push(stack.L).hold(source)
    handles.note(
      source, of: kind, madeAt: traits.madeAt ?? stack.position, generation: generations.making)
    return stream
  }

  // MARK: Holding

  /// Closes a stream when what is queued is written, so that it arrives.
  func close(_ stream: ScriptStream) {
    if stream.closing != nil { return }
    stream.bytes.finishTLS(loop.kernel)
    guard !stream.state.output.isEmpty, stream.state.writeFailure == nil else {
      return endGently(stream)
    }
    stream.closing = StreamClosing(stream)
    stream.events = nil
    if let reader = stream.reader, reader.isBusy { tellOfClosing(reader, stream) }
    if let writer = stream.writer, writer.isBusy { tellOfClosing(writer, stream) }
    stream.settleOrBreak()
  }

  private func tellOfClosing(_ wait: StreamWait, _ stream: ScriptStream) {
    wait.closed = "\(stream.label) was closed meanwhile"
    if let task = wait.waiter { tasks.makeReady(task, .answer) }
  }

  /// Makes the loop hold the handle at an index: bytes are queued, or there is a handler.
  func hold(_ stream: ScriptStream, _ index: Int32, on stack: LuaStack) {
    guard stream.source.maker.ref == 0 else { return }
    stack.pushValue(index)
    stream.source.maker.ref = stack.popRef()
  }

  /// Lets only the script hold it again, if the loop need not.
  func letGoIfIdle(_ stream: ScriptStream) {
    let ref = stream.source.maker.ref
    guard ref > 0, stream.state.output.isEmpty, stream.events == nil else { return }
    stream.source.maker.ref = 0
    state.dropRef(ref)
  }

  // MARK: Answers

  /// What a task waits for has happened or failed: it goes on, now or in its next pass.
  func answer(_ wait: StreamWait) {
    guard let task = wait.waiter else { return }
    if !tasks.answerNow(task, push: { wait.push(on: $0) }) { tasks.makeReady(task, .answer) }
  }

  /// The stream has ended: waiting tasks get an error.
  func streamEnded(_ stream: ScriptStream) {
    let waits: [StreamWait] = [stream.reader, stream.writer].compactMap { $0 }
    for wait in waits where wait.isBusy {
      wait.copy?.streamEnded(stream)
      tellOfClosing(wait, stream)
    }
    stream.closing?.timer.invalidate()
    stream.closing = nil
    stream.events = nil
    stream.state.output.removeAll()
    stream.state.input.removeAll()
    stream.chargeQueue()
    stream.bytes.whenOver?()
    stream.bytes.whenOver = nil
    stream.lastReader = nil
    stream.tellOfEnd()
  }

  // MARK: Events

  /// The kernel reports a stream's descriptor as ready.
  func deliver(stream source: Loop.DescriptorSource, _ event: Loop.DescriptorSource.Events) {
    guard let stream = ScriptStream.of(source) else { return }
    if event == .read { readReady(stream) } else { writeReady(stream) }
  }

  private func readReady(_ stream: ScriptStream) {
    stream.state.isDrained = false
    if stream.isBeingRead, let reader = stream.heldReader {
      return reader._withUnsafeGuaranteedRef { advance($0, stream) }  // the caller holds the stream
    }
    if let events = stream.events { return events.readReady(stream, self) }
    stream.bytes.silence(.read)
  }

  /// Reads once, and resumes the task if that is enough.
  private func advance(_ reader: StreamReader, _ stream: ScriptStream) {
    if let copy = reader.copy {
      // While the copy waits for space, the other stream reports it.
      return reader.isPaused ? stream.bytes.silence(.read) : copy.goOn()
    }
    if reader.receives { return reader.receive() ? answer(reader) : () }
    if reader.shaken != nil { return stream.shake() ? answer(reader) : stream.settleOrBreak() }
    switch withLoop({ stream.bytes.fill(by: $0) }) {
    case .nothingNow: return
    case .end, .failed: break
    case .bytes(let count):
      let bytes = UnsafeRawBufferPointer(rebasing: withLoop { $0.scratch }[0..<count])
      if stream.state.input.isEmpty && !stream.state.input.isSkipping
        && reader.formats.others.isEmpty
      {
        if answerDirectly(reader, stream, bytes) { return }
      }
      stream.keep(bytes)
      if !reader.isBusy { return }
    }
    if stream.find(reader.formats) != nil { answer(reader) }
  }

  /// The usual case: what arrived is what was waited for, and goes to Lua without another copy.
  @inline(__always)
  private func answerDirectly(
    _ reader: StreamReader, _ stream: ScriptStream, _ bytes: UnsafeRawBufferPointer
  ) -> Bool {
    let format = reader.formats.first
    let found = format.find(
      in: bytes, from: 0, isAtEnd: false, limit: stream.state.input.limit(for: format))
    guard case .piece(_, let next) = found, let task = reader.waiter else { return false }
    return withTasks {
      $0.answerNow(task) { stack in
        if next < bytes.count {
          stream.bytes.keep(UnsafeRawBufferPointer(rebasing: bytes[next...]))
          stream.countInput()
        }
        reader.finish()
        return stream.push(found, format, bytes, on: stack)
      }
    }
  }

  private func writeReady(_ stream: ScriptStream) {
    defer { stream.chargeQueue() }
    do throws(SystemError) { try stream.bytes.drain(loop.kernel) } catch {
      if let closing = stream.closing { return closing.finish(stream) }
    }
    if stream.state.output.isEmpty {
      if let closing = stream.closing { return closing.finish(stream) }
      stream.finishShutdown()
      if !(stream.events?.wantsSpace ?? false) { stream.bytes.silence(.write) }
      letGoIfIdle(stream)
    }
    if let writer = stream.writer, writer.isBusy {
      if let copy = writer.copy { return copy.goOn() }
      if writer.isDone() { answer(writer) } else { stream.settleOrBreak() }
      return
    }
    if stream.state.output.isEmpty, let events = stream.events {
      return events.writeReady(stream, self)
    }
    stream.settleOrBreak()
  }
}

/// A stream that ends when what is queued is written, or the time for that is up.
final class StreamClosing {
  let timer: Loop.Timer

  /// How long the peer may take to read what is queued.
  static let limit = Duration.seconds(10)

  init(_ stream: ScriptStream) {
    let runtime = stream.runtime
    timer = runtime.loop.schedule(
      after: Self.limit, modes: stream.modes, name: "close \(stream.label)"
    ) { [weak stream] _ in
      if let stream { stream.closing?.finish(stream) }
    }
  }

  func finish(_ stream: ScriptStream) {
    timer.invalidate()
    stream.closing = nil
    stream.runtime.endGently(stream)
  }
}

extension ScriptStream {
  func tellOfEnd() {
    let tell = whenEnded
    whenEnded = nil
    tell?()
  }

  /// Shuts down the writing side if that was requested and everything is written.
  func finishShutdown() {
    guard state.isShut, state.output.isEmpty, closing == nil else { return }
    if !bytes.shutWriting() { runtime.end(source) }
  }
}
