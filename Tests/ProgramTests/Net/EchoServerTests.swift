// The server example, against fifty clients that use the system's sockets directly.

import Foundation
import Testing

@Suite("Echo server")
struct EchoServerTests {
  @Test("answers fifty clients at once, and ends with its input")
  func answersAll() throws {
    let path = Program.examples.appendingPathComponent("echo_server.lua").path
    let server = try Program(["run", path], input: nil)
    try server.waitFor("\n")
    let port = try #require(UInt16(server.outputSoFar.filter(\.isNumber)))
    let clients = try (0..<50).map { _ in try Client(port: port) }
    for turn in 1...20 {
      for (number, client) in clients.enumerated() { client.send("client \(number) \(turn)\n") }
      for (number, client) in clients.enumerated() {
        let expected = "client \(number) \(turn)\n"
        #expect(client.receive(expected.utf8.count) == expected)
      }
    }
    // Some leave in the middle of a line, some reset the connection, the others close properly.
    for client in clients[..<10] { client.send("half a line") }
    for client in clients[10..<20] { client.reset() }
    for client in clients { client.close() }
    try server.closeInput()
    let outcome = try server.wait()
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.contains("connections: 50, messages: 1"), "\(outcome)")
    #expect(outcome.errors == "")
  }
}

/// A blocking client.
private final class Client {
  private let fd: Int32

  init(port: UInt16) throws {
    fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(result == 0)
  }

  func send(_ text: String) { _ = text.withCString { write(fd, $0, strlen($0)) } }

  func receive(_ count: Int) -> String {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = recv(fd, &bytes, count, Int32(MSG_WAITALL))
    return String(decoding: bytes.prefix(max(0, got)), as: UTF8.self)
  }

  /// Makes closing it a reset.
  func reset() {
    var atOnce = linger(l_onoff: 1, l_linger: 0)
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
  }

  func close() { _ = Glibc.close(fd) }
}
