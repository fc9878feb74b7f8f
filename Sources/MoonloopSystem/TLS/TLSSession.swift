// One TLS connection, on bytes in memory: a stream feeds it what it reads, writes what it gives.

internal import CLinuxShims
package import MoonloopCore

/// Encrypts and decrypts the bytes of one stream. Loop thread only.
package final class TLSSession {
  /// Approximate bytes of one in the library, with its buffers.
  package static let footprint = 28 << 10

  private let session: OpaquePointer
  /// What its owner keeps with it.
  package var companion: AnyObject?
  private let context: TLSContext
  /// The handshake is done: bytes can be written.
  package private(set) var isReady = false
  /// A close_notify was sent: no more is written.
  private(set) var isFinished = false

  /// - Parameter host: What a client asks for, and what the certificate of the server must be for;
  ///   nil: any.
  package init(_ context: TLSContext, host: String?) throws(SystemError) {
    let made =
      if let host {
        host.withCString { cmx_tls_session_new(context.context, $0) }
      } else {
        cmx_tls_session_new(context.context, nil)
      }
    guard let made else { throw SystemError(call: "TLS", code: 12) }  // ENOMEM
    session = made
    self.context = context
  }

  deinit { cmx_tls_session_free(session) }

  /// Why it has failed, as text; empty if it has not.
  package var reason: String { String(cString: cmx_tls_reason(session)) }

  private func failure(_ result: Int) -> SystemError {
    SystemError(call: "TLS", code: Int32(truncatingIfNeeded: -result))
  }

  // MARK: Bytes of the connection

  /// Takes bytes that have come; none: no more come.
  func feed(_ bytes: UnsafeRawBufferPointer) {
    if bytes.isEmpty { return cmx_tls_feed_end(session) }
    cmx_tls_feed(session, bytes.baseAddress, bytes.count)
  }

  /// Returns what must be sent, as much as the buffer takes.
  func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    cmx_tls_take(session, buffer.baseAddress, buffer.count)
  }

  // MARK: Bytes of the user

  /// Goes on with the handshake.
  /// - Returns: Whether it is done; else it needs more bytes of the peer.
  func shake() throws(SystemError) -> Bool {
    let result = cmx_tls_shake(session)
    if result < 0 { throw failure(Int(result)) }
    isReady = result == 1
    return isReady
  }

  /// Decrypts what was fed: all of it, if the buffer is large enough.
  /// - Returns: How many bytes that are, and whether the peer has finished writing.
  func read(
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> (count: Int, isOver: Bool) {
    var isOver = false
    let count = cmx_tls_read(session, buffer.baseAddress, buffer.count, &isOver)
    if count < 0 { throw failure(count) }
    return (count, isOver)
  }

  /// Encrypts bytes: there is something to take.
  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    let result = cmx_tls_write(session, bytes.baseAddress, bytes.count)
    if result < 0 { throw failure(Int(result)) }
  }

  /// Ends writing: there is something to take, once.
  func finish() {
    if !isFinished { cmx_tls_finish(session) }
    isFinished = true
  }

  // MARK: Facts

  /// What was negotiated.
  package struct Facts {
    package var version = ""
    package var cipher = ""
    package var `protocol` = ""
    package var host = ""
    package var subject = ""
    package var pem = ""
  }

  package var facts: Facts {
    Facts(
      version: text(cmx_tls_fact_version), cipher: text(cmx_tls_fact_cipher),
      protocol: text(cmx_tls_fact_protocol), host: text(cmx_tls_fact_host),
      subject: text(cmx_tls_fact_subject), pem: text(cmx_tls_fact_pem))
  }

  private func text(_ fact: cmx_tls_fact) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 14) { buffer in
      let count = cmx_tls_fact(session, fact, buffer.baseAddress, buffer.count)
      return String(decoding: UnsafeRawBufferPointer(buffer).prefix(count), as: UTF8.self)
    }
  }
}
