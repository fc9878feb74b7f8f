// The handshakes of a listener: its clients become connections once theirs are done.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// Clients of one listener that cannot be used yet, or have not been accepted yet. Loop thread
/// only.
final class ServerHandshakes {
  unowned(unsafe) private let server: ScriptServer  // holds this
  private var pending: [Pending] = []
  /// Finished ones, for `server:accept`.
  private var kept: [ScriptServer.Connection] = []
  /// How many have failed, and why the last one has.
  private(set) var failures = 0
  private(set) var lastFailure: String?

  private final class Pending {
    var handshake: Handshake?
    var limit: Loop.Timer?
  }

  init(_ server: ScriptServer) { self.server = server }

  /// How many connections it holds.
  var count: Int { pending.count + kept.count }

  /// Begins the handshake of a client, and closes the descriptor if it fails.
  func begin(_ fd: Int32, _ request: TLSRequest) {
    let runtime = server.runtime
    let modes = runtime.loopContext.modes(of: .item(server.source))
    guard let session = try? request.session() else { return runtime.loop.kernel.close(fd) }
    let one = Pending()
    pending.append(one)
    let handshake = Handshake(runtime, fd, session) { [weak self, weak one] failure in
      if let self, let one { finish(one, failure, in: modes) }
    }
    one.handshake = handshake
    one.limit = request.timeout.map { limit in
      runtime.loop.schedule(
        after: .nanoseconds(limit), modes: modes, name: "TLS handshake"
      ) { [weak self, weak one] _ in
        let late = OperatingFailure("TLS: the handshake took too long (ETIMEDOUT)", "ETIMEDOUT")
        if let self, let one { finish(one, late, in: modes) }
      }
    }
    do {
      try handshake.begin { item throws(LoopError) in
        runtime.loop.setKeepsAlive(item, false)
        try runtime.loop.add(item, modes: modes)
      }
    } catch { finish(one, OperatingFailure("TLS: \(error)", "EMFILE"), in: modes) }
  }

  private func finish(_ one: Pending, _ failure: OperatingFailure?, in modes: [ModeName]) {
    pending.removeAll { $0 === one }
    one.limit?.invalidate()
    guard let handshake = one.handshake else { return }
    one.handshake = nil
    if let failure {
      failures += 1
      lastFailure = failure.message
      handshake.endGently(in: modes)
    } else {
      server.give(ScriptServer.Connection(handshake.take(), handshake))
    }
    server.settle()
  }

  /// No task is waiting for a connection yet.
  func keep(_ connection: ScriptServer.Connection) { kept.append(connection) }

  func takeKept() -> ScriptServer.Connection? { kept.isEmpty ? nil : kept.removeFirst() }

  /// Closes all of them.
  func end() {
    for one in pending {
      one.limit?.invalidate()
      one.handshake?.end()
      one.handshake = nil
    }
    for connection in kept { server.runtime.loop.kernel.close(connection.fd) }
    (pending, kept) = ([], [])
  }
}
