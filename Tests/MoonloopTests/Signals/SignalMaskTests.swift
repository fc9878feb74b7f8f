// What remains of signals that a script has handled.

import Glibc
import Moonloop
internal import MoonloopSystem
import Testing

@Suite("Signals that were handled")
struct SignalMaskTests {
  private static let number = SignalNumber.number(of: "rtmin+12") ?? 46

  private func isBlocked() -> Bool {
    var set = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &set)
    return sigismember(&set, Self.number) == 1
  }

  private func disposition() -> sigaction {
    var action = sigaction()
    sigaction(Self.number, nil, &action)
    return action
  }

  @Test("leave mask and disposition as they were, after the last")
  func restore() throws {
    try Loop.isolated(clock: .virtual) { loop in
      let wasBlocked = isBlocked()
      let state = try LuaState(on: loop)
      defer { state.shutDown() }
      try state.run(
        "ml = require 'moonloop'; a = ml.signal { 'rtmin+12', print }; "
          + "b = ml.signal { 'rtmin+12', print }")
      #expect(isBlocked())
      try state.run("a:invalidate()")
      #expect(isBlocked())
      try state.run("b:invalidate()")
      #expect(isBlocked() == wasBlocked)
      #expect(disposition().__sigaction_handler.sa_handler == nil)
    }
  }
}
