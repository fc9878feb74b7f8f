// `moonloop` without a command does what `lua5.4` does with the same command line, where that is
// installed.

import Foundation
import TestSupport
import Testing

@Suite("Without a command")
struct InterpreterTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let arguments: [String]
    let output: String
    var status: Int32 = 0
    /// What standard error contains; both print it.
    var error = ""
    var environment: [String: String] = [:]
    var testDescription: String {
      (environment.map { "\($0)=\($1)" }.sorted() + arguments).joined(separator: " ")
    }
  }

  /// Standard input, `script.lua` and `module.lua` of each row; PROGRAM stands for the
  /// interpreter.
  static let input = "print('input', arg[0], ...)"
  static let script = "print('script', arg[-1], arg[0], arg[1], ...)"
  static let module = "print('module', ...) return { name = 'module' }"

  static let rows: [Row] = [
    Row(arguments: [], output: "input\tPROGRAM\n"),
    Row(arguments: ["-", "a"], output: "input\t-\ta\n"),
    Row(
      arguments: ["script.lua", "a", "-e"],
      output: "script\tPROGRAM\tscript.lua\ta\ta\t-e\n"),
    Row(arguments: ["-W", "script.lua"], output: "script\t-W\tscript.lua\tnil\n"),
    Row(arguments: ["--", "-script.lua", "a"], output: "script\t--\t-script.lua\ta\ta\n"),
    Row(arguments: ["-e", "print(...) print(arg[0], arg[1])"], output: "\nPROGRAM\t-e\n"),
    Row(arguments: ["-eprint(1)", "-e", "print(2)"], output: "1\n2\n"),
    Row(
      arguments: [
        "-e", "print(module)", "-lmodule", "-e", "print(module.name)", "script.lua", "a",
      ],
      output: """
        nil
        module\tmodule\t./module.lua
        module
        script\tprint(module.name)\tscript.lua\ta\ta

        """),
    Row(
      arguments: ["-l", "m=module", "-e", "print(m.name, module)"],
      output: "module\tmodule\t./module.lua\nmodule\tnil\n"),
    Row(
      arguments: ["-lmodule"], output: "module\tmodule\t./module.lua\ninput\tPROGRAM\n"),
    Row(arguments: ["-W", "-e", "warn 'careful'"], output: "", error: "warning: careful\n"),
    Row(arguments: ["-e", "warn 'careful'"], output: ""),
    Row(arguments: ["-e", "os.exit(4)", "script.lua"], output: "", status: 4),
    Row(
      arguments: ["-e", "x = = 1", "script.lua"], output: "", status: 1,
      error: "(command line):1: unexpected symbol near '='\n"),
    Row(
      arguments: ["-e", "error 'no'", "-lmodule", "-e", "print(2)", "script.lua"], output: "",
      status: 1, error: "(command line):1: no\n"),
    Row(
      arguments: ["-lnothing", "script.lua"], output: "", status: 1,
      error: "module 'nothing' not found:\n"),
    Row(arguments: ["-E", "-e", "print(package.path:match 'place')"], output: "nil\n"),
    Row(arguments: ["-e", "print(package.path:match 'place')"], output: "place\n"),
    Row(arguments: ["-E", "-e", "print(os.getenv 'LUA_PATH')"], output: "place/?.lua;;\n"),
    Row(
      arguments: ["-e", "print(2)"], output: "1\t-e\n2\n",
      environment: ["LUA_INIT": "print(1, arg[1])"]),
    Row(
      arguments: ["-e", "print(2)"], output: "1\n2\n",
      environment: ["LUA_INIT": "print(0)", "LUA_INIT_5_4": "print(1)"]),
    Row(
      arguments: ["-e", "print(2)"], output: "module\n2\n",
      environment: ["LUA_INIT": "@module.lua"]),
    Row(
      arguments: ["-E", "-e", "print(2)"], output: "2\n", environment: ["LUA_INIT": "print(1)"]),
    Row(
      arguments: ["script.lua"], output: "", status: 1, error: "LUA_INIT:1: no\n",
      environment: ["LUA_INIT": "error 'no'"]),
    Row(
      arguments: ["script.lua"], output: "", status: 1, error: "cannot open nothing.lua",
      environment: ["LUA_INIT": "@nothing.lua"]),
  ]

  static let interpreters = [Program.executable.path, "/usr/bin/lua5.4"].filter {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test("does what lua does", arguments: rows, interpreters)
  func doesWhatLuaDoes(_ row: Row, _ interpreter: String) throws {
    try withFile(Self.script) { path in
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
      for (name, text) in [("module.lua", Self.module), ("-script.lua", Self.script)] {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
      }
      let program = try Program(
        row.arguments, input: row.output.contains("input") ? Self.input : "",
        environment: row.environment.merging(["LUA_PATH": "place/?.lua;;"]) { $1 }, in: folder,
        of: interpreter)
      let outcome = try program.wait()
      #expect(outcome.output.replacing(interpreter, with: "PROGRAM") == row.output)
      #expect(outcome.status == row.status, "\(outcome)")
      #expect(row.error.isEmpty ? outcome.errors.isEmpty : outcome.errors.contains(row.error))
    }
  }

  @Test("begins each part when the one before has returned, though it waits, and runs the loop")
  func waits() throws {
    let outcome = try moonloop(
      [
        "--clock", "virtual", "-e", "ml = require 'moonloop' ml.sleep(1) print 'first'",
        "-e", "ml.current():after(1, function() print 'timer' end) print 'second'", "-",
      ], input: "ml.sleep(0.5) print 'input' ml.sleep(1) print 'end'")
    #expect(outcome.output == "first\nsecond\ninput\ntimer\nend\n", "\(outcome)")
    #expect(outcome.status == 0)
  }

  @Test("the loop is run at the end, unless the last part has run it")
  func runsAtTheEnd() throws {
    let begin = "loop = require 'moonloop'.current() loop:run { timeout = 0 }"
    let timer = "loop:after(0.01, function() print 'timer' end)"
    #expect(try moonloop(["-e", begin, "-e", timer]).output == "timer\n")
    #expect(try moonloop(["-e", begin + timer + "loop:run { timeout = 0 }"]).output == "")
  }

  @Test("-v shows the versions, Lua's first; and does nothing else without a script")
  func versions() throws {
    let shown = try moonloop(["-v"])
    #expect(shown.output.wholeMatch(of: /Lua 5\.4\.\d on moonloop [\d.]+\n/) != nil, "\(shown)")
    #expect(
      try moonloop(["--version"]).output.wholeMatch(of: /moonloop [\d.]+ \(Lua 5.4.\d\)\n/) != nil)
    let both = try moonloop(["-v", "-e", "print 'chunk'"])
    #expect(both.output == shown.output + "chunk\n")
  }

  @Test(
    "require finds the module of the script's name, never the script itself",
    arguments: ["tool.lua", "./tool.lua", "FOLDER/tool.lua"])
  func findsOthers(_ path: String) throws {
    let script = "print 'script' print(require('tool').name, pcall(require, 'tool.none'))"
    try withFile(script, name: "tool.lua") { file in
      let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
      let arguments = [path.replacing("FOLDER", with: folder.path)]
      let alone = try moonloop(arguments, in: folder)
      #expect(alone.status == 1 && alone.output == "script\n", "\(alone)")
      #expect(alone.errors.contains("module 'tool' not found:"))
      let option = try moonloop(["-l", "no.such"], in: folder)
      #expect(option.errors.contains("\n(command line):1: module 'no.such' not found:"))
      #expect(alone.errors.contains("tool.lua', which is the running script\n"))
      let module = folder.appendingPathComponent("tool/init.lua")
      try FileManager.default.createDirectory(
        at: module.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("return { name = 'module' }".utf8).write(to: module)
      let both = try moonloop(arguments, in: folder)
      #expect(both.output.hasPrefix("script\nmodule\tfalse\tmodule 'tool.none' not found"))
    }
  }

  @Test("-i evaluates standard input after the script")
  func prompts() throws {
    let outcome = try moonloop(["-i", "-e", "x = 20"], input: "x + 1\n")
    #expect(outcome.output.hasSuffix("\n21\n"), "\(outcome)")
    #expect(outcome.status == 0)
  }

  @Test("at a terminal there is a prompt: alone, and after what -i goes with")
  func promptsAtTerminal() throws {
    for (arguments, answer) in [([], "nil"), (["-i", "-e", "x = 20"], "20")] {
      let session = try TerminalSession(arguments)
      try session.waitFor("> ")
      try session.enter("x", "\(answer)\r\n")
      try session.waitFor("> ")
      try session.quit()
    }
  }

  @Test("the prompts are those of _PROMPT and _PROMPT2")
  func otherPrompts() throws {
    let session = try TerminalSession(["-i", "-e", "_PROMPT, _PROMPT2 = 'ask: ', 'more: '"])
    try session.waitFor("ask: ")
    try session.enter("x = {", "more: ")
    try session.enter("7 }; return x[1]", "7\r\n")
    try session.waitFor("ask: ")
    try session.quit()
  }

  /// What lua's own strict.lua does, in short.
  private let strict = """
    setmetatable(_G, {
      __newindex = function(t, name, value)
        local caller = debug.getinfo(2, "S").what
        if caller ~= "main" and caller ~= "C" then error("assign to undeclared " .. name, 2) end
        rawset(t, name, value)
      end,
      __index = function(_, name) error("variable " .. name .. " is not declared", 2) end,
    })
    """

  @Test("the prompt assigns as a main chunk does, and looks for its own names past metatables")
  func strictGlobals() throws {
    let session = try TerminalSession(["-i", "-e", strict])
    try session.waitFor("> ")
    try session.enter("x = 5", "> ")
    try session.enter("x", "5\r\n> ")
    try session.enter("y", "console:1: variable y is not declared")
    try session.waitFor("> ")
    try session.enter("_PROMPT = setmetatable({}, { __tostring = error })", "> ")
    try session.quit()
  }

  @Test("a script may begin with #!/usr/bin/env moonloop")
  func shebang() throws {
    let path = "#!/usr/bin/env moonloop\nprint(arg[0]:match '[^/]+$', ...)"
    try withFile(path) { path in
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
      let folder = Program.executable.deletingLastPathComponent().path
      let outcome = try Program(
        ["a", "--clock"], environment: ["PATH": "\(folder):/usr/bin:/bin"], of: path
      ).wait()
      #expect(outcome.output == "script.lua\ta\t--clock\n", "\(outcome)")
    }
    let live = Program.examples.appendingPathComponent("live.lua").path
    #expect(FileManager.default.isExecutableFile(atPath: live))
  }

  @Test("what is before arg[0] starts a script again, with the same options")
  func startsAgain() throws {
    let script = """
      local first = 0
      while arg[first - 1] do first = first - 1 end
      local command = { table.unpack(arg, first, 0) }
      if ... == "again" then return require "moonloop".sleep(1e6), print "slept" end
      command[#command + 1] = "again"
      io.write(require "moonloop".process.run(command).stdout)
      """
    try withFile(script) { path in
      for command in [[], ["run"]] {
        let outcome = try moonloop(command + ["--clock", "virtual", path])
        #expect(outcome.output == "slept\n" && outcome.errors == "", "\(outcome)")
      }
    }
  }

  /// Fails unless `arg` is that of `moonloop FILE`.
  static let looksAtArguments = """
    local first = 0
    while arg[first - 1] do first = first - 1 end
    assert(first < 0 and arg[first]:match "moonloop$", "what is before the script")
    assert(arg[0]:match "[^/]*$" == "script.lua", "the script")

    """

  @Test(
    "arg is that of a script for a configuration, whatever reads it",
    arguments: [
      ["--timeout", "0"], ["run", "--timeout", "0"], ["plan"], ["check"],
      ["simulate", "--for", "1s"],
    ])
  func argumentsOfConfiguration(_ command: [String]) throws {
    let text = "assert(#arg == 0) return { timers = { beat = { every = 1, handler = print } } }"
    try withFile(Self.looksAtArguments + text) { path in
      let outcome = try moonloop(command + [path])
      #expect(outcome.status == 0, "\(outcome)")
    }
  }

  @Test("arg is that of a script for the helper of tests, with its own arguments")
  func argumentsOfHelper() throws {
    let helper = Self.looksAtArguments + "assert(table.concat(arg, ' ') == 'a b')"
    try withFile(helper) { path in
      let spec = URL(fileURLWithPath: path).deletingLastPathComponent()
        .appendingPathComponent("some_spec.lua")
      try Data("it('is', function() end)".utf8).write(to: spec)
      let outcome = try moonloop(["test", "--helper", path, "-Xhelper", "a,b", spec.path])
      #expect(outcome.status == 0, "\(outcome)")
    }
  }

  @Test(
    "LUA_INIT is heeded by what runs files of the user", arguments: ["plan", "simulate", "test"])
  func initialization(_ command: String) throws {
    let text = command == "test" ? "assert(x == 1) it('is', print)" : "assert(x == 1) return {}"
    try withFile(text) { path in
      let outcome = try Program([command, path], environment: ["LUA_INIT": "x = 1"]).wait()
      #expect(outcome.status == 0, "\(outcome)")
    }
  }

  /// Lua writes each argument by itself: what workers print comes between.
  @Test("a line is printed as a whole, once all of its texts are made")
  func printsLines() throws {
    let script = """
      local b = setmetatable({}, { __tostring = function() print "inner" return "b" end })
      print("a", b, nil, 1.5)
      """
    #expect(try moonloop(["-e", script]).output == "inner\na\tb\tnil\t1.5\n")
  }

  @Test("a replay has the chunks before the script too")
  func isReplayed() throws {
    try withFile("print(x, ...)") { path in
      let tape = path + ".mlt"
      let first = path + ".init.lua"
      try Data("y = os.time()".utf8).write(to: URL(fileURLWithPath: first))
      let recorded = try Program(
        ["--record", tape, "-e", "x = os.clock() + y", path, "a"],
        environment: ["LUA_INIT": "@" + first]
      ).wait()
      try FileManager.default.removeItem(atPath: first)
      #expect(recorded.status == 0 && recorded.errors == "", "\(recorded)")
      #expect(try moonloop(["replay", tape]).output == recorded.output)
    }
  }
}
