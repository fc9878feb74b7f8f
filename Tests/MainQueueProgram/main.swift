// A program whose main thread runs a loop, which serves the libdispatch main queue and the main
// actor (R122 to R125), without Foundation. `ProgramTests` runs it and reads its output.

internal import Dispatch
internal import MoonloopCore

let loop = Loop.main
nonisolated(unsafe) var isDone = false  // main thread only

DispatchQueue.main.async {
  dispatchPrecondition(condition: .onQueue(.main))
  print("queue: a block")
  DispatchQueue.main.async { print("queue: a block made by a block") }
}
Task { @MainActor in
  print("actor: before the sleep")
  try? await Task.sleep(for: .milliseconds(20))
  MainActor.assertIsolated()
  print("actor: after the sleep")
  isDone = true
  loop.stop()
}

let result = loop.run(for: .seconds(30))
print("default: \(result)")

DispatchQueue.main.async { print("queue: held until a common mode runs") }
_ = loop.schedule(after: .milliseconds(10), modes: ["private"]) { _ in print("private: a timer") }
print("private: \(loop.run(mode: "private"))")
print("default: \(loop.run(for: .seconds(30), returnAfterSource: true))")
loop.mainQueueHolds = false
print("empty: \(loop.run())")
