// A simulation that serves its scripts once per frame: time is the simulation's own, and a minute
// of it takes no time. docs/hosting.md explains it; `ProgramTests` reads what it prints.

import Moonloop

let script = """
  local ml = require "moonloop"
  local loop = ml.current()
  loop:every(0.5, function(timer) spawn("rock") end)
  loop:after(1.2, function() spawn("comet") ml.sleep(0.5) spawn("tail") end)
  """

var bodies: [String] = []
try Loop.isolated(clock: .virtual) { loop in
  let lua = try LuaState(on: loop)
  var frame = 0
  lua.register("spawn") { (kind: String) in bodies.append("\(kind) in frame \(frame)") }
  try lua.run(script, name: "=world")
  for number in 1...120 {
    frame = number
    loop.advanceClock(by: .seconds(1) / 60)
    loop.pump()
  }
  lua.shutDown()
}
for body in bodies { print(body) }
