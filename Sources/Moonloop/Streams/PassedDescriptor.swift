// A descriptor that waits until the socket it is sent through has room.

internal import MoonloopCore
internal import MoonloopSystem

/// A copy of a descriptor on its way to the peer of a Unix socket, with the bytes that go with it.
final class PassedDescriptor {
  private let descriptor: Descriptor
  private let bytes: [UInt8]
  /// Why it was not sent.
  private(set) var failure: SystemError?

  /// - Throws: Why the descriptor cannot be copied; the copy lets the script close its own.
  init(_ number: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    descriptor = try Descriptor(duplicateOf: number)
    self.bytes = Array(bytes)
  }

  /// Sends it as soon as everything written before is out.
  /// - Returns: Whether it has been sent, or never will be.
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
  /// Sends a descriptor with bytes, at least one; bytes that the kernel does not take are queued.
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
