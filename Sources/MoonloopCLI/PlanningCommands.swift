// The commands `plan`, `simulate` and `check`: their options. The commands are written in Lua.

internal import Moonloop

let planCommand = CommandSpec(
  name: "plan",
  summary: "Show the loop that a configuration makes, without running it.",
  usage: "[OPTION...] CONFIG",
  options: [
    OptionSpec("--json", help: "Print JSON for other programs."),
    OptionSpec("--html", value: "FILE", help: "Also write an HTML page with a picture."),
  ],
  mixesOperands: true,
  notes: [
    """
    Shows the phases in order, and a table of items and their modes. Does not open anything or call
    any handler, but loads the modules of named handlers.
    """,
    planningStatus,
  ],
  examples: [
    ("moonloop plan app.lua", "Show phases, modes and items of app.lua.")
  ])

let simulateCommand = CommandSpec(
  name: "simulate",
  summary: "Run a configuration on a virtual clock and report what its loop did.",
  usage: "[OPTION...] CONFIG",
  options: [
    OptionSpec(
      "--for", value: "TIME", isTime: true,
      help: "How long to run, in virtual time, e.g. 90s (1h)."),
    OptionSpec("--against", value: "OTHER", help: "Another configuration to compare with."),
    OptionSpec("--no-handlers", help: "Run only the timers, without calling handlers."),
    OptionSpec(
      "--input", value: "SOURCE=TIME", repeats: true,
      help: "Feed a source at an interval, e.g. commands=2s."),
    OptionSpec(
      "--stop-at", value: "TIME", isTime: true, repeats: true,
      help: "Stop the current phase at this time, as a signal would."),
    OptionSpec(
      "--clock", value: "CLOCK", choices: ["virtual", "skip_idle"],
      help: "virtual: handlers take no time (default); skip_idle: they\ntake real time."),
    OptionSpec(
      "--seed", value: "SEED",
      help: "Seed for the order of equally ready events and for math.random."),
    OptionSpec("--json", help: "Print JSON for other programs."),
    OptionSpec("--html", value: "FILE", help: "Write an HTML page with a timeline."),
    OptionSpec(
      "--from", value: "TIME", isTime: true,
      help: "Start of the timeline's close-up (0)."),
    OptionSpec(
      "--window", value: "TIME", isTime: true,
      help: "Length of the close-up (default: as much as is readable)."),
  ],
  mixesOperands: true,
  notes: [
    """
    Timers and custom sources are real. Their handlers are called, with any effects they have
    outside the loop. Descriptors, listeners, signals, files, processes and ports are not opened;
    they get events only from --input, and their handlers are not called. What handlers print goes
    to standard error.
    """,
    planningStatus,
  ],
  examples: [
    ("moonloop simulate app.lua --for 1h", "Show an hour's fires, lateness and wake-ups."),
    (
      "moonloop simulate app.lua --against tuned.lua --no-handlers",
      "Show what other tolerances save."
    ),
    ("moonloop simulate app.lua --for 1m --html run.html", "Draw a timeline."),
  ])

let checkCommand = CommandSpec(
  name: "check",
  summary: "Find likely mistakes in configurations and scripts.",
  usage: "[OPTION...] FILE...",
  options: [
    OptionSpec("--json", help: "Print the findings as JSON for other programs."),
    OptionSpec(
      "--for", value: "TIME", isTime: true,
      help: "Also run configurations this long, with their handlers, to\n"
        + "find handlers that starve others."),
    OptionSpec(
      "--recording", value: "FILE", repeats: true,
      help: "Also read what 'run --record', 'run --trace-out' or 'top\n"
        + "--json' wrote, to find handlers that starve others."),
    OptionSpec("--list-rules", help: "List the rules and their reasons."),
  ],
  mixesOperands: true,
  notes: [
    """
    A file that returns a table with sections, written out or computed, is a configuration; any
    other is a script. Scripts are read, not run. '-- moonloop: allow RULE' turns a rule off for its
    line; alone on a line, for the next one.
    """,
    """
    Exit status: 0; 1 if there are findings; 2 if the command line is wrong or a file cannot be
    read.
    """,
  ],
  examples: [
    ("moonloop check app.lua handlers.lua", "Check both files."),
    ("moonloop check --json *.lua", "Report to an editor or a build server."),
    (
      "moonloop check --for 1m app.lua",
      "Also run it for a minute, to find handlers that starve others."
    ),
    ("moonloop check --recording day.mlt app.lua", "Also check a recorded run."),
  ])

private let planningStatus = """
  Exit status: 0; 1 if the configuration has mistakes or a handler failed; 2 if the command line is
  wrong or the file cannot be read.
  """

extension Program {
  static func runPlanning(
    _ arguments: [String], _ command: CommandSpec
  ) throws(UsageError) -> Int32 {
    try runInLua(
      arguments, command,
      """
      local status = require "moonloop.planning.main".command(arg[0]:match "%S+$", ...)
      if status then os.exit(status, true) end
      """)
  }
}
