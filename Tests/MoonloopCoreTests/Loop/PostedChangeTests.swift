// Changes that other threads post: a sleeping loop applies them and sleeps on.

import MoonloopCore
internal import MoonloopSimulation
import Synchronization
import Testing

@Suite("A posted change")
struct PostedChangeTests {
  @Test("finds the loop asleep and leaves it so (R5, R85)")
  func staysAsleep() {
    let world = SimulatedWorld()
    let trace = Trace()
    world.run {
      Loop.isolated(kernel: SimulatedKernel(world: world)) { loop in
        loop.schedule(after: .milliseconds(200)) { _ in trace.add("fired, \(loop.isWaiting)") }
        loop.observe([.beforeWaiting, .afterWaiting]) { trace.add("\($1), \(loop.isWaiting)") }
        let other = world.thread("other") {
          world.sleep(100_000_000)
          loop.changeAndWait { trace.add("changed, \($0.isWaiting)") }
          trace.add("then, \(loop.isWaiting)")
        }
        loop.run()
        world.join(other)
      }
    }
    #expect(
      trace.lines == [
        "beforeWaiting, false", "changed, true", "then, true", "afterWaiting, false",
        "fired, false",
      ])
  }

  private final class Trace: Sendable {
    private let content = Mutex<[String]>([])
    func add(_ line: String) { content.withLock { $0.append(line) } }
    var lines: [String] { content.withLock { $0 } }
  }
}
