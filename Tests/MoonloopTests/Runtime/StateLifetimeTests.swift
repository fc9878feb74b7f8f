// States that come and go on a loop that goes on.

import Moonloop
import Testing

@Suite struct StateLifetimeTests {
  private static let ticking = """
    local loop = require "moonloop".current()
    loop:every(1, function() tick() end)
    source = loop:source { perform = function() tick() end }
    loop:perform(function() tick() end)
    """

  /// A state whose scripts call `tick`, and how often they did.
  private func makeTicking(on loop: Loop, _ tick: @escaping () -> Void) throws -> LuaState {
    let state = try LuaState(on: loop)
    state.register("tick") { tick() }
    try state.run(Self.ticking)
    return state
  }

  @Test(arguments: ["dropped", "closed", "shut down"])
  func `a state that goes takes its handles along, and leaves those of others`(way: String) throws {
    try Loop.isolated { loop in
      var ticks = [0, 0]
      let staying = try makeTicking(on: loop) { ticks[0] += 1 }
      var going: LuaState? = try makeTicking(on: loop) { ticks[1] += 1 }
      loop.run(for: .milliseconds(2500))
      #expect(ticks == [3, 3])
      if way == "closed" { going?.close() }
      if way == "shut down" { going?.shutDown() }
      going = nil
      loop.run(for: .milliseconds(2000))
      #expect(ticks == [5, 3])
      staying.shutDown()
      #expect(loop.run() == .finished)
    }
  }
}
