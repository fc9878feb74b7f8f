// Answers of the resolver as bytes: on a thread with an intake they arrive through a pipe.

internal import CLinuxShims

extension Resolver {
  /// Sends an answer into a pipe and closes its end. The resolver's thread.
  package static func send(_ answer: Answer, to end: Int32) {
    encode(answer).withUnsafeBytes { cmx_write_all(end, $0.baseAddress, $0.count) }
    cmx_close(end)
  }

  private static func encode(_ answer: Answer) -> [UInt8] {
    switch answer {
    case .success(let addresses):
      return addresses.reduce(into: [0]) { bytes, address in
        withUnsafeBytes(of: address.raw) { bytes.append(contentsOf: $0) }
      }
    case .failure(let failure):
      return [1] + Array(failure.code.utf8) + [0] + Array(failure.message.utf8)
    }
  }

  /// The answer that was sent.
  package static func decode(_ bytes: [UInt8]) -> Answer {
    let size = MemoryLayout<cmx_address>.size
    if bytes.first == 0 {
      return .success(
        stride(from: 1, to: bytes.count - size + 1, by: size).map { at in
          bytes.withUnsafeBytes {
            SocketAddress(raw: $0.loadUnaligned(fromByteOffset: at, as: cmx_address.self))
          }
        })
    }
    let parts = bytes.dropFirst().split(
      separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      return .failure(Failure(code: "EAI_AGAIN", message: "the answer was lost"))
    }
    return .failure(
      Failure(
        code: String(decoding: parts[0], as: UTF8.self),
        message: String(decoding: parts[1], as: UTF8.self)))
  }
}
