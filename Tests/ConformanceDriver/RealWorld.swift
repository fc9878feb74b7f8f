// The real world: the system's clock, threads and sockets.

import ConformanceFormat
import Dispatch
import Glibc

final class RealWorld: World {
  func now() -> Int64 { Int64(monotonicNanoseconds()) }

  func spendTime() {}

  func runHome(_ body: () -> Void) { body() }

  func startThread(named name: String, _ body: @escaping @Sendable () -> Void) {
    startSystemThread(body)
  }

  func mainAsync(_ block: @escaping @Sendable () -> Void) {
    DispatchQueue.main.async(execute: block)
  }

  // MARK: Sockets

  func socketPair() -> (near: Int32, far: Int32) {
    var ends: [Int32] = [0, 0]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    guard socketpair(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      fail("cannot make a pair of sockets: \(String(cString: strerror(errno)))")
    }
    return (ends[0], ends[1])
  }

  func read(_ fd: Int32, atMost count: Int) -> ReadOutcome {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = recv(fd, &bytes, count, 0)
    if result == 0 { return .endOfFile }
    return result > 0 ? .data(Array(bytes[..<result])) : .nothing
  }

  func write(_ fd: Int32, _ bytes: [UInt8]) -> Int {
    max(0, send(fd, bytes, bytes.count, Int32(MSG_NOSIGNAL)))
  }

  func close(_ fd: Int32) { _ = Glibc.close(fd) }
}
