// The whole server, with its scripts, by requests.

import CoreMetrics
import Foundation
import FoundationNetworking
import Hummingbird
import InMemoryLogging
import Logging
import MetricsTestKit
import Moonloop
import Server
import ServiceLifecycle
import Testing

// The factory of metrics belongs to the process.
@Suite(.serialized) struct ServerTests {
  private static let metrics: TestMetrics = {
    let metrics = TestMetrics()
    MetricsSystem.bootstrap(metrics)
    return metrics
  }()
  private static let file = URL(filePath: #filePath)
    .deletingLastPathComponent().appending(path: "../../handlers.lua").path

  private let logs = InMemoryLogHandler()
  private var logger: Logger { Logger(label: "test") { _ in logs } }
  private var messages: [String] { logs.entries.map { "\($0.message)" } }

  private func makeScripts() async throws -> Scripts {
    _ = Self.metrics
    let scripts = try await Scripts(file: Self.file, logger: logger)
    try await scripts.give(Visits())
    return scripts
  }

  /// Serves requests on a free port while a closure asks.
  private func serving(_ body: @Sendable (_ client: Client) async throws -> Void) async throws {
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    let application = makeApplication(
      try await makeScripts(), configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      logger: logger, onPort: { port.yield($0) })
    let group = ServiceGroup(
      configuration: .init(services: [.init(service: application)], logger: logger))
    async let end: Void = group.run()
    for await number in ports.prefix(1) { try await body(Client(port: number)) }
    await group.triggerGracefulShutdown()
    try await end
  }

  @Test func `scripts answer requests`() async throws {
    try await serving { client in
      var answers: [String] = []
      for path in ["/", "/visits?page=a", "/visits?page=a", "/none"] {
        answers.append(try await client.get(path))
      }
      answers.append(try await client.post("/echo", "a body"))
      #expect(
        answers == [
          "200 hello", "200 visit 1 of a", "200 visit 2 of a", "404 no such page: /none",
          "200 text/plain a body",
        ])
    }
    #expect(messages.contains("the scripts are running"))
  }

  @Test func `an error of a handler is the status 500, a log and a figure`() async throws {
    _ = try await makeScripts()  // so that the counter exists
    let failures = try Self.metrics.expectCounter("lua_failures")
    let before = failures.totalValue
    try await serving { client in
      let (broken, next) = (try await client.get("/broken"), try await client.get("/"))
      #expect(broken.hasPrefix("500") && next == "200 hello")
    }
    #expect(messages.contains { $0.contains("handlers.lua:21: out of order") }, "\(messages)")
    #expect(failures.totalValue == before + 1)
    #expect(try Self.metrics.expectTimer("lua_call").values.isEmpty == false)
    #expect(try Self.metrics.expectGauge("lua_memory_bytes").lastValue ?? 0 > 10_000)
  }

  @Test func `requests are served while a handler waits`() async throws {
    try await serving { client in
      async let slow = client.get("/slow")
      async let other = client.get("/slow")
      let quick = try await client.get("/visits?page=b")
      let answers = try await [slow, other, quick]
      #expect(answers == ["200 done", "200 done", "200 visit 1 of b"])
    }
  }

  @Test func `a graceful shutdown ends the scripts`() async throws {
    let scripts = try await makeScripts()
    let group = ServiceGroup(
      configuration: .init(services: [.init(service: scripts)], logger: logger))
    async let end: Void = group.run()
    await group.triggerGracefulShutdown()
    try await end
    await #expect {
      let _: String = try await scripts.call("handle", ["path": "/"])
    } throws: {
      ($0 as? LuaError)?.kind == .closed
    }
  }

  @Test func `a file that cannot be read is an error`() async {
    await #expect(throws: LuaError.self) {
      try await Scripts(file: "/nowhere.lua", logger: logger)
    }
  }
}

/// Asks the server.
private struct Client: Sendable {
  let port: Int

  func get(_ path: String) async throws -> String {
    let (data, response) = try await URLSession.shared.data(from: url(path))
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    return "\(status) \(String(decoding: data, as: UTF8.self))"
  }

  func post(_ path: String, _ body: String) async throws -> String {
    var request = URLRequest(url: url(path))
    request.httpMethod = "POST"
    request.httpBody = Data(body.utf8)
    let (data, response) = try await URLSession.shared.data(for: request)
    let head = response as? HTTPURLResponse
    let type = head?.value(forHTTPHeaderField: "Content-Type") ?? "none"
    return "\(head?.statusCode ?? 0) \(type) \(String(decoding: data, as: UTF8.self))"
  }

  private func url(_ path: String) -> URL { URL(string: "http://127.0.0.1:\(port)\(path)")! }
}
