// What an embedding program writes: a Lua state on a loop.

public import LuaEmbed
public import MoonloopCore

extension LuaState {
  /// Opens a Lua state whose scripts drive a loop: `require "moonloop"` gives them the module.
  ///
  /// - Parameters:
  ///   - loop: The loop of the calling thread.
  ///   - limits: What scripts may use.
  /// - Throws: `LuaError` if there is no memory for it.
  /// - Note: For the thread of the loop, like everything of a `LuaState`.
  public convenience init(on loop: Loop, limits: LuaLimits = LuaLimits()) throws(LuaError) {
    try self.init(limits: limits)
    attachment = Runtime(self, on: loop)
  }

  /// What joins the state and its loop; nil for a state without one.
  package var runtime: Runtime? { attachment as? Runtime }

  /// Ends tasks and handles of the scripts, in order, and closes the state.
  public func shutDown() {
    if let runtime { runtime.shutDown() } else { close() }
  }
}
