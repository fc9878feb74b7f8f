// The commands of the console: `repl`, `attach` and `ps`.

internal import Moonloop

let psCommand = CommandSpec(
  name: "ps",
  summary: "Lists the programs of moonloop that run and can be attached to.",
  usage: "[--json]",
  options: [OptionSpec(names: ["--json"], help: "One JSON object a line, for other programs.")],
  notes: ["Exit status: 0, also if none runs."],
  examples: [("moonloop ps", "Name, process, file and since when, of each.")])

let attachCommand = CommandSpec(
  name: "attach",
  summary: "Gives a prompt inside of another moonloop program that runs.",
  usage: "[OPTION...] NAME|PID",
  options: [
    OptionSpec(
      names: ["--timeout"], placeholder: "TIME", isTime: true,
      help: "How long to wait for the program's answer (5s).")
  ],
  mixesOperands: true,
  notes: [
    """
    'moonloop ps' lists the programs. Ctrl-C gives up what is typed or evaluated; Ctrl-D leaves, and
    the program goes on. Without a terminal, lines are read and answered one after the other.
    """,
    """
    Exit status: 0; 1 if the program cannot be reached or ended meanwhile, or if a line failed that
    did not come from a terminal; 2 if the command line is wrong.
    """,
  ],
  examples: [
    ("moonloop attach app", "A prompt in the program that runs app.lua."),
    ("echo 'loop:dump()' | moonloop attach 4711", "What the loop of process 4711 holds."),
  ])

/// What a prompt has no use for.
private let notOfPrompts = ["-e", "--mode", "--timeout", "--on-error", "--record", "--watch"]

let replCommand = CommandSpec(
  name: "repl",
  summary: "Gives a prompt on a loop that runs: timers go on firing while you type.",
  usage: "[OPTION...] [FILE [ARGUMENT...]]",
  options: runCommand.options.filter {
    !notOfPrompts.contains($0.name)
  },
  notes: [
    """
    FILE, if there is one, runs first; its globals are the prompt's. Expressions print what they
    give; they may wait, for each line is a task. Tab completes, help(x) tells what x is, :help
    lists the commands. Ctrl-C gives up what is typed or evaluated, Ctrl-D ends.
    """,
    """
    Lines that were typed are kept in $XDG_STATE_HOME/moonloop/history, or below ~/.local/state.
    Without a terminal, lines are read and evaluated one after the other.
    """,
    """
    Exit status: 0; 1 if a line failed that did not come from a terminal; 2 if the command line is
    wrong; what os.exit was called with.
    """,
  ],
  examples: [
    ("moonloop repl", "A prompt; 'loop' and 'ml' are there."),
    ("moonloop repl app.lua", "A prompt beside what app.lua does."),
    ("echo 'ml.sleep(1) return 2' | moonloop repl", "Evaluates a line."),
  ])

extension Program {
  static func repl(_ arguments: [String]) throws(UsageError) -> Int32 {
    let settings = try RunSettings(repl: arguments)
    return ScriptRun(settings).run()
  }

  static func runConsole(
    _ arguments: [String], _ command: CommandSpec
  ) throws(UsageError) -> Int32 {
    try runInLua(
      arguments, command, editsLines: command.name == attachCommand.name,
      """
      local status = require "moonloop.console.commands".command(arg[0]:match "%S+$", ...)
      if status then os.exit(status, true) end
      """)
  }
}
