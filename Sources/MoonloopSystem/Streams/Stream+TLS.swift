// Streams whose bytes are encrypted: what the kernel gives goes through a session, and what is
// written comes out of it.

package import MoonloopCore

extension Loop.Stream {
  /// How much ciphertext is read at once: 64 KiB in records. With what is left of one it fits into
  /// the loop's scratch when it is decrypted, so that nothing readable stays in the session.
  private static let sealedPortion = 66 << 10

  /// Goes on with the handshake as far as it can without waiting.
  /// - Returns: Whether it is done.
  /// - Throws: What is wrong with the peer, after an alert to it where that is possible.
  package func shake(
    _ tls: TLSSession, _ kernel: any Kernel, _ scratch: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Bool {
    do throws(SystemError) {
      while true {
        let isDone = try tls.shake()
        try sendTaken(tls, kernel)
        if isDone {
          readEarly(tls, scratch)
          return true
        }
        let count = try source.read(kernel, into: scratch.portion(Self.sealedPortion))
        state.bytesRead &+= UInt64(count)
        tls.feed(UnsafeRawBufferPointer(scratch.portion(count)))
      }
    } catch {
      if error.code == Errno.wouldBlock { return false }
      try? sendTaken(tls, kernel)  // The alert.
      throw error
    }
  }

  /// What came with the end of the handshake.
  private func readEarly(_ tls: TLSSession, _ scratch: UnsafeMutableRawBufferPointer) {
    state.isDrained = false
    switch decrypted(tls, into: scratch) {
    case .bytes(let count): keep(UnsafeRawBufferPointer(scratch.portion(count)))
    case .end, .nothingNow, .failed: break
    }
  }

  /// `fill` of a stream with TLS.
  func fill(
    _ kernel: any Kernel, _ buffer: UnsafeMutableRawBufferPointer, through tls: TLSSession
  ) -> Fill {
    while true {
      let portion = buffer.portion(Self.sealedPortion)
      do throws(SystemError) {
        let count = try source.read(kernel, into: portion)
        state.bytesRead &+= UInt64(count)
        state.isDrained = true
        tls.feed(UnsafeRawBufferPointer(buffer.portion(count)))
        let found = decrypted(tls, into: buffer)
        try? sendTaken(tls, kernel)  // An answer of the protocol's own, or an alert.
        if case .nothingNow = found, count == portion.count { continue }
        return found
      } catch {
        if error.code == Errno.wouldBlock {
          state.isDrained = true
          return .nothingNow
        }
        endReading(error)
        return .failed(error)
      }
    }
  }

  private func decrypted(_ tls: TLSSession, into buffer: UnsafeMutableRawBufferPointer) -> Fill {
    do throws(SystemError) {
      let (count, isOver) = try tls.read(into: buffer)
      if isOver { endReading() }
      if count > 0 { return .bytes(count) }
      return isOver ? .end : .nothingNow
    } catch {
      endReading(error)
      return .failed(error)
    }
  }

  /// `send` of a stream with TLS.
  func send(
    _ kernel: any Kernel, _ bytes: UnsafeRawBufferPointer, through tls: TLSSession
  ) throws(SystemError) {
    let isFirst = state.output.isEmpty
    var rest = bytes
    do throws(SystemError) {
      while !rest.isEmpty {
        let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.sealedPortion))
        try tls.write(part)
        try take(tls, about: part.count)
        rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
      }
    } catch {
      state.writeFailure = error
      throw error
    }
    if isFirst { try drain(kernel) }
  }

  /// Tells the peer that nothing more is written, once.
  package func finishTLS(_ kernel: any Kernel) {
    guard let tls, tls.isReady, state.writeFailure == nil else { return }
    tls.finish()
    try? sendTaken(tls, kernel)
  }

  private func sendTaken(_ tls: TLSSession, _ kernel: any Kernel) throws(SystemError) {
    let isFirst = state.output.isEmpty
    try take(tls)
    if isFirst { try drain(kernel) }
  }

  /// Queues what a session has to send.
  private func take(_ tls: TLSSession, about count: Int = 0) throws(SystemError) {
    let most = min(max(count + 64, 512), 1 << 15)
    var taken: Int?
    repeat { taken = state.output.append(atMost: most, { tls.take(into: $0) }) } while taken == most
    if taken == nil { throw writingBroke() }
  }

  /// Takes over the bytes that another stream has, which is then as new.
  package func takeOver(_ other: Loop.Stream) { swap(&state, &other.state) }
}

extension UnsafeMutableRawBufferPointer {
  /// Its beginning, at most so much.
  func portion(_ count: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: prefix(count))
  }
}
