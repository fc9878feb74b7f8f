// The handshake of a connection that no script has yet: of `ml.net.connect`, and of a listener.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// A connection on its way to be a stream with TLS. Loop thread only.
final class Handshake {
  /// What was negotiated, and the bytes that followed.
  let bytes: Loop.Stream
  private let tls: TLSSession
  private unowned(unsafe) let runtime: Runtime  // its holder ends it before the runtime
  /// Called once, with what went wrong, or nil.
  private var whenDone: ((OperatingFailure?) -> Void)?

  /// - Parameter fd: Closed by this, unless it is taken.
  init(
    _ runtime: Runtime, _ fd: Int32, _ tls: TLSSession,
    whenDone: @escaping (OperatingFailure?) -> Void
  ) {
    self.runtime = runtime
    self.tls = tls
    tls.companion = runtime.state.charge(TLSSession.footprint)
    self.whenDone = whenDone
    let door = HandshakeDoor()
    let source = Loop.DescriptorSource(
      fd, closesDescriptor: true, events: .read, reenabled: [.read, .write], name: "TLS handshake"
    ) { _, _ in door.handshake?.goOn() }
    source.isNonBlocking = true
    source.onFailure = { _, error in door.handshake?.fail(error) }
    bytes = Loop.Stream(source, canRead: true, canWrite: true)
    door.handshake = self
  }

  /// Begins it; the caller decides where it is served.
  func begin(_ add: (Loop.Item) throws(LoopError) -> Void) throws(LoopError) {
    do { try add(bytes.source) } catch {
      end()
      throw error
    }
    goOn()
  }

  private func goOn() {
    guard whenDone != nil else { return }
    let loop = runtime.loop
    do throws(SystemError) {
      try bytes.drain(loop.kernel)
      let isShaken = tls.isReady ? true : try bytes.shake(tls, loop.kernel, loop.scratch)
      if !bytes.storage.pointee.output.isEmpty { return bytes.source.enable(.write) }
      bytes.source.disable(.write)
      if isShaken { finish(nil) }
    } catch { fail(error) }
  }

  private func fail(_ error: SystemError) {
    let reason = error.call == "TLS" ? tls.reason : "\(error.message)"
    finish(OperatingFailure("TLS: \(reason) (\(error.name))", error.name))
  }

  private func finish(_ failure: OperatingFailure?) {
    let tell = whenDone
    whenDone = nil
    tell?(failure)
  }

  /// Gives up the descriptor, once it is done.
  func take() -> Int32 {
    let fd = bytes.source.releaseDescriptor()
    end()
    return fd
  }

  /// Gives the descriptor's stream what was negotiated, and the bytes that followed.
  func handOver(to stream: ScriptStream) {
    stream.bytes.takeOver(bytes)
    stream.bytes.tls = tls
  }

  /// Ends a connection that was refused, so that the peer gets the reason.
  func endGently(in modes: [ModeName]) {
    if bytes.source.isValid, bytes.storage.pointee.writeFailure == nil {
      runtime.linger(bytes.source, in: modes)
    }
    end()
  }

  /// Closes it.
  func end() {
    whenDone = nil
    bytes.source.invalidate()
  }
}

/// Called by the source of a handshake, which does not keep it.
private final class HandshakeDoor {
  weak var handshake: Handshake?
}
