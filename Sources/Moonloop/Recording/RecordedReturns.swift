// What other threads give back of a state's memory, as a recording keeps it.

internal import LuaEmbed
internal import MoonloopCore

extension LuaState {
  /// Counts no more what other threads have dropped. A recording has when and how much, so that a
  /// memory limit stops a replay at the same place. Loop thread only.
  func noteReturns() {
    guard defersReturns, Intake.seldom(hasReturns) else { return }
    // Only a forged recording has less than none.
    giveBack(max(0, Int(Intake.number { Int64(takeReturns()) })))
  }
}
