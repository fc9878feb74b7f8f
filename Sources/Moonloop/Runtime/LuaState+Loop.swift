// What an embedding program writes: a Lua state on a loop.

public import LuaEmbed
public import MoonloopCore

extension LuaState {
  /// Opens a Lua state whose scripts drive a loop: `require "moonloop"` gives them the module.
  /// - Parameters:
  ///   - loop: The loop of the calling thread.
  ///   - limits: The limits for scripts.
  ///   - libraries: The standard libraries for scripts.
  ///   - capabilities: The parts of the module that they may reach. Others raise an error that
  ///     names the grant.
  /// - Throws: `LuaError` if there is no memory for it, or the loop has ended.
  /// - Note: For the thread of the loop, like everything of a `LuaState`; stops the program on
  ///   another. The state is closed with its loop, and dropped on any thread.
  public convenience init(
    on loop: Loop, limits: LuaLimits = LuaLimits(), libraries: LuaLibraries = .all,
    capabilities: LuaCapabilities = .all
  ) throws(LuaError) {
    try self.init(
      on: loop, limits: limits, libraries: libraries, capabilities: capabilities, asks: false)
  }

  private convenience init(
    on loop: Loop, limits: LuaLimits, libraries: LuaLibraries, capabilities: LuaCapabilities,
    asks: Bool
  ) throws(LuaError) {
    loop.requireThread("LuaState(on:)")
    if loop.hasEnded { throw LuaError(kind: .closed, message: "\(loop.name) has ended") }
    try self.init(limits: limits)
    let runtime = Runtime(inner, on: loop, granting: capabilities, asks: asks)
    attachment = runtime
    runtime.setHandleLimit(limits.handles)
    // Unowned: the state holds the runtime.
    onLimits { [unowned runtime] in runtime.setHandleLimit($0.handles) }
    attach(
      elsewhere: { work in loop.change { _ in work() } },
      later: { [unowned runtime] work in runtime.loop.callAfterPass(work) })
    try runtime.hold(to: capabilities, libraries, asks: asks)
  }

  /// Opens a state for a guest: safe libraries, and the granted parts of the module.
  package convenience init(
    on loop: Loop, limits: LuaLimits, guest: GuestGrants
  ) throws(LuaError) {
    try self.init(
      on: loop, limits: limits, libraries: .safe, capabilities: guest.capabilities,
      asks: guest.asker != nil)
    runtime?.granted.guest = guest
    if guest.asker?.cleansOutput ?? false { cleanOutput() }
  }

  /// What connects the state and its loop; nil for a state without one.
  package var runtime: Runtime? { attachment as? Runtime }

  /// Ends tasks and handles of the scripts, in order, and closes the state.
  ///
  /// Calling it twice has no effect. In a callback of the same state it takes effect when the
  /// call-out is over.
  public func shutDown() { close() }
}
