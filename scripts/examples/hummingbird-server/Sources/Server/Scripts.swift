// A host of Lua scripts as a service of swift-service-lifecycle: what they report goes to
// swift-log, their figures to swift-metrics.

public import Logging
internal import Metrics
public import Moonloop
public import ServiceLifecycle

/// Runs scripts until the program shuts down.
public struct Scripts: Service {
  private let host: LuaHost
  private let calls: Metrics.Timer
  private let failures: Counter
  private let memory: Gauge

  /// Starts a thread for the scripts, and runs a file there.
  /// - Throws: `LuaError` if the file cannot be read, or raises an error.
  public init(file: String, logger: Logger) async throws(LuaError) {
    (calls, failures) = (Metrics.Timer(label: "lua_call"), Counter(label: "lua_failures"))
    memory = Gauge(label: "lua_memory_bytes")
    host = try await LuaHost(
      name: "scripts", libraries: .safe, capabilities: [.timers],
      limits: LuaLimits(memory: 32 << 20, callout: .seconds(1)),
      reports: Self.reports(to: logger, failures))
    try await host.run(file: file)
  }

  private static func reports(to logger: Logger, _ failures: Counter) -> LuaHost.Reports {
    LuaHost.Reports(
      onError: { error, subject in
        failures.increment()
        logger.error("\(error)", metadata: ["handle": "\(subject)"])
        return .continue
      },
      onOutput: { line in logger.info("\(line.trimmingNewline)") },
      onCondemned: { logger.critical("the scripts exceeded their limits too often") })
  }

  /// Gives Swift functions to the scripts.
  public func withState(_ body: @Sendable (Loop, LuaState) throws -> Void) async throws {
    try await host.withState(body)
  }

  /// Calls a function of the scripts, which may wait; a cancelled request cancels it.
  /// - Throws: `LuaError`.
  public func call<Argument: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ name: String, _ argument: Argument
  ) async throws(LuaError) -> Reply {
    let start = ContinuousClock.now
    defer { calls.recordNanoseconds((ContinuousClock.now - start).nanoseconds) }
    do {
      let reply: Reply = try await host.call(name, argument)
      if let bytes = try? await host.withState({ $1.bytesInUse }) { memory.record(bytes) }
      return reply
    } catch {
      failures.increment()
      throw error
    }
  }

  /// Lets the scripts run until the group shuts down gracefully; then they end, in order.
  public func run() async throws {
    try? await gracefulShutdown()
    await host.shutDown()
  }
}

extension Duration {
  fileprivate var nanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}

extension String {
  fileprivate var trimmingNewline: Substring { hasSuffix("\n") ? dropLast() : self[...] }
}
