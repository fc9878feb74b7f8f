// The clock: its two readings, its jumps, its holds, and the ends of its range.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct KernelClockTests {
  @Test("a virtual clock moves by hand, and the wall clock with it")
  func advance() {
    let kernel = SimulatedKernel(world: SimulatedWorld(start: 7, wall: 100), clock: .virtual)
    #expect(kernel.now() == 7)
    kernel.clock.advance(by: 40)
    #expect(kernel.now() == 47)
    #expect(kernel.wallTime() == 140)
    kernel.world.sleep(1000)
    #expect(kernel.now() == 47)
    #expect(kernel.wallTime() == 140)
  }

  @Test("a clock that skips idle time runs with the world, after what it skipped")
  func skipIdle() {
    let kernel = SimulatedKernel(world: SimulatedWorld(start: 7, wall: 100), clock: .skipIdle)
    kernel.clock.advance(by: 40)
    kernel.world.sleep(1000)
    #expect(kernel.now() == 1047)
    #expect(kernel.wallTime() == 1140)
  }

  @Test("a clock goes to the end of its range and no further", arguments: ClockMode.allCases)
  func saturates(mode: ClockMode) {
    let kernel = SimulatedKernel(world: SimulatedWorld(start: .max - 10, wall: .max), clock: mode)
    if mode != .real {
      kernel.clock.advance(by: .max)
      kernel.clock.advance(by: .max)
      #expect(kernel.now() == .max)
    }
    kernel.world.sleep(5)
    #expect(kernel.now() >= .max - 5)
    #expect(!kernel.clock.hasReached(.max))
    #expect(kernel.clock.hasReached(.min))
    #expect(kernel.wallTime() >= .max - 10)
  }

  @Test("a real clock cannot be moved, and none goes back")
  func misuse() async {
    await #expect(processExitsWith: .failure) { Clock(.real).advance(by: 1) }
    await #expect(processExitsWith: .failure) { Clock(.virtual).advance(by: -1) }
  }

  @Test("holds are named, counted, and released once or with their last reference")
  func holds() {
    let clock = Clock(.virtual)
    let first = clock.holds.open("first")
    withExtendedLifetime(clock.holds.open("second")) {
      #expect(clock.holds.names == ["first", "second"])
      first.release()
      first.release()
      #expect(clock.holds.names == ["second"])
      #expect(clock.holds.areOpen)
    }
    #expect(!clock.holds.areOpen)
  }

  @Test(
    "sums saturate",
    arguments: [
      (Int64.max, Int64(1), Int64.max, Int64.max - 1), (.min, -1, .min, .min + 1),
      (.min, 1, .min + 1, .min), (0, .min, .min, .max), (3, 4, 7, -1),
    ])
  func saturatedSums(a: Int64, b: Int64, sum: Int64, difference: Int64) {
    #expect(a.addingSaturated(b) == sum)
    #expect(a.subtractingSaturated(b) == difference)
  }
}
