internal import Glibc
internal import Moonloop

let loop = Loop.current
loop.mainQueueHolds = false
let state = try LuaState(on: loop)
let path = CommandLine.arguments[2]
var text = ""
let file = fopen(path, "r")!
var buffer = [CChar](repeating: 0, count: 65536)
while fgets(&buffer, 65536, file) != nil {
  text += buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
}
try state.runtime!.start(chunk: text, name: "@" + path)
if !state.runtime!.ranLoop { loop.run() }
state.shutDown()
