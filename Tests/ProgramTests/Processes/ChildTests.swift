// Children and signals of the whole program: what happens to them when it ends, and to the
// program's own signals when a script handles them.

import Foundation
import Testing

@Suite("Children of the program")
struct ChildTests {
  private static let prelude = "local ml = require 'moonloop' local loop = ml.current() "

  private func run(_ script: String) throws -> Outcome {
    try moonloop(["run", "-e", Self.prelude + script])
  }

  @Test("end with the script, however that ends; detached ones stay")
  func endWithTheScript() throws {
    for ending in ["", "error 'no'", "os.exit(0, true)", "loop:stop()"] {
      let outcome = try run(
        """
        local p = ml.process.spawn { 'sleep', '1000', keep_alive = false }
        local q = ml.process.spawn { 'sh', '-c', 'trap "" TERM; echo; exec sleep 1000',
          stdout = 'pipe', keep_alive = false }
        q.stdout:read 'l'
        local d = ml.process.spawn { 'sleep', '1000', stdout = 'null', stderr = 'null',
          detached = true, keep_alive = false }
        print(p.pid, q.pid, d.pid)
        \(ending)
        """)
      let pids = outcome.output.split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) }
      try #require(pids.count == 3, "\(outcome)")
      #expect(kill(pids[0], 0) != 0 && kill(pids[1], 0) != 0, "\(ending)")
      #expect(kill(pids[2], SIGKILL) == 0, "\(ending)")
    }
  }

  @Test("a thousand of them leave no zombie")
  func leaveNoZombie() throws {
    let count = Program.isSanitized ? 100 : 1000
    let outcome = try run(
      """
      local ended, gate = 0, ml.semaphore(20)
      for i = 1, \(count) do
        loop:task(function()
          gate:with(function()
            local p = assert(ml.process.spawn { 'true' })
            assert(p:await().code == 0)
            ended = ended + 1
          end)
        end)
      end
      loop:run()
      local me = ml.process.id()
      local left = io.open('/proc/' .. me .. '/task/' .. me .. '/children'):read 'a'
      local fds = ml.process.run({ 'ls', '/proc/' .. me .. '/fd' }).stdout
      print(ended, '<' .. left .. '>', select(2, fds:gsub('\\n', '')))
      """)
    let words = outcome.output.split(separator: "\t")
    #expect(words.count == 3 && words[0] == "\(count)" && words[1] == "<>", "\(outcome)")
    // Its own, those of this run, and those inherited from the test's own threads.
    #expect(Int(words.last?.dropLast() ?? "") ?? 1000 < 60, "\(outcome)")
  }

  @Test("an interrupt by the terminal is the script's, if it handles it: every one")
  func interruptIsTheScripts() throws {
    let program = try Program(
      [
        "run", "-e",
        Self.prelude + """
          local count = 0
          loop:signal('int', function(signal, name)
            count = count + 1
            print(name, count)
            if count == 2 then signal:invalidate() print 'as before' end
          end)
          loop:after(1000, function() end)
          print 'ready'
          """,
      ], input: nil)
    try program.waitFor("ready\n")
    program.send(SIGINT)
    try program.waitFor("int\t1\n")
    program.send(SIGINT)
    try program.waitFor("as before\n")
    program.send(SIGINT)
    let outcome = try program.wait()
    #expect(outcome.status == 130 && !outcome.wasKilled, "\(outcome)")
  }

  @Test("we get their status even if our parent ignores SIGCHLD")
  func statusIsKept() throws {
    let script = Self.prelude + "print(ml.process.run({ 'sh', '-c', 'exit 3' }).code)"
    let outcome = try withFile(script) { file in
      try moonloop([
        "run", "-e",
        """
        local ml = require 'moonloop'
        local r = ml.process.run { 'sh', '-c', 'trap "" CHLD; exec "$0" run "$1"',
          '\(Program.executable.path)', '\(file)' }
        io.write(r.stdout, r.stderr)
        """,
      ])
    }
    #expect(outcome.output == "3\n", "\(outcome)")
  }

  @Test("in a storm of signals that interrupt every call, nothing is lost")
  func survivesInterrupts() throws {
    // A child sends signals as fast as it can, while others come and go. Under a sanitizer it has
    // to pause: what the program cannot take fast enough fills the queue of the whole user.
    let rounds = Program.isSanitized ? 10 : 100
    let pause = Program.isSanitized ? "sleep 0.01; " : ""
    let outcome = try run(
      """
      local got = 0
      loop:signal('usr1', function(_, _, info) got = got + info.count end):keep_alive(false)
      loop:signal('rtmin+3', function(_, _, info) got = got + info.count end):keep_alive(false)
      local storm <close> = ml.process.spawn { 'sh', '-c',
        'while kill -USR1 $0; do \(pause)kill -37 $0; done', tostring(ml.process.id()) }
      for i = 1, \(rounds) do
        local r = assert(ml.process.run { 'cat', input = ('x'):rep(100000) })
        assert(r.code == 0 and #r.stdout == 100000)
      end
      print(got > 0)
      """)
    #expect(outcome.output == "true\n", "\(outcome)")
  }
}
