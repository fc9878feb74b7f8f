// A host on the main loop: its scripts, the main actor and the main queue share the main thread.
// With the argument `foundation` that loop is attached to Foundation's, which is run instead.
// docs/hosting.md explains it; `ProgramTests` runs it and reads what it prints.

import CoreFoundation
import Dispatch
import Foundation
import Moonloop
import MoonloopFoundation

/// Something of the main actor that scripts use.
@MainActor final class Model {
  private(set) var names: [String] = []
  func add(_ name: String) { names.append(name) }
}

let script = """
  local ml = require "moonloop"
  ml.current():after(0.005, function() add "timer" end)
  function answer() ml.sleep(0.01) add "task" return "answer" end
  function finish() ml.current():stop() return "goes on" end
  """

@MainActor func work(_ model: Model) async throws {
  let host = try await LuaHost(on: .main, libraries: .safe, capabilities: [.timers, .runs])
  try await host.withState { loop, lua in
    print("on the main loop: \(loop === Loop.main)")
    // Scripts run on the main thread, so they may use what belongs to the main actor.
    lua.register("add") { (name: String) in MainActor.assumeIsolated { model.add(name) } }
  }
  try await host.run(script, name: "=script")
  DispatchQueue.main.async { model.add("queue") }
  async let answer: String = host.call("answer")
  print("main actor: \(try await answer), \(model.names.sorted())")
  let after: String = try await host.call("finish")
  print("a script stops its own runs alone: \(after)")
  await host.shutDown()
}

let isFoundations = CommandLine.arguments.contains("foundation")
if isFoundations { try Loop.main.attach(to: .main) }
Task { @MainActor in
  do { try await work(Model()) } catch { print("\(error)") }
  Loop.main.stop()
}
if isFoundations { CFRunLoopRun() } else { print("run: \(Loop.main.run())") }

// Only the main queue is left, which holds runs unless told otherwise.
Loop.main.schedule(after: .milliseconds(1)) { _ in print("timer") }
print("held: \(Loop.main.run(for: .milliseconds(20)))")
Loop.main.mainQueueHolds = false
print("let go: \(Loop.main.run(for: .milliseconds(20)))")
