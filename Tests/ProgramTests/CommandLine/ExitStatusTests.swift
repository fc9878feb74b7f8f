// The exit statuses that docs/program.md promises, with what is on standard error.

import Foundation
import Testing

@Suite("Exit status")
struct ExitStatusTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let arguments: [String]
    let status: Int32
    var errors: [String] = []
    var output = ""
    var input = ""

    var testDescription: String { arguments.joined(separator: " ") }
  }

  static let closer =
    "local x <close> = setmetatable({}, { __close = function() print 'closed' end }) "
  static let loop = "local l = require 'moonloop'.current() "

  static let later = loop + "l:after(0.02, function() print 'late' end) "

  static let rows: [Row] = [
    Row(arguments: ["run", "-e", ""], status: 0),
    Row(arguments: ["run", "-e", "print(...)", "a", "--mode"], status: 0, output: "a\t--mode\n"),
    Row(
      arguments: ["run", "-", "x"], status: 0, output: "-\tx\n",
      input: "#!/usr/bin/env moonloop\nprint(arg[0], arg[1])"),
    Row(
      arguments: [
        "run", "--clock=virtual", "-e", loop + "l:after(1e6, function() print 'late' end)",
      ],
      status: 0, output: "late\n"),
    Row(
      arguments: [
        "run", "--mode", "m", "-e",
        loop + "l:timer { first = 0, modes = 'm', function() print(l.mode) end }",
      ],
      status: 0, output: "m\n"),
    Row(
      arguments: ["run", "--timeout", "10ms", "-e", loop + "l:every(1, print)"], status: 0),
    Row(arguments: ["run", "-e", loop + "l:every(1, print) l:run { timeout = 0 }"], status: 0),
    Row(  // It ran its loop itself and is still waiting: it is allowed to finish.
      arguments: [
        "run", "-e",
        loop + "l:every(1, print) l:run { timeout = 0 } require 'moonloop'.sleep(0.01) print 'on'",
      ],
      status: 0, output: "on\n"),
    Row(  // also if it has waited before.
      arguments: [
        "run", "-e",
        loop
          + "require 'moonloop'.sleep(0) l:every(1, print) l:after(0.01, function() l:stop() end) "
          + "l:run() print 'over'",
      ],
      status: 0, output: "over\n"),
    // 1: an error was reported
    Row(
      arguments: [
        "run", "-e", closer + "require 'moonloop'.channel({ name = 'jobs' }):receive()",
      ], status: 1,
      errors: [
        "deadlock: nothing is left in mode 'default' that could end the wait: the main chunk waits "
          + "to receive from channel 'jobs' (made at (command line):1)"
      ], output: "closed\n"),
    Row(arguments: ["run", "-e", "error 'no'"], status: 1, errors: ["(command line):1: no"]),
    Row(
      arguments: ["run", "-e", "x = = 1"], status: 1,
      errors: ["moonloop: (command line):1: unexpected symbol near '='"]),
    Row(
      arguments: ["run", "-e", loop + "l:after(0, function() error 'no' end)"], status: 1,
      errors: ["timer (made at (command line):1)", "(command line):1: no"]),
    Row(
      arguments: [
        "run", "--on-error", "stop", "-e",
        loop + "l:every(0.001, function() error 'no' end)",
      ], status: 1, errors: ["no"]),
    // An error of the main chunk ends the program,
    Row(
      arguments: ["run", "-e", later + "error 'no'"], status: 1,
      errors: ["error in the main chunk\n(command line):1: no"]),
    Row(  // after a wait too,
      arguments: [
        "run", "--clock=virtual", "-e", later + "require 'moonloop'.sleep(0) error 'no'",
      ], status: 1,
      errors: ["error in the main chunk, mode 'default'\n(command line):1: no"]),
    Row(  // with all runs,
      arguments: [
        "run", "-e",
        later + "l:after(0, function() l:run() print 'ends' l:run() end) "
          + "require 'moonloop'.sleep(0) error 'no'",
      ], status: 1, errors: ["no"], output: "ends\n"),
    Row(  // if its handler does not say otherwise,
      arguments: ["run", "-e", later + "l.on_error = function() print 'heard' end error 'no'"],
      status: 1, output: "heard\n"),
    Row(
      arguments: [
        "run", "-e", later + "l.on_error = function() return 'continue' end error 'no'",
      ], status: 1, output: "late\n"),
    Row(
      arguments: ["run", "-e", later + "l.on_error = 'continue' error 'no'"], status: 1,
      errors: ["no"], output: "late\n"),
    Row(  // nor the command line.
      arguments: ["run", "--on-error", "continue", "-e", later + "error 'no'"], status: 1,
      errors: ["no"], output: "late\n"),
    // 2: the command line, but for those below
    Row(arguments: ["run", "--name", "a\nb", "-e", ""], status: 2, errors: ["--name: must be"]),
    // 3: a limit
    Row(
      arguments: ["run", "--callout", "50ms", "-e", "while true do end"], status: 3,
      errors: ["call-out took longer than 0.05 seconds", "(command line):1: in main chunk"]),
    Row(
      arguments: [
        "run", "--memory", "8M", "-e",
        "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end",
      ], status: 3,
      errors: ["memory limit of 8388608 bytes exceeded", "(command line):1"]),
    // os.exit
    Row(arguments: ["run", "-e", closer + "os.exit(7)"], status: 7),
    Row(arguments: ["run", "-e", closer + "os.exit(8, true)"], status: 8, output: "closed\n"),
    Row(arguments: ["run", "-e", "os.exit(true)"], status: 0),
    Row(arguments: ["run", "-e", "io.write 'kept' os.exit(false)"], status: 1, output: "kept"),
    Row(arguments: ["run", "-e", "error_was = pcall(error) os.exit(0)"], status: 0),
    Row(arguments: ["run", "-e", loop + "l:after(0, function() os.exit(9) end)"], status: 9),
    Row(
      arguments: [
        "run", "-e",
        loop + "l:after(0, function() l:after(0, function() os.exit(9, true) end) "
          + "l:run() print 'not reached' end)",
      ], status: 9),
    Row(
      arguments: ["run", "-e", loop + "l:task(function() os.exit(5, true) end) l:after(9, print)"],
      status: 5),
    Row(  // also where something waits for the task that calls it, by a run of its own;
      arguments: [
        "run", "-e",
        loop + "l:after(0, function() l:task(function() require 'moonloop'.sleep(0) "
          + "os.exit(5, true) end):wait() print 'not reached' end)",
      ], status: 5),
    Row(
      arguments: [
        "run", "-e",
        loop + "l:after(0, function() local t = l:task(function() require 'moonloop'.sleep(9) end) "
          + "l:task(function() os.exit(5, true) end) t:wait { mode = 'default' } "
          + "print 'not reached' end)",
      ], status: 5),
    Row(  // in an error handler;
      arguments: [
        "run", "-e",
        loop + "l.on_error = function() os.exit(5, true) end l:after(0, function() error 'no' end)",
      ], status: 5),
    Row(
      arguments: [
        "run", "-e",
        "require 'moonloop'.guest { text = 'error [[no]]', on_error = function() "
          + "os.exit(5, true) end }",
      ], status: 5),
    Row(  // and with the failure of a task that was to be reported in the next pass.
      arguments: [
        "run", "-e",
        loop + "l:task(function() error 'no' end) require 'moonloop'.sleep(0) os.exit(0)",
      ], status: 0, errors: ["error in task (made at (command line):1)"]),
    Row(
      arguments: [
        "run", "-e",
        loop + "l.on_error = function(e) print(e.message) os.exit(1) end "
          + "l:task(function() error('no', 0) end) require 'moonloop'.sleep(0) os.exit(7)",
      ], status: 1, output: "no\n"),
    Row(
      arguments: ["run", "-e", "coroutine.wrap(function() os.exit(4, true) end)() print 'no'"],
      status: 4),
    Row(
      arguments: ["run", "-e", "setmetatable({}, {__gc = function() os.exit(6) end})"], status: 6),
    Row(
      arguments: [
        "run", "-e", loop + "for i = 1, 2 do l:timer { every = 1, modes = 'tracking', print } end",
      ],
      status: 0,
      errors: [
        "was never served: it is in 'tracking', which nothing has run; call loop:run { mode = "
          + "\"tracking\" }, or add it to a mode that runs: 'default' (and 1 more like this)\n"
      ]),
    Row(
      arguments: [
        "run", "-e", "s = require 'moonloop'.source { name = 's', perform = print } s:signal()",
      ],
      status: 0,
      errors: ["was never served: it is in no mode; add it with loop:add\n"]),
    Row(
      arguments: ["run", "-e", loop + "l:timer { every = 1, modes = 'defualt', print }"],
      status: 0, errors: ["it is in 'defualt', which nothing has run; did you mean 'default'?\n"]),
    Row(
      arguments: [
        "run", "-e",
        loop
          + "l:after(0, function() for i = 1, 2 do l:run { mode = 'modal' } end end)",
      ],
      status: 0,
      errors: [
        "moonloop: loop:run in mode 'modal' (command line:1) ended at once: nothing was ever in "
          + "that mode; add the items to it that the run is to serve (modes = \"modal\"), or "
          + "remove the run\n"
      ]),
    Row(  // The mode is used later.
      arguments: [
        "run", "-e",
        loop + "l:after(0, function() l:run 'modal' l:timer { first = 0, modes = 'modal', "
          + "function() print 'fired' end } l:run 'modal' end)",
      ],
      status: 0, output: "fired\n"),
    Row(
      arguments: [
        "run", "-e",
        loop + "l:after(0, function() l:run { mode = 'a', timeout = 0 } end) "
          + "l:timer { every = 9, modes = { 'a', 'b' }, print }",
      ], status: 0),
  ]

  /// Command lines that are refused, and a part of the message.
  private static let refused: [Row] = [
    ("rnu", "'rnu' is neither a command nor a file; did you mean 'run'?"),
    ("help rnu", "no command and no entry is called 'rnu'; did you mean 'run'?"),
    (
      "help loop:tmier",
      "no command and no entry is called 'loop:tmier'; did you mean 'loop:timer'?"
    ),
    ("help ml.every", "no command and no entry is called 'ml.every'; did you mean 'loop:every'?"),
    ("help loop:timer loop:fd", "help: one name at a time, got 'loop:fd' too"),
    ("x.lua", "moonloop: cannot read x.lua: No such file or directory"),
    ("--hlep", "unknown option '--hlep'; did you mean '--help'?"),
    ("-e", "'-e' needs a value: -e CHUNK"),
    ("-i --record x", "a prompt cannot be recorded"),
    ("run", "the script is missing"),
    (
      "run --timeout hello.lua",
      "--timeout: must be a time, e.g. 2s, 500ms or 1.5 (seconds), got 'hello.lua'"
    ),
    ("run --name '' -e ''", "--name: must be one line of 1 to 64 bytes, and not a number, got ''"),
    ("run --name 1234 -e ''", "got '1234'"),
    ("run --guest --break-on-error -e ''", "--break-on-error: is not available for guests"),
    ("repl --guest", "unknown option '--guest'"),
    ("repl --allow net", "unknown option '--allow'"),
    ("run --mdoe x", "unknown option '--mdoe'; did you mean '--mode'?"),
    ("run --mode", "'--mode' needs a value: --mode NAME"),
    ("run --mode common -e ''", "cannot run in 'common'"),
    ("run --trace=1 -e ''", "'--trace' takes no value"),
    ("run --trace --trace -e ''", "given twice"),
    ("run --memory 64X -e ''", "--memory: must be a size, e.g. 64M, 512K or 1G, got '64X'"),
    ("run --memory 8MB -e ''", "a size, e.g. 64M, 512K or 1G, got '8MB'; write '8M'"),
    ("run --memory 1K -e ''", "at least 1M, got '1K'"),
    ("run --timeout -1 -e ''", "must be a time, e.g."),
    ("run --timeout nan -e ''", "must be a time, e.g."),
    ("run --callout 1ms -e ''", "at least"),
    (
      "run --clock virtul -e ''",
      "must be one of real, virtual, skip_idle, got 'virtul'; did you mean 'virtual'?"
    ),
    ("run /nonexistent.lua", "cannot read /nonexistent.lua: No such file or directory"),
    ("run /", "cannot read /: Is a directory"),
    ("run /dev/zero", "moonloop: cannot read /dev/zero: File too large"),
    ("replay /dev/zero", "moonloop: replay: cannot read /dev/zero: File too large"),
    ("check /dev/zero", "moonloop: check: cannot read /dev/zero: File too large"),
    ("plan /dev/zero", "moonloop: plan: cannot read /dev/zero: File too large"),
    (
      "check --recording /dev/zero /dev/null",
      "moonloop: check: cannot read /dev/zero: File too large"
    ),
    ("--generate-completion-script csh", "bash, zsh, fish"),
  ].map { (line: String, message: String) in
    let words = line.split(separator: " ").map { $0 == "''" ? "" : String($0) }
    return Row(arguments: words, status: 2, errors: [message])
  }

  @Test("is as promised", arguments: rows + refused)
  func isAsPromised(_ row: Row) throws {
    let outcome = try moonloop(row.arguments, input: row.input)
    #expect(outcome.status == row.status, "\(outcome)")
    #expect(!outcome.wasKilled)
    #expect(outcome.output == row.output)
    for text in row.errors { #expect(outcome.errors.contains(text), "\(outcome)") }
    if row.errors.isEmpty { #expect(outcome.errors == "") }
    #expect(outcome.isOurs, "\(outcome.errors)")
  }

  @Test(
    "help and completions go to standard output",
    arguments: [
      ["--help"], ["run", "--help"], ["help", "run"], ["--version"],
      ["--generate-completion-script", "bash"], ["--generate-completion-script", "zsh"],
      ["--generate-completion-script", "fish"],
    ])
  func printsHelp(_ arguments: [String]) throws {
    let outcome = try moonloop(arguments)
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
    #expect(outcome.output.contains("moonloop"))
  }

  @Test("a trace shows each stage and call-out, the same each time on a virtual clock")
  func traces() throws {
    let script = Self.loop + "l:timer { first = 0.5, name = 'beat', function() end }"
    let outcome = try moonloop(["run", "--trace", "--clock", "virtual", "-e", script])
    #expect(
      outcome.errors == """
            0.000000  default  run begins
            0.000000  default  entry
            0.000000  default  before_timers
            0.000000  default  before_sources
            0.000000  default  before_waiting
            0.500000  default  after_waiting
            0.500000  default    timer 'beat'  0.000 ms
            0.500000  default  exit
            0.500000  default  run ends

        """)
  }
}
