// Resolves names off the loops: the C library's resolver blocks, so it runs on its own threads.

internal import CLinuxShims
internal import MoonloopCore

/// Resolves names on a few threads, for all loops of the process. Any thread.
package final class Resolver: Sendable {
  package enum Family: Sendable { case any, inet, inet6 }

  /// Why a name has no address.
  package struct Failure: Error, Equatable, Sendable {
    /// Such as "EAI_NONAME", or the system's code.
    package let code: String
    package let message: String

    package init(code: String, message: String) {
      self.code = code
      self.message = message
    }
  }

  package typealias Answer = Result<[SocketAddress], Failure>

  package static let shared = Resolver()

  /// Eight: a server that does not answer keeps a thread busy for long. The stack is what the C
  /// library's resolver and its modules need.
  private let pool = ThreadPool(limit: 8, stackSize: 1 << 20)
  private static let addressLimit = 64

  /// The addresses that tests have given to names.
  private let planted = Guarded<[String: [SocketAddress]]>([:])

  /// Resolves a name.
  /// - Parameter whenDone: Called once, on another thread; on this one if no thread could be
  ///   started.
  package func resolve(
    _ host: String, _ family: Family, whenDone: @escaping @Sendable (Answer) -> Void
  ) {
    pool.run { [self] refused in
      if let refused {
        // As if no server answered.
        return whenDone(.failure(Failure(code: "EAI_AGAIN", message: "\(refused)")))
      }
      let known = planted.withLock { $0[host] }
      whenDone(known.map { .success($0) } ?? Self.look(up: host, family))
    }
  }

  /// For tests: gives a name these addresses, in this order, whatever the system says.
  package func plant(_ host: String, _ addresses: [SocketAddress]) {
    planted.withLock { $0[host] = addresses }
  }

  private static func look(up host: String, _ family: Family) -> Answer {
    let wanted =
      switch family {
      case .any: cmx_resolve_any
      case .inet: cmx_resolve_inet
      case .inet6: cmx_resolve_inet6
      }
    return withUnsafeTemporaryAllocation(of: cmx_address.self, capacity: addressLimit) { found in
      let count = cmx_resolve(host, wanted, found.baseAddress, Int32(addressLimit))
      if count < -1000 {
        let error = SystemError(call: "getaddrinfo", code: -1000 - count)
        return .failure(Failure(code: error.name, message: error.message))
      }
      if count < 0 {
        return .failure(
          Failure(
            code: String(cString: cmx_resolve_name(count)),
            message: String(cString: cmx_resolve_message(count))))
      }
      return .success((0..<Int(count)).map { SocketAddress(raw: found[$0]) })
    }
  }
}
