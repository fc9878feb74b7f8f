// Drives the run loop through its Lua interface.

enum LuaFace {
  static func reasonNotToRun(_ scenario: Scenario) -> String? { "the Lua face is not there yet" }
}
