// Configurations and limits: `ml.configure` is written in Lua; limits are set here.

internal import LuaEmbed
internal import MoonloopCore

/// `ml.configure(path)` or `ml.configure(table)` (D40).
let moduleConfigure: LuaRawFunction = { L, context in
  host(L, context, "ml.configure") { call in
    if !call.runtime.granted.capabilities.allowsModule("moonloop.configuration") {
      throw call.mistake("only a script with all grants may use configurations")
    }
    return try call.callSource("return require('moonloop.configuration').configure(...)")
  }
}

private let limitOptions: [StaticString] = [
  "memory", "callout", "instructions", "handles", "nesting",
]

/// `ml.limit { memory, callout, instructions, handles, nesting }`: limits not named stay.
func moduleLimit(_ call: HostCall) throws {
  let options = try call.options(1, limitOptions, example: "{ callout = 2, handles = 1000 }")
  var limits = call.state.limits
  if let bytes = try options.integer("memory", in: (1 << 20) ... .max) { limits.memory = bytes }
  if let time = try options.seconds("callout", .positive) {
    limits.callout = .nanoseconds(max(time, 10_000_000))
  }
  if let count = try options.integer("instructions", in: 1000...Int(Int32.max)) {
    limits.instructions = count
  }
  if let depth = try options.integer("nesting", in: 1...LuaLimits.deepest) {
    limits.nesting = depth
  }
  if let count = try options.integer("handles", in: 1 ... .max) {
    limits.handles = count
  }
  if limits != call.state.limits { call.state.setLimits(limits) }
}
