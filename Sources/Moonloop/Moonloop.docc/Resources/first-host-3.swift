import LuaEmbed
import Moonloop

let host = try await LuaHost(
  name: "scripts", libraries: .safe, capabilities: [.timers],
  limits: LuaLimits(memory: 16 << 20, callout: .seconds(1)),
  reports: LuaHost.Reports(
    onError: { error, subject in
      print("\(subject): \(error.message)")
      return .continue
    }))
try await host.run(
  """
  local ml = require "moonloop"
  function ticks(count)
    return coroutine.wrap(function()
      for i = 1, count do coroutine.yield(i) end
    end)
  end
  """)
for try await tick in host.stream("ticks", 3, of: Int.self) { print(tick) }
await host.shutDown()
