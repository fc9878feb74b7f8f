// The modules that are written in Lua: found by `require`, or behind a function of `moonloop`.

internal import CMoonloopLua
internal import LuaEmbed
internal import MoonloopCore

extension Runtime {
  /// Lets `require "moonloop.…"` find the modules that are written in Lua.
  func preloadSources() {
    var count = 0
    let sources = cmo_sources(&count)
    for source in UnsafeBufferPointer(start: sources, count: count) {
      state.preload(
        String(cString: source.module),
        source: UnsafeBufferPointer(start: source.text, count: source.count),
        chunkName: String(cString: source.chunk))
    }
  }
}

/// The first half of a function that a module in Lua has: its chunk is called with the arguments.
func callSource(
  _ L: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ name: StaticString,
  _ chunk: StaticString
) -> Int32 {
  host(L, context, name) { call in
    try call.pushSource(chunk)
    call.stack.rotate(1, 1)  // below its arguments
    return LuaStatus.call(arguments: call.count - 1)
  }
}

/// The second half: what it gave, as it is.
let sourceResults: LuaRawFunction = { L, _ in LuaStatus.results(Int32(LuaStack(L: L!).count)) }

extension HostCall {
  /// Compiles a line of ours and pushes the function. [-0, +1]
  fileprivate func pushSource(_ chunk: StaticString) throws {
    do { try state.load("\(chunk)", name: "=moonloop", on: stack) } catch {
      throw OperatingFailure(error.message, "ENOMEM")
    }
  }
}
