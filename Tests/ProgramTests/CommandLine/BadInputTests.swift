// Broken scripts and environments: a clear message with its place, the promised status, never a
// crash, a hang or a report by Swift.

import Foundation
import Testing

@Suite("Bad input")
struct BadInputTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let what: String
    var options: [String] = []
    let script: String
    let status: Int32
    var errors: [String] = []
    var output: String?

    var testDescription: String { what }
  }

  static let rows: [Row] = [
    Row(
      what: "a syntax error", script: "local x\n\nx = = 3\n", status: 1,
      errors: ["script.lua:3: unexpected symbol near '='"]),
    Row(
      what: "a binary chunk", script: "\u{1B}Lua", status: 1,
      errors: ["script.lua: this is a compiled (binary) chunk"]),
    Row(
      what: "a byte order mark and a first line with #", script: "\u{FEFF}#!x\nerror 'here'",
      status: 1, errors: ["script.lua:2: here"]),
    Row(
      what: "an error that is nil", script: "error(nil)", status: 1,
      errors: ["(error object is a nil value)\n", "script.lua:1: in main chunk"]),
    Row(
      what: "an error that is a table", script: "error({ code = 'E', message = 'table said' })",
      status: 1, errors: ["table said", "script.lua:1: in main chunk"]),
    Row(
      what: "an error whose __tostring fails",
      script: "error(setmetatable({}, { __tostring = function() error 'no' end }))", status: 1,
      errors: ["(error object is a table value)", "script.lua:1: in main chunk"]),
    Row(
      what: "an error whose __tostring loops", options: ["--callout", "50ms"],
      script: "error(setmetatable({}, { __tostring = function() while true do end end }))",
      status: 3,
      errors: ["in __tostring of an error object: call-out took longer than 0.05 seconds"]),
    Row(
      what: "an error in __gc",
      script:
        "setmetatable({}, { __gc = function() error 'in gc' end })\ncollectgarbage()\nprint 'on'",
      status: 1, errors: ["error in __gc", "script.lua:1: in gc"], output: "on\n"),
    Row(
      what: "an error in __close",
      script: "local x <close> = setmetatable({}, { __close = function() error 'in close' end })",
      status: 1, errors: ["script.lua:1: in close"]),
    Row(
      what: "an error in the error handler",
      script: "require 'moonloop'.current().on_error = function() error 'again' end\nerror 'first'",
      status: 1,
      errors: ["error in the error handler", "script.lua:1: again", "script.lua:2: first"]),
    Row(
      what: "an endless loop that catches", options: ["--callout", "50ms"],
      script: "while true do pcall(function() while true do end end) end", status: 3,
      errors: ["call-out took longer", "script.lua:1"]),
    Row(
      what: "an endless handler, after which the loop goes on", options: ["--callout", "50ms"],
      script: """
        local loop = require "moonloop".current()
        loop:after(0, function() while true do end end)
        loop:after(0.001, function() print "on" end)
        """, status: 3, errors: ["timer (made at ", "script.lua:2"], output: "on\n"),
    Row(
      what: "an endless recursion", script: "local function f() return 1 + f() end f()", status: 1,
      errors: ["script.lua:1: stack overflow"]),
    Row(
      what: "an endless recursion through C",
      script: "local function f(s) return s:gsub('.', f) end f 'x'", status: 1,
      errors: ["script.lua:1"]),
    Row(
      what: "a memory bomb", options: ["--memory", "16M"],
      script: "local s = 'x' while true do s = s .. s end", status: 3,
      errors: ["memory limit of 16777216 bytes exceeded", "script.lua:1"]),
    Row(
      what: "10,000 nested runs",
      script: """
        local loop, deepest, problem = require "moonloop".current(), 0, nil
        local function nest()
          deepest = math.max(deepest, loop.depth)
          if deepest >= 10000 or problem then return end
          loop:after(0, nest)
          local ok, message = pcall(loop.run, loop, { timeout = 0 })
          problem = problem or not ok and message
        end
        loop:after(0, nest)
        loop:run()
        print(deepest, problem)
        """, status: 0,
      output:
        "31\tloop:run: runs and calls are nested 32 deep; the limit is 32 (script.lua:6); let "
        + "handlers return, or raise it: ml.limit { nesting = 60 }\n"),
    Row(
      what: "a wrong option of the module",
      script: "require 'moonloop'.current():timer { evry = 1, print }", status: 1,
      errors: ["unknown option 'evry' (script.lua:1); did you mean 'every'?"]),
    Row(
      what: "a module that is not there", script: "require 'no.such'", status: 1,
      errors: ["module 'no.such' not found", "script.lua:1"]),
    Row(
      what: "functions that block while others wait",
      script: """
        require "moonloop".current():after(0, function() end)
        for _ = 1, 3 do io.read() os.execute "true" end
        """, status: 0,
      errors: [
        "warning: io.read blocks the loop until it returns (", "script.lua:2)",
        "warning: os.execute blocks",
      ]),
    Row(
      what: "LuaSocket's functions that block while others wait",
      script: """
        local socket = require "socket"
        require "moonloop".current():after(0, function() end)
        local server = socket.bind("127.0.0.1", 0)
        server:settimeout(0) server:accept() server:settimeout(0.01)
        for _ = 1, 2 do
          server:accept()
          socket.select({ server }, nil, 0.01)
        end
        """, status: 0,
      errors: [
        "warning: socket:accept blocks the loop until it returns (",
        "script.lua:6); with require \"moonloop.compat.socket\" the loop goes on meanwhile",
        "warning: socket.select blocks the loop until it returns (",
      ]),
    Row(
      what: "a driver of LuaSQL that blocks while something else waits",
      script: """
        package.searchers[2] = function(name)
          return name == "luasql.made_up" and function()
            for _, kind in ipairs { "environment", "connection" } do
              local class = { execute = function(_, text) return text end }
              local registry = debug.getregistry()
              function class.connect() return registry["MadeUp connection"] end
              class.__index, registry["MadeUp " .. kind] = class, class
            end
            return { made_up = function() return debug.getregistry()["MadeUp environment"] end }
          end
        end
        require "moonloop".current():after(0, function() end)
        local connection = require "luasql.made_up".made_up():connect()
        for _ = 1, 2 do
          print(connection:execute "select")
        end
        """, status: 0,
      errors: [
        "warning: MadeUp environment:connect blocks the loop until it returns (",
        "script.lua:13); with require \"moonloop.compat.socket\" before it the loop goes on",
        "warning: MadeUp connection:execute blocks the loop until it returns (", "script.lua:15)",
      ]),
    Row(
      what: "a port whose broker is not there", options: ["--clock", "skip_idle"],
      script: """
        local ml = require "moonloop"
        local port = ml.port { name = "jobs", over = "redis://127.0.0.1:1", print }
        ml.current():after(20, function() port:invalidate() end)
        """, status: 0,
      errors: ["moonloop: warning: port 'jobs': ", "ECONNREFUSED", "; trying again"]),
    Row(
      what: "a name with control bytes", script: "error('a\\27[31mb\\0c')", status: 1,
      errors: ["script.lua:1: a?[31mb?c"]),
  ]

  @Test("is reported with its place, and nothing crashes", arguments: rows)
  func isTold(_ row: Row) throws {
    let outcome = try withFile(row.script) { path -> Outcome in
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      let outcome = try moonloop(["run"] + row.options + [path])
      // Lua shortens long names to their end; what precedes the file's name does not matter.
      func strip(_ text: String) -> String {
        text.replacing(/[^ '(\n\t]*\/?script\.lua/, with: "script.lua")
          .replacingOccurrences(of: folder + "/", with: "")
      }
      return Outcome(
        status: outcome.status, wasKilled: outcome.wasKilled, output: strip(outcome.output),
        errors: strip(outcome.errors))
    }
    #expect(outcome.status == row.status, "\(outcome)")
    for text in row.errors { #expect(outcome.errors.contains(text), "\(outcome)") }
    if row.errors.isEmpty { #expect(outcome.errors == "") }
    if let output = row.output { #expect(outcome.output == output) }
    #expect(outcome.isOurs)
    #expect(outcome.errors.utf8.count < 20_000)
  }

  @Test("a full disk is reported once, and the loop goes on")
  func fullDisk() throws {
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let script = """
      local loop, n = require "moonloop".current(), 0
      loop:every(0.001, function(timer)
        n = n + 1
        print(n)
        if n == 5 then io.stderr:write "five\\n" timer:invalidate() end
      end)
      """
    let outcome = try Program(["run", "-e", script], output: full).wait(untilOutputEnds: false)
    #expect(outcome.status == 1)
    #expect(
      outcome.errors
        == "moonloop: cannot write to standard output: output is lost"
        + " (No space left on device)\nfive\n")
  }

  @Test("output is lost, and that is told, if standard output was closed from the start")
  func closedOutput() throws {
    let printing = try outcome(ofShell: "exec \"$0\" run -e \"$1\" >&-", "print(1)")
    #expect(printing.status == 1)
    #expect(
      printing.errors
        == "moonloop: cannot write to standard output: output is lost (Bad file descriptor)\n")
    let silent = try outcome(ofShell: "exec \"$0\" run -e \"$1\" >&-", "io.stderr:write 'x'")
    #expect(silent.status == 0 && silent.errors == "x")
  }

  @Test("standard streams that are closed are not taken by other files")
  func closedStreams() throws {
    let script = """
      print(io.read("a") or "nothing") io.stderr:write "x"
      local loop = require "moonloop".current()
      loop:after(0.001, function() print "y" io.write "z" os.exit(9) end)
      """
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = [
      "-c", "exec \"$0\" run -e \"$1\" <&- >&- 2>&-", Program.executable.path, script,
    ]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 9)
  }

  @Test("without descriptors an item is refused, the loop goes on, and a start says why")
  func noDescriptors() throws {
    let script = """
      local loop, files = require "moonloop".current(), {}
      for _ = 1, 90 do files[#files + 1] = io.open "/dev/null" end
      print(select(3, loop:fd { fd = 0, modes = "another", read = print }))
      print(select(3, loop:at(os.time() + 1, print)))
      loop:after(0.001, function() print "alive" end)
      """
    let few = try outcome(ofShell: "ulimit -n 64; exec \"$0\" run -e \"$1\"", script)
    #expect(few.output == "EMFILE\nEMFILE\nalive\n")
    #expect(few.status == 0)
    // Too few for a loop: a message, whichever of its descriptors is the one too many.
    let none = try outcome(
      ofShell: "exec 5<&- 6<&- 7<&- 8<&- 9<&-; ulimit -n 4; exec \"$0\" run -e \"$1\"", "")
    #expect(none.status == 1)
    #expect(none.errors.hasPrefix("moonloop: cannot make a loop: "))
    #expect(none.errors.hasSuffix("failed: Too many open files (EMFILE)\n"))
  }

  @Test("a watch without descriptors reports it, and finds later what is in a new folder")
  func unlistedFolder() throws {
    let script = """
      local loop, files = require "moonloop".current(), {}
      local folder = os.tmpname()
      os.execute("rm " .. folder .. "; mkdir " .. folder)
      local function on_error(problem)
        print(problem.code)
        for _, file in ipairs(files) do file:close() end
        io.open(folder .. "/new/z", "w"):close()
      end
      loop:watch { folder, recursive = true, on_error = on_error, function(watch, changes)
        for _, change in ipairs(changes) do print(change.kind, change.path:sub(#folder + 2)) end
        if not changes[2] then return end
        watch:invalidate()
        os.execute("rm -r " .. folder)
      end }
      os.execute("cd " .. folder .. "; mkdir new; echo > new/y")
      for _ = 1, 90 do files[#files + 1] = io.open "/dev/null" end
      """
    let few = try outcome(ofShell: "ulimit -n 64; exec \"$0\" run -e \"$1\"", script)
    #expect(few.output == "EMFILE\ncreated\tnew\ncreated\tnew/z\ncreated\tnew/y\n")
  }

  private func outcome(
    ofShell command: String, _ script: String
  ) throws -> (status: Int32, output: String, errors: String) {
    let shell = Process()
    let (output, errors) = (Pipe(), Pipe())
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", command, Program.executable.path, script]
    shell.standardOutput = output
    shell.standardError = errors
    shell.standardInput = FileHandle.nullDevice
    try shell.run()
    let texts = try [output, errors].map {
      String(decoding: try $0.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }
    shell.waitUntilExit()
    return (shell.terminationStatus, texts[0], texts[1])
  }

  @Test("a line of 100 MB is a script like others")
  func longLine() throws {
    let bytes = (Program.isSanitized ? 10 : 100) << 20
    try withFile("local s = '" + String(repeating: "x", count: bytes) + "' print(#s) error 'e'") {
      let outcome = try moonloop(["run", $0])
      #expect(outcome.output == "\(bytes)\n")
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("script.lua:1: e"))
    }
  }

  @Test("modules are found beside the script, and those written in C load")
  func findsModules() throws {
    try withFile("return { 'beside' }", name: "neighbour.lua") { path in
      let script = URL(fileURLWithPath: path).deletingLastPathComponent()
        .appendingPathComponent("script.lua").path
      try Data(
        "print(require 'neighbour'[1], require 'cjson'.encode { 1 }, require 'lpeg'.P(1):match 'x')"
          .utf8
      )
      .write(to: URL(fileURLWithPath: script))
      let outcome = try moonloop(["run", script])
      #expect(outcome.output == "beside\t[1]\t2\n", "\(outcome)")
    }
  }
}
