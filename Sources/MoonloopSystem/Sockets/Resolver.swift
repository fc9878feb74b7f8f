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

  private struct Job: Sendable {
    let host: String
    let family: Family
    let whenDone: @Sendable (Answer) -> Void
  }

  private struct State {
    var threads = 0
    var waiting: [Job] = []
    var planted: [String: [SocketAddress]] = [:]
  }

  package static let shared = Resolver()

  /// Limit for concurrent lookups: a server that does not answer keeps a thread busy for long.
  private static let threadLimit = 8
  /// Stack size: what the C library's resolver and its modules need.
  private static let stackSize = 1 << 20
  private static let addressLimit = 64

  /// Protected by its lock.
  private let state = Guarded(State())

  /// Resolves a name.
  /// - Parameter whenDone: Called once, on another thread; on this one if no thread could be
  ///   started.
  package func resolve(
    _ host: String, _ family: Family, whenDone: @escaping @Sendable (Answer) -> Void
  ) {
    let job = Job(host: host, family: family, whenDone: whenDone)
    let isNew = state.withLock { state in
      if state.threads == Self.threadLimit {
        state.waiting.append(job)
        return false
      }
      state.threads += 1
      return true
    }
    if isNew { start(job) }
  }

  /// For tests: gives a name these addresses, in this order, whatever the system says.
  package func plant(_ host: String, _ addresses: [SocketAddress]) {
    state.withLock { $0.planted[host] = addresses }
  }

  /// Starts a thread. If the system refuses the first, lookups fail as if no server answered.
  private func start(_ job: Job) {
    do {
      try startThread(stackSize: Self.stackSize) { self.work(job) }
    } catch {
      let rest = state.withLock { state in
        state.threads -= 1
        defer { if state.threads == 0 { state.waiting = [] } }
        return state.threads == 0 ? state.waiting : []
      }
      let failure = Failure(code: "EAI_AGAIN", message: "\(error)")
      for job in [job] + rest { job.whenDone(.failure(failure)) }
    }
  }

  /// Runs a thread: it ends when no lookup is waiting.
  private func work(_ first: Job) {
    var next: Job? = first
    while let job = next {
      let planted = state.withLock { $0.planted[job.host] }
      job.whenDone(planted.map { .success($0) } ?? Self.look(up: job.host, job.family))
      next = state.withLock { state in
        if state.waiting.isEmpty {
          state.threads -= 1
          return nil
        }
        return state.waiting.removeFirst()
      }
    }
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
