// A Swift program that offers its own functions to scripts and runs one: for W11, where scripts
// call into Swift, W18, where values cross, and W4B, where another thread signals a source made in
// Swift.
import Glibc
import Moonloop
import Sender

guard CommandLine.arguments.count == 2 else {
  print("usage: host SCRIPT")
  exit(2)
}
let path = CommandLine.arguments[1]
let loop = Loop.current
let state = try LuaState(on: loop)
state.register("nothing") { () -> Void in }
state.register("add") { (a: Int, b: Int) in a + b }
registerCrossings(with: state)

state.register("burst") { (count: Int, finished: LuaFunction) in
  let source = loop.makeSource(name: "burst") { _ in
    if sender_is_at_end() { _ = try? finished() }
  }
  try? loop.add(source)
  Burst(source, loop).start(count: count)
}
try state.run("dofile '\(path)'")
loop.run()
state.shutDown()
