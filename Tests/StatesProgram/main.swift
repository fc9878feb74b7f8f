// A program with 500 Lua states, all with a time limit: how many threads they take, and what wakes
// up while nothing runs. `ProgramTests` runs it and reads what it prints.

import Glibc
import Moonloop

/// The names of the threads there are, and how often each went to sleep of itself.
func threads() -> [String: Int] {
  guard let folder = opendir("/proc/self/task") else { return [:] }
  defer { closedir(folder) }
  var sleeps: [String: Int] = [:]
  while let entry = readdir(folder) {
    let id = withUnsafeBytes(of: entry.pointee.d_name) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    let lines = text(of: "/proc/self/task/\(id)/status").split(separator: "\n")
    let switches = lines.first { $0.hasPrefix("voluntary_ctxt_switches") }
    guard let name = lines.first, let switches else { continue }
    sleeps["\(id) \(name.dropFirst(6))"] = Int(switches.split(separator: "\t")[1])
  }
  return sleeps
}

func text(of path: String) -> String {
  guard let file = fopen(path, "r") else { return "" }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 4096)
  let count = fread(&bytes, 1, bytes.count, file)
  return String(decoding: bytes.prefix(count), as: UTF8.self)
}

func residentKilobytes() -> Int {
  let lines = text(of: "/proc/self/status").split(separator: "\n")
  let words = lines.first { $0.hasPrefix("VmRSS") }?.split(separator: " ") ?? []
  return words.count > 1 ? Int(words[1]) ?? 0 : 0
}

let count = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 500 : 500
let limits = LuaLimits(callout: .milliseconds(200))
let loop = Loop.main
var states = [try LuaState(on: loop, limits: limits)]  // what only the first one needs
let before = residentKilobytes()
for _ in 0..<count { states.append(try LuaState(on: loop, limits: limits)) }
let after = residentKilobytes()
for state in states { try state.run("x = (x or 0) + 1") }
print("\(states.count) states, \(threads().count) threads")

// An eighth of the limit, three times: then all are idle.
var last = threads()
var isQuiet = false
for _ in 0..<50 where !isQuiet {
  poll(nil, 0, 200)
  let now = threads()
  isQuiet = now.allSatisfy { $0.key.hasSuffix("lua-watchdog") ? $0.value == last[$0.key] : true }
  last = now
}
print("idle: \(isQuiet)")

do { try states[count / 2].run("while true do end", name: "=busy") } catch { print(error.message) }
for state in states { state.shutDown() }
print("\(threads().count) threads")
if CommandLine.arguments.count > 1 { print("\((after - before) * 1024 / count) bytes a state") }
