// The workloads on CFRunLoop, in Swift and without Lua: the run loop that ours is modelled on.
import CoreFoundation
import Glibc

let workloads: [String: () -> Void] = [
  "w1a": w1a, "w1bc": w1bc, "w1d": w1d, "w2abc": w2abc, "w2d": w2d, "w3": w3, "w4a": w4a,
  "w4b": w4b, "w4c": w4c, "w5": w5, "w6": w6, "w7": w7, "w7i": w7i, "w8": w8, "w9": w9,
]

guard let run = CommandLine.arguments.dropFirst().first.flatMap({ workloads[$0] }) else {
  print("usage: cf WORKLOAD [ARGUMENT...]")
  exit(2)
}
run()
