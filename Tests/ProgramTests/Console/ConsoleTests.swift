// Consoles of running programs: which are listed, who may attach, and what they answer.

import Foundation
import TestSupport
import Testing

@Suite("Consoles")
struct ConsoleTests {
  /// A program with a timer, once it runs.
  private func withProgram(
    _ script: String = "", name: String, _ arguments: [String] = [],
    _ body: (Program) throws -> Void
  ) throws {
    let start = """
      local ml = require 'moonloop'
      ml.current():every(60, print)
      print 'ready' io.stdout:flush()\n
      """
    try withFile(start + script, name: name) { file in
      let program = try Program(["run", "--timeout", "100"] + arguments + [file])
      try program.waitFor("ready")
      try body(program)
      program.send(SIGTERM)
      #expect(try program.wait().status == 128 + SIGTERM)
    }
  }

  private var sockets: String { RuntimeFolder.path + "/moonloop" }

  @Test("a program that runs is listed by name, number and file")
  func listed() throws {
    try withProgram(name: "listed_program.lua") { program in
      let list = try moonloop(["ps"])
      let row = list.output.split(separator: "\n").first { $0.contains(" \(program.pid) ") }
      let words = row?.split(separator: " ") ?? []
      #expect(words.first == "listed_program")
      #expect(words.last?.hasSuffix("/listed_program.lua") == true)
      let other = try moonloop(["ps", "--json"])
      #expect(
        other.output.contains("\"name\":\"listed_program\",\"pid\":\(program.pid),\"since\":"))
    }
    try withProgram(name: "named.lua", ["--name", "of another name"]) { program in
      let list = try moonloop(["ps", "--json"])
      #expect(list.output.contains("\"name\":\"of another name\",\"pid\":\(program.pid),"))
      let answer = try moonloop(["attach", "of another name"], input: "1 + 1")
      #expect(answer.output == "2\n")
    }
  }

  @Test("long answers arrive whole, and what is typed next is answered")
  func long() throws {
    try withProgram(name: "long_answers.lua") { program in
      let lines = """
        print(('x'):rep(3000000))
        return ('y'):rep(2000000)
        for i = 1, 50000 do print(('z'):rep(100)) end
        1 + 1

        """
      let answer = try moonloop(["attach", "long_answers"], input: lines)
      #expect(answer.status == 0 && answer.errors == "")
      let parts = answer.output.split(separator: "\n")
      #expect(parts.first?.count == 3_000_000 && parts[1].count == 2_000_002)
      #expect(parts.count == 50_003 && parts.last == "2")
    }
  }

  @Test("an evaluation that has no memory is answered")
  func large() throws {
    try withProgram(name: "large.lua", ["--memory", "16M"]) { program in
      let answer = try moonloop(["attach", "large"], input: "('x'):rep(1000000000)\n2 + 2\n")
      #expect(answer.output == "4\n")
      #expect(answer.errors.contains("memory limit of 16777216 bytes exceeded"))
    }
  }

  @Test("a guest has no console")
  func guest() throws {
    try withFile("require('moonloop').current():every(60, print) print 'ready'", name: "guest.lua")
    { file in
      let program = try Program(["run", "--guest", "--allow", "timers", "--timeout", "100", file])
      defer { program.send(SIGKILL) }
      try program.waitFor("ready")
      #expect(try !moonloop(["ps"]).output.contains(" \(program.pid) "))
      #expect(try moonloop(["attach", "\(program.pid)"], input: "1").status == 1)
      program.send(SIGTERM)
      #expect(try program.wait().status == 128 + SIGTERM)
    }
  }

  private static let starts: [(arguments: [String], input: Bool, name: String, file: String)] = [
    ([], true, "moonloop", ""), (["-"], true, "stdin", "-"),
    (["NAMED.lua"], false, "NAMED", "NAMED.lua"),
    (["-l", "string", "NAMED.lua", "a", "b"], false, "NAMED", "NAMED.lua"),
    (["--timeout", "100", "--", "NAMED.lua"], false, "NAMED", "NAMED.lua"),
    (["-e", "SCRIPT"], false, "chunk", "-e"), (["-eSCRIPT"], false, "chunk", "-e"),
    (["-e", "x = 1", "NAMED.lua", "a"], false, "NAMED", "NAMED.lua"),
    (["run", "-e", "SCRIPT", "a", "b"], false, "chunk", "-e"),
    (["run", "-e", "SCRIPT", "--name", "NAMED"], false, "NAMED", "-e"),
  ]

  @Test("programs started as by 'lua' have the names of their files", arguments: starts)
  func startedAsByLua(
    _ start: (arguments: [String], input: Bool, name: String, file: String)
  ) throws {
    let script = "require('moonloop').current():every(60, print) io.write 'ready' io.flush()"
    try withFile(script, name: "NAMED.lua") { path in
      let program = try Program(
        start.arguments.map { $0.replacingOccurrences(of: "SCRIPT", with: script) },
        input: start.input ? script : "", in: URL(fileURLWithPath: path).deletingLastPathComponent()
      )
      defer { program.send(SIGKILL) }
      try program.waitFor("ready")
      let list = try moonloop(["ps", "--json"])
      #expect(
        list.output.contains(
          "{\"file\":\"\(start.file)\",\"name\":\"\(start.name)\",\"pid\":\(program.pid),"),
        "\(list)")
      #expect(list.errors == "")
    }
  }

  @Test("an interrupt of no console is ignored, as are real-time signals without a handler")
  func strayInterrupts() throws {
    let busy = "ml.current():every(0.0001, function() for i = 1, 1e5 do end print(1) end)\n"
    for arguments in [[], ["--record", "/dev/null"]] {
      try withProgram(busy, name: "stray.lua", arguments) { program in
        // 38 asks for a console, after which 39 interrupts what runs, be it the main chunk.
        let numbers = (Int32(34)...64).filter { $0 != 38 }
        for _ in 0..<200 { for number in numbers { program.send(number) } }
      }
    }
  }

  @Test("a program of another session, or of none, is reached where it has its folder")
  func otherSession() throws {
    try inFolder { folder in
      for session in [folder.path, ""] {
        let script = "require('moonloop').current():every(60, print) io.write 'ready' io.flush()"
        let program = try Program(
          ["run", "--timeout", "100", "-e", script], environment: ["XDG_RUNTIME_DIR": session])
        defer { program.send(SIGKILL) }
        try program.waitFor("ready")
        let answer = try Program(
          ["attach", "\(program.pid)"], input: "6 * 7",
          environment: ["XDG_RUNTIME_DIR": session.isEmpty ? folder.path : ""]
        ).wait()
        #expect(answer.output == "42\n", "\(answer)")
      }
    }
  }

  @Test("answers come from the program, and printing goes to the console")
  func attached() throws {
    try withProgram("shared = 40", name: "attached.lua") { program in
      let lines = """
        shared + 2
        print 'here' ml.sleep(0.01) shared = 1
        shared
        local _ = io.write("a", 1), io.stderr:write "b\\n"
        io.stdout
        error { code = 7 }
        """
      let outcome = try moonloop(["attach", "\(program.pid)"], input: lines)
      #expect(outcome.output == "42\nhere\n1\na1b\nfile (console)\n")
      #expect(outcome.errors.hasPrefix("{ code = 7 }\nstack traceback:"))
      #expect(outcome.status == 1)
      let second = try moonloop(["attach", "attached"], input: "shared, loop.mode")
      #expect(second.output == "1\t\"default\"\n")
      #expect(program.outputSoFar == "ready\n")
    }
  }

  @Test("the socket is the user's alone, and replaces one that was left behind")
  func permissions() throws {
    try withProgram(name: "socket.lua") { program in
      let path = "\(sockets)/\(program.pid).sock"
      #expect(!FileManager.default.fileExists(atPath: path))  // no console has been asked for yet
      mkdir(sockets, 0o700)
      let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let size = socklen_t(MemoryLayout<sockaddr_un>.size)
      let bound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(left, $0, size) }
      }
      #expect(bound == 0)
      close(left)
      let answer = try moonloop(["attach", "\(program.pid)"], input: "'it is me'")
      #expect(answer.output == "\"it is me\"\n")
      var status = stat()
      #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
      #expect(stat(sockets, &status) == 0 && status.st_mode & 0o777 == 0o700)
    }
  }

  @Test("sockets of programs that were killed are removed, by ps and by the next listener")
  func leftBehind() throws {
    let script = "require 'moonloop'.current():every(60, print) print 'ready' io.stdout:flush()"
    try inFolder { folder in
      // Of its own: what other tests start would remove the sockets as well.
      let session = ["XDG_RUNTIME_DIR": folder.path]
      func start(_ arguments: [String], input: String = "") throws -> Program {
        try Program(arguments, input: input, environment: session)
      }
      /// A program whose console has been asked for, and its socket.
      func listener() throws -> (program: Program, socket: String) {
        let program = try start(["run", "-e", script])
        try program.waitFor("ready")
        let answer = try start(["attach", "\(program.pid)"], input: "1").wait()
        #expect(answer.output == "1\n")
        return (program, "\(folder.path)/moonloop/\(program.pid).sock")
      }
      for next in ["ps", "attach"] {
        let (program, socket) = try listener()
        #expect(FileManager.default.fileExists(atPath: socket))
        program.send(SIGKILL)
        #expect(try program.wait().wasKilled)
        #expect(FileManager.default.fileExists(atPath: socket))
        if next == "ps" {
          #expect(try start(["ps"]).wait().status == 0)
        } else {
          let other = try listener().program
          other.send(SIGTERM)
          #expect(try other.wait().status == 128 + SIGTERM)
        }
        #expect(!FileManager.default.fileExists(atPath: socket))
      }
    }
  }

  @Test("a reload drops no console, and nothing that is evaluated there")
  func reloaded() throws {
    let text = "value = VALUE require 'moonloop'.current():every(60, print) print 'ready'"
    for isPrompt in [true, false] {
      try withFile(text.replacing("VALUE", with: "1"), name: "reloaded.lua") { file in
        let program = isPrompt ? nil : try Program(["run", file])
        defer { program?.send(SIGKILL) }
        try program?.waitFor("ready")
        let session = try TerminalSession(
          isPrompt ? ["repl", file] : ["attach", "\(program?.pid ?? 0)"])
        try session.waitFor("> ")
        try session.enter("own = 'kept' return value", "1\r\n")
        try session.enter("task = loop:task(function() ml.sleep(0.1) return 'slept' end)", "> ")
        for generation in 2...4 {
          try Data(text.replacing("VALUE", with: "\(generation)").utf8)
            .write(to: URL(fileURLWithPath: file))
          try session.enter("ml.reload()", "generation = \(generation)")
          try session.enter("value, own", "\(generation)\t\"kept\"\r\n")
        }
        try session.enter("task:await()", "\"slept\"\r\n")
        try session.quit()
      }
    }
  }

  @Test("the example is fixed from outside")
  func example() throws {
    let file = Program.examples.appendingPathComponent("attach.lua").path
    let program = try Program(["run", file])
    try program.waitFor("ready")
    let lines = """
      ml.sleep(0.05) return #jobs > 0, done
      loop:why(worker):match "timer 'worker' .*: due in %d+"
      worker:invalidate() worker = loop:every(0.02, work)
      ml.sleep(0.1) return done > 0
      loop:stop "fixed"
      """
    let console = try moonloop(["attach", "\(program.pid)"], input: lines)
    let rows = console.output.split(separator: "\n")
    // The last answer may be lost, because the program stops.
    try #require(rows.count >= 3, "\(console)")
    #expect(rows[0] == "true\t0" && rows[2] == "true", "\(console)")
    #expect(rows[1].contains(": due in "), "\(console)")
    #expect(try program.wait().output == "ready\nfixed\n")
  }

  @Test("a console holds no run open")
  func endsAsBefore() throws {
    let script = """
      local ml = require 'moonloop'
      local gate = ml.current():source { modes = 'default',
        perform = function(source) source:invalidate() end }
      function go() gate:signal() end
      print 'ready' io.stdout:flush()
      """
    try withReady(script, name: "ends.lua") { program in
      let outcome = try moonloop(["attach", "\(program.pid)"], input: "go()\nml.sleep(0.001)\n1")
      #expect(outcome.errors == "moonloop: attach: the program has ended\n")
      #expect(outcome.status == 1)
      #expect(try program.wait().status == 0)
    }
  }

  @Test("a line that is too long is refused, and the console goes on")
  func longLine() throws {
    try withProgram(name: "long.lua") { program in
      let lines = String(repeating: "a", count: 1 << 20) + "\n6 * 7\n"
      let outcome = try moonloop(["attach", "\(program.pid)"], input: lines)
      #expect(outcome.output == "42\n")
      #expect(outcome.errors.hasPrefix("the text is too long: 1048594 bytes"), "\(outcome.errors)")
      #expect(outcome.status == 1)
    }
  }

  @Test("an answer as JSON ends at its limit, or when it is interrupted")
  func longJSON() throws {
    try withProgram(name: "json_answers.lua") { program in
      #expect(try moonloop(["attach", "json_answers"], input: "1").output == "1\n")
      let script = """
        local ml = require "moonloop"
        local stream = assert(ml.net.connect { path = "\(sockets)/\(program.pid).sock" })
        local function ask(text, form)
          local request = text and { eval = text, as = form or "json" }
          if request then stream:write(ml.json.encode(request), "\\n") end
          local reply = ml.json.decode(stream:read "l")
          if text then print(reply.ok, (reply.error or reply.values[1]):match "[^\\n]*") end
        end
        ask()
        ask "(function() local t = {} for i = 1, 60 do t = { t, t } end return t end)()"
        ask "('x'):rep(50 << 20)"
        ask "{ a = { 1, 2 } }"
        ask("1", "xml")
        """
      let outcome = try Program(["-"], input: script).wait()
      #expect(
        outcome.output == """
          false\tml.json.encode: longer than 1048576 bytes
          false\tml.json.encode: longer than 1048576 bytes
          true\t{"a":[1,2]}
          false\tnot understood: 'as' is "text" or "json"

          """, "\(outcome)")
    }
  }

  @Test("what cannot be attached to is reported")
  func refused() throws {
    let rows: [(target: [String], message: String, status: Int32)] = [
      (["no-such-name"], "no program 'no-such-name' is running; see 'moonloop ps'", 1),
      (
        ["1"], "process 1 has no console: it is no moonloop program, is recorded, or runs a guest",
        1
      ),
      (["4194303"], "there is no process 4194303; see 'moonloop ps'", 1),
      (["0"], "no program '0' is running; see 'moonloop ps'", 1),
      ([], "name one program by name or process ID; 'moonloop ps' lists them", 2),
    ]
    for row in rows {
      let outcome = try moonloop(["attach"] + row.target)
      #expect(outcome.errors == "moonloop: attach: \(row.message)\n")
      #expect(outcome.status == row.status)
    }
  }

  @Test(
    "Ctrl-C in a console stops what is busy in the program",
    .disabled(if: Program.holdsSignals, "no signal ends a busy script"))
  func interrupts() throws {
    try withProgram(name: "busy.lua") { program in
      let session = try TerminalSession(["attach", "\(program.pid)"])
      try session.waitFor("Ctrl-D to leave.\r\n> ")
      try session.enter("print 'busy' ml.sleep(0) while true do end", "busy\r\n")
      try session.type("\u{3}", "interrupted\r\n> ")
      try session.enter("string.rev\t'abc')", "\"cba\"\r\n> ")
      try session.quit()
    }
  }
}
