import LuaEmbed

let lua = try LuaState(limits: LuaLimits(memory: 8 << 20, callout: .milliseconds(50)))
do throws(LuaError) {
  try lua.run("while true do end", name: "=forever")
} catch {
  print(error.kind, error.message)
  for frame in error.traceback { print(frame.source, frame.line) }
}
