// Sockets by kind of callback, in Swift; the scripts cover the other kinds.

import Glibc
import Moonloop
import MoonloopCore
import Testing

@Suite("Sockets by kind of callback")
struct SocketSourceTests {
  @Test func `data comes in pieces, and its end once`() throws {
    // R151
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    var trace: [String] = []
    let far = ends[1]
    try Loop.isolated(clock: .virtual) { loop in
      let socket = SocketSource(
        ends[0], on: loop, reading: .data, writes: true, closesDescriptor: true
      ) { _, event in
        switch event {
        case .data(let bytes): trace.append("<\(String(decoding: bytes, as: UTF8.self))>")
        case .writable: trace.append("writable")
        default: trace.append("\(event)")
        }
      }
      try loop.add(socket.source)
      #expect(write(far, "hello", 5) == 5)
      for _ in 1...3 { loop.run(for: .zero) }
      socket.setReading(false)
      #expect(write(far, "again", 5) == 5)
      close(far)
      for _ in 1...2 { loop.run(for: .zero) }
      trace.append("held")
      socket.setReading(true)
      for _ in 1...3 { loop.run(for: .zero) }
      socket.enableWriting()
      loop.run(for: .zero)
      socket.source.invalidate()
      #expect(loop.run(for: .zero) == .finished)
    }
    #expect(
      trace.filter { $0 != "writable" } == ["<hello>", "held", "<again>", "<>"])
    #expect(trace.filter { $0 == "writable" }.count == 2)
  }
}
