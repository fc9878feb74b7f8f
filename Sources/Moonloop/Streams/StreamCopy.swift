// `stream:copy_to`: one task reads from a stream and writes to another, as fast as the slower.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// One copy under way: the reader of one stream and the writer of the other. Loop thread only.
final class StreamCopy {
  private let from: ScriptStream
  private let to: ScriptStream
  private var way: Loop.Stream.Way
  /// How much is left to copy.
  private var left: Int
  private(set) var count = 0
  private(set) var failure: (stream: ScriptStream, error: SystemError)?
  private(set) var isOver = false

  /// How much one event copies at most, so that others get their turn.
  private static let turn = 1 << 20
  /// How much the kernel is asked to move at once.
  private static let portion = 1 << 18

  init(_ from: ScriptStream, _ to: ScriptStream, _ most: Int) {
    self.from = from
    self.to = to
    left = most
    way = from.bytes.way(to: to.bytes)
  }

  // MARK: Waiting

  /// Reserves both streams during the wait.
  func begin() {
    let reader = from.makeReader()
    let writer = to.makeWriter()
    reader.copy = self
    writer.copy = self
    writer.isActive = true
  }

  /// The modes of the wait have changed.
  func follow(_ modes: [ModeName]) { to.writer?.modes = modes }

  func release() {
    from.reader?.copy = nil
    guard let writer = to.writer, writer.copy === self else { return }
    writer.copy = nil
    writer.isPaused = false
    writer.isActive = false
    if writer.closed == nil { to.settleOrBreak() }
  }

  /// One of the streams is ready: copies what it can, and ends or waits for the next event.
  func goOn() {
    pump()
    if isOver, let reader = from.reader { from.runtime.answer(reader) }
  }

  /// One of the streams was closed, or the other side of one broke.
  func streamEnded(_ stream: ScriptStream) {
    if stream === from || isOver { return }
    failure = (stream, SystemError(call: "write", code: 125))  // ECANCELED
    isOver = true
    if let reader = from.reader { from.runtime.answer(reader) }
  }

  // MARK: Copying

  func pump() {
    var done = 0
    while !isOver, done < Self.turn {
      if to.state.output.count > to.state.outputLimit { return wait(reads: false) }
      if left == 0 {
        isOver = true
        return
      }
      guard let copied = step() else { return }
      done += copied
      count += copied
      left -= copied
    }
    if !isOver { wait(reads: true) }
  }

  /// - Returns: nil when it waits or is over.
  private func step() -> Int? {
    if !from.state.input.isEmpty { return takeBuffered() }
    if way != .buffer && to.state.output.isEmpty { return move() }
    return passThrough()
  }

  private func takeBuffered() -> Int? {
    let count = min(left, from.state.input.count)
    let sent = from.state.input.withBytes {
      send(UnsafeRawBufferPointer(rebasing: $0[0..<count]))
    }
    guard sent else { return nil }
    from.state.input.drop(count)
    from.countInput()
    return count
  }

  private func passThrough() -> Int? {
    let scratch = from.runtime.loop.scratch
    // With TLS everything that was decrypted is taken, wanted or not.
    let takesAll = from.bytes.tls != nil
    let count = takesAll ? scratch.count : min(left, scratch.count)
    let part = UnsafeMutableRawBufferPointer(rebasing: scratch[0..<count])
    switch from.bytes.fill(from.runtime.loop.kernel, part) {
    case .nothingNow: wait(reads: true)
    case .end: isOver = true
    case .failed(let error): fail(from, error)
    case .bytes(let count):
      let bytes = UnsafeRawBufferPointer(rebasing: part[0..<count])
      if takesAll {
        from.keep(bytes)
        return 0
      }
      if send(bytes) { return count }
    }
    return nil
  }

  private func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
    defer { to.chargeQueue() }
    do throws(SystemError) {
      try to.bytes.send(to.runtime.loop.kernel, bytes)
      return true
    } catch {
      fail(to, error)
      return false
    }
  }

  private func move() -> Int? {
    do throws(SystemError) {
      let count = try from.bytes.move(to: to.bytes, way, min(left, Self.portion))
      if count == 0 { isOver = true }
      return count == 0 ? nil : count
    } catch {
      switch error.name {
      case "EAGAIN":
        let kernel = from.runtime.loop.kernel
        wait(reads: way == .splice && !kernel.isReady(from.source.fd, for: .read))
      case "EINVAL", "ENOSYS":
        way = .buffer
        return 0
      case "EPIPE", "ECONNRESET":
        to.state.writeFailure = error
        fail(to, error)
      default: fail(from, error)
      }
      return nil
    }
  }

  private func fail(_ stream: ScriptStream, _ error: SystemError) {
    failure = (stream, error)
    isOver = true
  }

  /// Waits for one of the streams; the other is silent meanwhile.
  private func wait(reads: Bool) {
    guard let reader = from.reader, let writer = to.writer else { return }
    reader.isPaused = !reads
    writer.isPaused = reads && to.state.output.isEmpty
    from.settleOrBreak()
    to.settleOrBreak()
  }

  // MARK: The answer

  func push(on stack: LuaStack) -> Int {
    if let failure { return stack.push(failure.error, of: failure.stream) }
    stack.push(count)
    return 1
  }
}
