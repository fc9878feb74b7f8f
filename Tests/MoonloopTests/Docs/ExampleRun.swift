// Runs a Lua text as `moonloop run` would, on a virtual clock, and keeps its output.

import Glibc
import LuaEmbed
import Moonloop
import MoonloopCore
import Synchronization
import TestSupport

/// The outcome of an example.
struct ExampleRun {
  /// What it printed, line by line, with a blank for a tab.
  var output: [String] = []
  /// Errors of its handlers, or of its text if it does not compile.
  var errors: [String] = []

  /// What every example finds on descriptor 0; 14 bytes.
  static let input = "one\ntwo\nthree\n"

  /// The first line of each example, unless it has its own.
  static let prelude = "local ml = require \"moonloop\" local loop = ml.current() "

  /// Descriptor 0 belongs to the process: one example at a time.
  private static let turn = Mutex(())

  init(_ text: String, name: String) {
    _ = RuntimeFolder.path
    let isWhole = text.contains("require \"moonloop\"")
    // Abstract sockets belong to the machine, where other runs of the tests have them too.
    let mark = "-\(getpid())"
    let own = text.replacing(".example\"", with: ".example\(mark)\"")
    let chunk = isWhole ? own : Self.prelude + own
    let collected = Collected()
    Self.withInput {
      do { try Self.run(chunk, name, collected) } catch { collected.errors.append("\(error)") }
    }
    errors = collected.errors
    output = collected.text.replacing(mark, with: "").split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(
      String.init)
    if output.last == "" { output.removeLast() }
  }

  final class Collected {
    var text = ""
    var errors: [String] = []
  }

  /// Lets temporary files go when the tests end, whatever becomes of the example.
  static let temporaryNames = """
    local getenv = os.getenv
    os.getenv = function(name)
      return name == "TMPDIR" and "\(RuntimeFolder.path)" or getenv(name)
    end
    local tmpname = os.tmpname
    os.tmpname = function()
      local made = tmpname()
      os.remove(made)
      local name = "\(RuntimeFolder.path)" .. made:match "/[^/]*$"
      assert(io.open(name, "w")):close()
      return name
    end
    """

  /// Sends printed text to us.
  static let capture = """
    local write = ...
    \(temporaryNames)
    io.write = function(...) write(table.concat { ... }) return io.stdout end
    print = function(...)
      local words = table.pack(...)
      for place = 1, words.n do words[place] = tostring(words[place]) end
      write(table.concat(words, " ") .. "\\n")
    end
    """

  /// The items that the examples about a program's own items use.
  static func makeItems(for lua: LuaState, _ collected: Collected) {
    lua.set("jobs", Loop.Source(name: "jobs") { _ in collected.text += "jobs performed\n" })
    lua.set(
      "tick", Loop.Timer(after: .seconds(1), name: "tick") { _ in collected.text += "tick\n" })
  }

  private static func run(_ chunk: String, _ name: String, _ collected: Collected) throws {
    try Loop.isolated(clock: .virtual) { loop in
      let lua = try LuaState(on: loop)
      defer { lua.shutDown() }
      guard let runtime = lua.runtime else { return }
      runtime.errors.write = { collected.errors.append($0) }
      makeItems(for: lua, collected)
      lua.register("captured") { (text: String) in collected.text += text }
      try lua.run("local write = captured; captured = nil; (function(...) \(capture) end)(write)")
      try runtime.mainChunk.start(chunk: chunk, name: "=\(name)")
      if !runtime.runs.ranLoop {
        // More than a weekend, over which the example of `loop:cron` waits.
        let result = loop.run(mode: .default, for: .seconds(300_000))
        if result == .timedOut { collected.errors.append("it runs for ever") }
      }
    }
  }

  /// Lets descriptor 0 be a socket that the example's input can be read from, and written to.
  static func withInput<Result>(_ body: () throws -> Result) rethrows -> Result {
    try turn.withLock { _ in
      var ends: [Int32] = [-1, -1]
      guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
        fatalError("socketpair: \(errno)")
      }
      let saved = fcntl(0, F_DUPFD_CLOEXEC, 3)
      dup2(ends[0], 0)
      close(ends[0])
      _ = input.withCString { write(ends[1], $0, strlen($0)) }
      shutdown(ends[1], Int32(SHUT_WR))
      defer {
        if saved >= 0 {
          dup2(saved, 0)
          close(saved)
        } else {
          close(0)
        }
        close(ends[1])
      }
      return try body()
    }
  }
}

extension ExampleRun {
  /// What a text says it prints: what follows each `-->`, in order.
  static func promised(by text: String) -> [String] {
    text.split(separator: "\n").compactMap { line in
      guard let range = line.firstRange(of: "-->") else { return nil }
      return String(line.suffix(from: range.upperBound).drop { $0 == " " })
    }
  }
}
