// Misuses the library, each time in its own process: entries of a state on another thread and after
// its end, and whole programs that do what they must not.
//
//   swift run -c release MisuseProgram       reports each misuse that does not end as it should
//   MisuseProgram thread|closed|attack NUMBER

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

/// What the misuse printed, in its own process.
func written(by arguments: [String]) throws -> String {
  let process = Process()
  let output = Pipe()
  process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
  process.arguments = arguments
  let options = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] ?? ""
  process.environment = ["SWIFT_BACKTRACE": "enable=no", "ASAN_OPTIONS": options]
  process.standardOutput = output
  process.standardError = output
  try process.run()
  defer { process.waitUntilExit() }
  return String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
}

/// Whether an attack ended as expected: with its line, or stopped with its message.
func isRight(_ attack: Attack, _ text: String) -> Bool {
  let last = text.split(separator: "\n").first {
    $0.hasPrefix("end: ") || $0.contains("Fatal error")
  }
  guard let last else { return false }
  return last == "end: \(attack.end)" || last.contains("Fatal error") && last.contains(attack.end)
}

func isRight(_ way: String, _ name: String, _ text: String) -> Bool {
  let stops = text.contains("Fatal error: \(name): ")
  if way == "thread" {
    return stops && text.contains(/thread \d+, (called|used) on thread \d+/)
  }
  // A table that is gone is empty, and entries that do not need the state still answer.
  let answers = ["LuaTable", "limits", "stopCount", "isCondemned", "onFinalizerError", "depth"]
  return stops && text.contains("is closed") || text.contains("threw the Lua state is closed")
    || (answers + ["close"]).contains(name) && text.hasSuffix("returned\n")
}

let arguments = CommandLine.arguments
if arguments.count == 3, arguments[1] == "attack", let number = Int(arguments[2]) {
  print("end: \(try await attacks[number].run())")
} else if arguments.count == 3, let number = Int(arguments[2]), entries.indices.contains(number) {
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
  for (number, attack) in attacks.enumerated() {
    let text = try written(by: ["attack", "\(number)"])
    if isRight(attack, text) { continue }
    wrong += 1
    print("attack \(number) '\(attack.name)': \(text)")
  }
  print("\(entries.count) entries in 2 ways, \(attacks.count) attacks, \(wrong) wrong")
}
