// A real program that is reloaded: under load, by saving from an editor, by SIGHUP.

import Foundation
import Testing

@Suite struct ReloadTests {
  private static let folder = Program.root.appendingPathComponent("Tests/Reload")

  /// A script that waits for a report that never comes fails instead of holding up all tests.
  private func script(_ name: String, _ arguments: String...) throws -> Outcome {
    try moonloop(
      ["run", "--timeout", "300", Self.folder.appendingPathComponent(name).path]
        + [Program.executable.path] + arguments,
      in: Self.folder)
  }

  @Test func `a thousand loads of a busy echo server drop, miss and leak nothing`()
    throws
  {
    let loads = Program.isSanitized ? "100" : "1000"
    let outcome = try script(
      "clients.lua", Self.folder.appendingPathComponent("echo.lua").path, loads)
    #expect(
      outcome.output == """
        status\t0\tanswered\ttrue
        moved by a load\t0\tlost\t0
        a load takes less than a tick\ttrue
        descriptors\ttrue\theap\ttrue\tmemory\ttrue

        """, "\(outcome)")
    #expect(outcome.status == 0)
  }

  @Test func `--watch loads again what an editor saves, by rename too`() throws {
    let outcome = try script("editor.lua")
    #expect(
      outcome.output == """
        old: hello
        old connection: old: hello
        new connection: new: hello
        module: better
        broken: error loading module 'parts' from file './parts.lua':\t1: <eof> expected near '}'
        module: best
        hup: generation 5
        nothing left
        alive again: new: hello
        status\t143

        """, "\(outcome)")
  }

  @Test(.disabled(if: Program.holdsSignals, "no signal reaches a busy script"))
  func `a console looks into a load, at a breakpoint and where it hangs`() throws {
    let script = """
      local ml = require "moonloop"
      local generation = ml.reload.generation()
      ml.current():every(60, print)
      if generation == 2 then
        local mine = "as it was"
        ml.break_here { wait = true }
        print(mine)
      elseif generation == 3 then
        while not over do end
      end
      print("loaded", generation) io.stdout:flush()
      """
    try withFile(script, name: "paused.lua") { file in
      let program = try Program(["run", "--watch", file])
      try program.waitFor("loaded\t1")
      let target = "\(program.pid)"
      program.send(SIGHUP)
      let first = try moonloop(
        ["attach", target],
        input: "mine\nmine = 'changed'\nml.sleep(0)\nselect(2, ml.reload())\n:continue\n")
      #expect(first.output.contains("\"as it was\"\n"), "\(first)")
      #expect(first.errors.contains("paused.lua is being loaded"), "\(first)")
      try program.waitFor("loaded\t2")
      program.send(SIGHUP)
      let second = try moonloop(["attach", target], input: ":break\nover = true\n:continue\n")
      #expect(second.output.contains("stopped in the main chunk at "), "\(second)")
      try program.waitFor("loaded\t3")
      program.send(SIGTERM)
      let outcome = try program.wait()
      #expect(outcome.output == "loaded\t1\nchanged\nloaded\t2\nloaded\t3\n")
      #expect(outcome.errors.contains("(generation 3): 0 kept, 1 new, 1 ended"), "\(outcome)")
    }
  }

  @Test(arguments: ["--watch", "--trace"])
  func `a signal that a busy program has not read does not decide how it ends`(option: String)
    throws
  {
    let script = """
      local ml = require "moonloop"
      if (...) == "--trace" then ml.current():signal { "hup", function() end } end
      ml.current():after(0, function()
        print "busy" io.stdout:flush()
        while true do end
      end)
      """
    try withFile(script, name: "busy.lua") { file in
      let program = try Program(["run", option, file, option])
      try program.waitFor("busy")
      program.send(SIGHUP)
      program.send(SIGTERM)
      let outcome = try program.wait()
      #expect(outcome.status == 143 && !outcome.wasKilled, "\(outcome)")
    }
  }

  @Test func `the example live.lua is changed while it runs`() throws {
    let outcome = try script(
      "example.lua", Program.examples.appendingPathComponent("live.lua").path)
    #expect(
      outcome.output == """
        generation\t1
        you said: hello
        true
        moonloop: reloaded live.lua (generation 2): 4 kept, 0 new, 0 ended
        you said: again
        they said: hello
        true\tgeneration 3, 4 kept
        status\t0

        """, "\(outcome)")
  }

  @Test func `a child keeps running under its name, workers and tasks are made again`() throws {
    let outcome = try script("children.lua")
    #expect(
      outcome.output == """
        generation 1
        2\t5\t5
        same child\ttrue
        1\tchanged\tterm
        other\tterm\tunnamed\tterm
        acceptor\tfalse\tthe task was cancelled
        generation 2

        """, "\(outcome)")
    #expect(outcome.status == 0 && outcome.errors == "")
  }

  @Test func `a configuration is loaded again: handlers, items, and the phases to come`() throws {
    let outcome = try script("configured.lua")
    #expect(
      outcome.output == """
        beat one
        app.lua (generation 2): 3 kept, 2 new, 0 ended
        beat two\textra
        app.lua:2: timers.beat.evry: unknown field; did you mean 'every'?
        draining
        status\t0

        """, "\(outcome)")
  }
}
