// The examples that talk to programs of others: a webhook that curl posts to, and a real Redis.

import Foundation
import Testing

@Suite("Examples with counterparts")
struct ServerExampleTests {
  /// Runs a program of the system, and gives what it printed.
  private func run(_ path: String, _ arguments: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
    // The end of its output is its end: `waitUntilExit` may miss one that came before it.
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    return String(decoding: data, as: UTF8.self)
  }

  @Test func `webhook.lua answers curl, and counts what it posts`() throws {
    let file = Program.examples.appendingPathComponent("webhook.lua").path
    let program = try Program(["run", file, "0"], input: nil)
    try program.waitFor("listening on port ")
    try program.waitFor("\n")
    let port = try #require(
      Int(program.outputSoFar.split(separator: " ").last!.split(separator: "\n")[0]))
    func curl(_ arguments: String...) throws -> String {
      let server = "http://127.0.0.1:\(port)"
      let filled = arguments.map { $0.replacingOccurrences(of: "URL", with: server) }
      return try run("/usr/bin/curl", ["-s", "-m", "60"] + filled)
    }
    let first = try curl("-d", #"{"ok":true}"#, "URL/hook/deploy")
    #expect(first == #"{"name":"deploy","count":1}"# + "\n")
    #expect(try curl("-d", "{bad", "URL/hook/deploy").contains("no valid JSON"))
    #expect(
      try curl("-H", "Transfer-Encoding: chunked", "-d", "[1]", "URL/hook/deploy")
        == #"{"name":"deploy","count":2}"# + "\n")
    #expect(try curl("-o", "/dev/null", "-w", "%{http_code}", "URL/other") == "404")
    let large = String(repeating: "x", count: 110_000)
    #expect(
      try curl("-o", "/dev/null", "-w", "%{http_code}", "-H", "Expect:", "-d", large, "URL/hook/a")
        == "413")
    #expect(try curl("URL/stop") == #"{"stopped":true}"# + "\n")
    let outcome = try program.wait()
    #expect(outcome.status == 0 && outcome.errors == "")
    let lines = outcome.output.split(separator: "\n").dropFirst()
    #expect(lines == [#"deploy #1: {"ok":true}"#, "deploy #2: [1]"])
  }

  @Test func `redis_pubsub.lua hears from a real server what it publishes`() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("moonloop-redis-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let socket = folder.appendingPathComponent("redis.sock").path
    let server = Process()
    let log = Pipe()
    server.executableURL = URL(fileURLWithPath: "/usr/bin/redis-server")
    server.arguments = [
      "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder.path,
    ]
    server.standardOutput = log
    try server.run()
    defer { server.terminate() }
    var text = ""
    while !text.contains("connections") || !FileManager.default.fileExists(atPath: socket) {
      let data = log.fileHandleForReading.availableData
      try #require(!data.isEmpty, "redis-server has ended: \(text)")
      text += String(decoding: data, as: UTF8.self)
    }
    let file = Program.examples.appendingPathComponent("redis_pubsub.lua").path
    let outcome = try moonloop(["run", file, socket, "planets"])
    #expect(outcome.status == 0 && outcome.errors == "")
    #expect(
      outcome.output == """
        subscribed to planets (1)
        planets: hello
        planets: zwei\r
        Zeilen
        planets: bye

        """)
  }
}
