// Misuses a state, each time in a process of its own: on another thread, and after its end.
//
//   swift run -c release MisuseProgram       says of each misuse that does not end as it should
//   MisuseProgram thread|closed NUMBER       is one misuse

import Foundation
import Moonloop
import MoonloopCore

/// Carried to another thread against all rules: this is what the program is about.
struct Smuggled: @unchecked Sendable { let parts: Parts }

func misuse(_ way: String, _ entry: Entry) throws {
  let parts = try Parts(on: .current)
  if way == "closed" {
    parts.lua.shutDown()
    do { try entry.use(parts) } catch { print("threw \(error)") }
    return print("returned")
  }
  let smuggled = Smuggled(parts: parts)
  let ended = DispatchSemaphore(value: 0)
  Thread {
    try? entry.use(smuggled.parts)
    ended.signal()
  }.start()
  ended.wait()
  print("returned")
}

/// What the misuse wrote, in a process of its own.
func written(by arguments: [String]) throws -> String {
  let process = Process()
  let output = Pipe()
  process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
  process.arguments = arguments
  process.environment = ["SWIFT_BACKTRACE": "enable=no"]
  process.standardOutput = output
  process.standardError = output
  try process.run()
  defer { process.waitUntilExit() }
  return String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
}

func isRight(_ way: String, _ name: String, _ text: String) -> Bool {
  let stops = text.contains("Fatal error: \(name): ")
  if way == "thread" {
    return stops && text.contains(/thread \d+, (called|used) on thread \d+/)
  }
  // A table that is gone is empty, and what has no use for the state is answered.
  let answers = ["LuaTable", "limits", "stopCount", "isCondemned", "onFinalizerError", "depth"]
  return stops && text.contains("is closed") || text.contains("threw the Lua state is closed")
    || (answers + ["close"]).contains(name) && text.hasSuffix("returned\n")
}

let arguments = CommandLine.arguments
if arguments.count == 3, let number = Int(arguments[2]), entries.indices.contains(number) {
  try misuse(arguments[1], entries[number])
} else {
  var wrong = 0
  for way in ["thread", "closed"] {
    for (number, entry) in entries.enumerated() {
      let text = try written(by: [way, "\(number)"])
      if isRight(way, entry.name, text) { continue }
      wrong += 1
      print("\(way) \(number) \(entry.name): \(text)")
    }
  }
  print("\(entries.count) entries in 2 ways, \(wrong) wrong")
}
