// Signals of the process on several loops of several threads.

import Glibc
import MoonloopCore
internal import MoonloopSystem
import Synchronization
import Testing

@Suite("Signals on several loops")
struct SignalWatchTests {
  private static let number = SignalNumber.number(of: "rtmin+12") ?? 46

  @Test("each gets each, also one that went to a thread that does not block it")
  func everyLoopHears() throws {
    let ready = Atomic<Int>(0)
    let heard = Atomic<Int>(0)
    let ended = Atomic<Int>(0)
    for _ in 0..<3 {
      try startThread {
        Loop.isolated(clock: .real) { loop in
          let made = try? Loop.SignalWatch.make([Self.number], name: "test", on: loop) {
            heard.add($1.count, ordering: .sequentiallyConsistent)
            loop.stop()
          }
          guard let (watch, source) = made else { return }
          try? loop.add(source)
          ready.add(1, ordering: .sequentiallyConsistent)
          loop.run(for: .seconds(60))
          source.invalidate()
          watch.end()
        }
        ended.add(1, ordering: .sequentiallyConsistent)
      }
    }
    while ready.load(ordering: .sequentiallyConsistent) < 3 { usleep(1000) }
    kill(getpid(), Self.number)  // The main thread, or any other, leaves it unblocked.
    while ended.load(ordering: .sequentiallyConsistent) < 3 { usleep(1000) }
    #expect(heard.load(ordering: .sequentiallyConsistent) == 3)
  }
}
