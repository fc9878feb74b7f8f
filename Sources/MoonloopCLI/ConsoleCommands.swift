// The commands of the console: `repl`, `attach` and `ps`.

internal import Moonloop

let psCommand = CommandSpec(
  name: "ps",
  summary: "List running moonloop programs that you can attach to.",
  usage: "[--json | --names]",
  options: [
    OptionSpec("--json", help: "Print one JSON object per line, for other programs."),
    OptionSpec("--names", help: "Print only the names, for completions."),
  ],
  notes: ["Exit status: 0, even if none is running."],
  examples: [("moonloop ps", "Show the name, process, file and start time of each.")])

let attachCommand = CommandSpec(
  name: "attach",
  summary: "Open a prompt in a running moonloop program.",
  usage: "[OPTION...] NAME|PID",
  options: [
    OptionSpec(
      "--timeout", value: "TIME", isTime: true,
      help: "How long to wait for an answer (5s).")
  ],
  mixesOperands: true,
  takesProgram: true,
  notes: [
    """
    'moonloop ps' lists the programs. Ctrl-C cancels what is typed or evaluated; Ctrl-D leaves, and
    the program continues. Without a terminal, lines are read and answered one by one.
    """,
    """
    Exit status: 0; 1 if the program cannot be reached, or has ended, or if a line failed that was
    not typed at a terminal; 2 if the command line is wrong.
    """,
  ],
  examples: [
    ("moonloop attach app", "Open a prompt in the program running app.lua."),
    ("echo 'loop:dump()' | moonloop attach 4711", "Show what is on the loop of process 4711."),
  ])

/// Options of `run` that make no sense at a prompt.
private let notOfPrompts = [
  "-e", "--mode", "--timeout", "--on-error", "--record", "--watch", "--guest", "--allow", "--ask",
  "--isolate", "--list",
]

let replCommand = CommandSpec(
  name: "repl",
  summary: "Open a prompt on a running loop: timers fire while you type.",
  usage: "[OPTION...] [FILE [ARGUMENT...]]",
  options: runCommand.options.filter {
    !notOfPrompts.contains($0.name)
  },
  notes: [
    """
    If FILE is given, it runs beside the prompt and shares its globals with it. Expressions print
    their values; they may wait, since each line is a task. Tab completes, help(x) explains x, :help
    lists the commands. Ctrl-C cancels what is typed or evaluated, Ctrl-D quits.
    """,
    """
    The history is kept in $XDG_STATE_HOME/moonloop/history (default ~/.local/state). Without a
    terminal, lines are read and evaluated one by one.
    """,
    """
    Exit status: 0; without a terminal, 1 if a line or the script failed; 2 if the command line is
    wrong; the argument of os.exit.
    """,
  ],
  examples: [
    ("moonloop repl", "Open a prompt with 'loop' and 'ml' defined."),
    ("moonloop repl app.lua", "Run app.lua with a prompt beside it."),
    ("echo 'ml.sleep(1) return 2' | moonloop repl", "Evaluate a line."),
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
