// The simulated world: exact time, which passes only while every thread waits.

import ConformanceFormat
import Glibc
import MoonloopCore
internal import MoonloopSimulation

final class SimulatedScene: World {
  private let world = SimulatedWorld()
  /// A view of the world that no loop uses: for the far ends of sockets.
  private let outside: SimulatedKernel

  /// - Parameter whenStuck: Called when every thread is blocked forever.
  init(whenStuck: @escaping @Sendable () -> Void) {
    outside = SimulatedKernel(world: world)
    world.whenDeadlocked { _ in whenStuck() }
  }

  func now() -> Int64 { world.now }

  /// Without it, a scenario that is never idle would never end.
  func spendTime() { world.sleep(20_000) }

  func runHome(_ body: () -> Void) { world.run("home") { withLoop(body) } }

  func startThread(named name: String, _ body: @escaping @Sendable () -> Void) {
    _ = world.thread(name) { [self] in withLoop(body) }
  }

  /// Gives the calling thread a loop in this world.
  private func withLoop(_ body: () -> Void) {
    Loop.isolated(kernel: SimulatedKernel(world: world)) { _ in body() }
  }

  func mainAsync(_ block: @escaping @Sendable () -> Void) {
    fail("the simulated kernel has no libdispatch main queue")
  }

  // MARK: Sockets

  func socketPair() -> (near: Int32, far: Int32) {
    do {
      let (near, far) = try outside.socketPair()
      return (near, far)
    } catch { fail("cannot make a pair of sockets: \(error)") }
  }

  func read(_ fd: Int32, atMost count: Int) -> ReadOutcome {
    var bytes = [UInt8](repeating: 0, count: count)
    guard let result = try? bytes.withUnsafeMutableBytes({ try outside.read(fd, into: $0) }) else {
      return .nothing
    }
    return result == 0 ? .endOfFile : .data(Array(bytes[..<result]))
  }

  func write(_ fd: Int32, _ bytes: [UInt8]) -> Int {
    (try? bytes.withUnsafeBytes { try outside.write(fd, $0) }) ?? 0
  }

  func close(_ fd: Int32) { outside.close(fd) }
}
