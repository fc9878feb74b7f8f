// A descriptor that waits until the socket that it goes through has room.

internal import MoonloopCore
internal import MoonloopSystem

/// A copy of a descriptor on its way to the peer of a Unix socket, with the bytes that go with it.
final class PassedDescriptor {
  private let descriptor: Descriptor
  private let bytes: [UInt8]
  /// Why it did not go.
  private(set) var failure: SystemError?

  /// - Throws: What keeps the descriptor from being copied: the script may close its own.
  init(_ number: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    descriptor = try Descriptor(duplicateOf: number)
    self.bytes = Array(bytes)
  }

  /// Goes as soon as all that was written before is gone.
  /// - Returns: Whether it has gone, or never will.
  func go(through stream: ScriptStream) -> Bool {
    if let broken = stream.state.writeFailure {
      failure = broken
      return true
    }
    if !stream.state.output.isEmpty { return false }
    do throws(SystemError) {
      let gone = bytes.withUnsafeBytes { bytes in
        Result { () throws(SystemError) in try stream.pass(descriptor.number, bytes) }
      }
      return try gone.get()
    } catch {
      failure = error
      return true
    }
  }
}

extension ScriptStream {
  /// Sends a descriptor with bytes, at least one; what the kernel does not take of these is queued.
  /// - Returns: false if there is no room now.
  func pass(_ number: Int32, _ data: UnsafeRawBufferPointer) throws(SystemError) -> Bool {
    do throws(SystemError) {
      let sent = try Sockets.send(source.fd, data, with: number)
      state.bytesWritten &+= UInt64(sent)
      try bytes.send(runtime.loop.kernel, UnsafeRawBufferPointer(rebasing: data[sent...]))
      chargeQueue()
      return true
    } catch {
      if error.name == "EAGAIN" { return false }
      throw error
    }
  }
}
