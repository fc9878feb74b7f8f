// A tool whose configuration is Lua: a file says which checks to make, with the variables,
// conditions and functions of a language. docs/hosting.md explains it; `ProgramTests` runs it.

import Glibc
import Moonloop

/// What the file returns.
struct Configuration: LuaDefaultFields, LuaExactFields {
  struct Check: Codable {
    var name: String
    var most: Int
    var level: Level?
  }
  enum Level: String, Codable { case warning, error }

  var title = "checks"
  var checks: [Check] = []
}

/// Reads the file in a state without access to the system.
func read(_ path: String) throws(LuaError) -> Configuration {
  let lua = try LuaState(
    on: Loop.current, limits: LuaLimits(memory: 8 << 20, callout: .seconds(1)),
    libraries: .safe, capabilities: [])
  defer { lua.shutDown() }
  lua.set("lines", 1200)
  return try lua.decode(Configuration.self, file: path)
}

/// Ends the program with a sentence.
func end(_ text: String, _ status: Int32) -> Never {
  _ = (text + "\n").withCString { write(STDERR_FILENO, $0, strlen($0)) }
  exit(status)
}

guard CommandLine.arguments.count == 2 else { end("usage: tool FILE", 2) }
do {
  let configuration = try read(CommandLine.arguments[1])
  print("\(configuration.title):")
  for check in configuration.checks {
    print("  \(check.name) <= \(check.most) (\((check.level ?? .error).rawValue))")
  }
} catch {
  end("tool: \(error.message)", 1)
}
