// Lines over TCP for Swift Concurrency, by Dispatch: as much as the example needs.

import Dispatch
import Glibc

/// A connection, which reads and writes one line.
struct Connection: Sendable {
  private let channel: DispatchIO
  private static let queue = DispatchQueue(label: "connections")

  init(_ descriptor: Int32) {
    channel = DispatchIO(type: .stream, fileDescriptor: descriptor, queue: Self.queue) { _ in
      close(descriptor)
    }
    channel.setLimit(lowWater: 1)
  }

  /// What comes up to the end of a line, without that.
  func line() async -> String {
    var text: [UInt8] = []
    while !text.contains(10) {
      let bytes = await read()
      if bytes.isEmpty { break }
      text += bytes
    }
    return String(decoding: text.prefix { $0 != 10 }, as: UTF8.self)
  }

  private func read() async -> [UInt8] {
    await withCheckedContinuation { continuation in
      channel.read(offset: 0, length: 1, queue: Self.queue) { isDone, data, _ in
        if isDone { continuation.resume(returning: data.map(Array.init) ?? []) }
      }
    }
  }

  /// Sends a line, and closes the connection.
  func end(_ text: String) async {
    await send(text)
    channel.close()
  }

  func send(_ text: String) async {
    let data = Array((text + "\n").utf8).withUnsafeBytes { DispatchData(bytes: $0) }
    await withCheckedContinuation { continuation in
      channel.write(offset: 0, data: data, queue: Self.queue) { isDone, _, _ in
        if isDone { continuation.resume() }
      }
    }
  }
}

/// Takes connections on a free port of this machine.
struct Listener: Sendable {
  let port: UInt16
  let connections: AsyncStream<Connection>

  init?() {
    let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var (address, length) = (Self.address(port: 0), socklen_t(MemoryLayout<sockaddr_in>.size))
    let isBound = Self.with(&address) { bind(listening, $0, length) == 0 }
    guard isBound, listen(listening, 64) == 0 else { return nil }
    _ = Self.with(&address) { getsockname(listening, $0, &length) }
    port = UInt16(bigEndian: address.sin_port)
    let source = DispatchSource.makeReadSource(fileDescriptor: listening)
    connections = AsyncStream { continuation in
      source.setEventHandler { continuation.yield(Connection(accept(listening, nil, nil))) }
      source.setCancelHandler { close(listening) }
      // Sendable: a source of Dispatch may be used on any thread; its protocol does not say so.
      nonisolated(unsafe) let ended = source
      continuation.onTermination = { _ in ended.cancel() }
      source.resume()
    }
  }

  /// Connects to a port of this machine.
  static func connect(to port: UInt16) -> Connection? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = address(port: port)
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    guard with(&address, { Glibc.connect(descriptor, $0, length) == 0 }) else { return nil }
    return Connection(descriptor)
  }

  private static func address(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }

  private static func with<Result>(
    _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
  ) -> Result {
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
    }
  }
}
