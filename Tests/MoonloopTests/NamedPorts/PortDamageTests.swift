// What arrives on the socket of a named port and is no message: reported, never a trap, and it ends
// only that connection.

import Glibc
import LuaEmbed
import Moonloop
import TestSupport
import Testing

@Suite("Named ports: damaged bytes")
struct PortDamageTests {
  /// Connects to a port by hand, as a program without Moonloop would.
  private static func connect(_ name: String) -> Int32 {
    let fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = RuntimeFolder.path + "/moonloop/\(name).port"
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(fd, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    #expect(result == 0)
    return fd
  }

  private static func header(
    magic: UInt32 = 0x014C_504D, kind: UInt16 = 1, passed: UInt16 = 0, size: UInt64,
    target: UInt64 = 0, id: UInt64 = 0
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    func append<Word: FixedWidthInteger>(_ word: Word) {
      withUnsafeBytes(of: word.littleEndian) { bytes += $0 }
    }
    append(magic)
    append(kind)
    append(passed)
    append(size)
    append(target)
    append(id)
    return bytes
  }

  /// A complete message: `true`.
  private static let good: [UInt8] =
    header(size: 9) + [0x4D, 0x4C, 0x4D, 1, 0, 0, 0, 0] + [2]

  static let damages: [(bytes: [UInt8], told: String)] = [
    (Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8), "it sent no message"),
    (header(magic: 0x024C_504D, size: 0), "it sent version 2 of the protocol, this is 1"),
    (header(kind: 77, size: 0), "a message of unknown kind 77"),
    (header(kind: 0x101, size: 0), "a message of unknown kind 257"),
    (header(size: 1 << 40), "a message of 1099511627776 bytes; the limit is 67108864"),
    (header(size: .max), "a message of 18446744073709551615 bytes"),
    (header(passed: 251, size: 5000), "a message with 251 attachments in 5000 bytes"),
    (header(passed: 10, size: 9), "a message with 10 attachments in 9 bytes"),
    (
      header(passed: 1, size: 10) + [9] + [UInt8](repeating: 0, count: 9),
      "an attachment of unknown kind 9"
    ),
    (
      header(passed: 1, size: 10) + [UInt8](repeating: 0, count: 10),
      "a message with 1 descriptors, of which 0 came"
    ),
    (header(size: 3) + [1, 2, 3], "it sent an invalid value: not a message, at byte 0"),
    (
      header(size: 9) + [0x4D, 0x4C, 0x4D, 1, 0, 0, 0, 0] + [99],
      "it sent an invalid value: tag 99, at byte 1"
    ),
    (Array(good.dropLast(4)), "it ended within a message"),
  ]

  @Test("are reported, and the next client is served", arguments: damages)
  func damage(_ damage: (bytes: [UInt8], told: String)) throws {
    let name = "damage.\(damage.bytes.count).\(damage.told.utf8.reduce(0) { $0 &+ Int($1) })"
    let outcome = try Self.serve(name) { fd in
      _ = damage.bytes.withUnsafeBytes { write(fd, $0.baseAddress, $0.count) }
      shutdown(fd, Int32(SHUT_WR))
    }
    #expect(outcome.lines == ["got true"])
    #expect(outcome.reports.count == 1)
    let report = outcome.reports.first ?? ""
    #expect(report.contains("the connection of process \(getpid()) was closed: "), "\(report)")
    #expect(report.contains(damage.told), "\(report)")
  }

  /// Makes a script listen until the first good message; first the body does its worst, then a good
  /// message is sent.
  private static func serve(
    _ name: String, _ worst: @escaping (Int32) -> Void
  ) throws -> (lines: [String], reports: [String]) {
    _ = RuntimeFolder.path
    return try Loop.isolated(clock: .real) { loop in
      let state = try LuaState(on: loop)
      defer { state.shutDown() }
      var lines: [String] = []
      var reports: [String] = []
      state.runtime!.errors.write = { reports.append($0) }
      state.register("emit") { (line: String) in lines.append(line) }
      state.register("worst") { () in
        let fd = connect(name)
        worst(fd)
        // It sees the end, whatever it has sent.
        var buffer = [UInt8](repeating: 0, count: 4096)
        while read(fd, &buffer, buffer.count) > 0 {}
        close(fd)
      }
      state.register("best") { () in
        let fd = connect(name)
        _ = good.withUnsafeBytes { write(fd, $0.baseAddress, $0.count) }
        close(fd)
      }
      try state.runtime!.mainChunk.start(
        chunk: """
          local ml = require "moonloop"
          local control = assert(ml.port.listen("\(name)"))
          worst()
          best()
          control:on("message", function(message)
            if message ~= true then return end
            emit("got true")
            control:invalidate()
          end)
          """, name: "@damage.lua")
      loop.run(for: .seconds(60))
      return (lines, reports)
    }
  }

  @Test("of every sort do no harm: good messages with some bytes changed", arguments: 0..<60)
  func changed(seed: Int) throws {
    var random = Generator(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1)
    var bytes: [UInt8] = []
    for _ in 0..<20 { bytes += Self.good }
    for _ in 0..<Int.random(in: 1...8, using: &random) {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      bytes[place] = UInt8.random(in: 0...255, using: &random)
    }
    let name = "fuzz.\(seed)"
    let outcome = try Self.serve(name) { fd in
      var sent = 0
      while sent < bytes.count {
        let count = min(Int.random(in: 1...64, using: &random), bytes.count - sent)
        let done = bytes[sent..<(sent + count)].withUnsafeBytes {
          send(fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if done <= 0 { break }
        sent += done
      }
      shutdown(fd, Int32(SHUT_WR))
    }
    #expect(outcome.lines == ["got true"])
    #expect(outcome.reports.count <= 1, "\(outcome.reports)")
  }

  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
  }
}
