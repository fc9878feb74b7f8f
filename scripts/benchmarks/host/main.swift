// A Swift program that gives scripts two functions of its own and runs one: for W11, where scripts
// call into Swift.
import Glibc
import Moonloop

guard CommandLine.arguments.count == 2 else {
  print("usage: host SCRIPT")
  exit(2)
}
let path = CommandLine.arguments[1]
let loop = Loop.current
let state = try LuaState(on: loop)
state.register("nothing") { () -> Void in }
state.register("add") { (a: Int, b: Int) in a + b }
try state.run("dofile '\(path)'")
loop.run()
state.shutDown()
