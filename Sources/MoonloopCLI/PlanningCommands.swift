// The commands `plan`, `simulate` and `check`: what they are told; they are written in Lua.

internal import Moonloop

let planCommand = CommandSpec(
  name: "plan",
  summary: "Shows the loop that a configuration makes, before it runs.",
  usage: "[OPTION...] CONFIG",
  options: [
    OptionSpec(names: ["--json"], help: "For other programs."),
    OptionSpec(
      names: ["--html"], placeholder: "FILE", help: "Writes a page with a picture of it too."),
  ],
  mixesOperands: true,
  notes: [
    """
    Shows the phases in their order, and a table of the items against the modes in which they are.
    Nothing is opened and no handler is called; modules of named handlers are loaded.
    """,
    planningStatus,
  ],
  examples: [
    ("moonloop plan app.lua", "Phases, modes and items of app.lua.")
  ])

let simulateCommand = CommandSpec(
  name: "simulate",
  summary: "Runs a configuration on a virtual clock, and says what its loop did.",
  usage: "[OPTION...] CONFIG",
  options: [
    OptionSpec(
      names: ["--for"], placeholder: "TIME", isTime: true,
      help: "How long it runs, in its own time, such as 90s (1h)."),
    OptionSpec(
      names: ["--against"], placeholder: "OTHER",
      help: "Another configuration, to be compared with it."),
    OptionSpec(names: ["--no-handlers"], help: "Calls no handler: timers alone."),
    OptionSpec(
      names: ["--input"], placeholder: "SOURCE=TIME", repeats: true,
      help: "Has something come to a source every so often, such as\ncommands=2s."),
    OptionSpec(
      names: ["--stop-at"], placeholder: "TIME", isTime: true, repeats: true,
      help: "Stops the phase that runs then, as a signal would."),
    OptionSpec(
      names: ["--clock"], placeholder: "CLOCK", choices: ["virtual", "skip_idle"],
      help: "virtual: handlers take no time (default); skip_idle: they take\nthe time they take."),
    OptionSpec(
      names: ["--seed"], placeholder: "SEED",
      help: "Draws the order of what is ready at once, and math.random."),
    OptionSpec(names: ["--json"], help: "For other programs."),
    OptionSpec(names: ["--html"], placeholder: "FILE", help: "Writes a page with a timeline."),
    OptionSpec(
      names: ["--from"], placeholder: "TIME", isTime: true,
      help: "Where the timeline's close view begins (0)."),
    OptionSpec(
      names: ["--window"], placeholder: "TIME", isTime: true,
      help: "How long that is; without it, as much as can be read."),
  ],
  mixesOperands: true,
  notes: [
    """
    Timers and custom sources are real, and so are their handlers: what they do outside of the loop
    is done. Nothing is opened: descriptors, listeners, signals, files, processes and ports are
    stand-ins, to which something comes only by --input; then no handler of theirs is called.
    What handlers print goes to standard error.
    """,
    planningStatus,
  ],
  examples: [
    ("moonloop simulate app.lua --for 1h", "Fires, lateness and wake-ups of an hour."),
    (
      "moonloop simulate app.lua --against tuned.lua --no-handlers",
      "What a change of tolerances saves."
    ),
    ("moonloop simulate app.lua --for 1m --html run.html", "A timeline to look at."),
  ])

let checkCommand = CommandSpec(
  name: "check",
  summary: "Finds what will not work in configurations and scripts for a loop.",
  usage: "[OPTION...] FILE...",
  options: [
    OptionSpec(names: ["--json"], help: "A list of findings for other programs."),
    OptionSpec(
      names: ["--for"], placeholder: "TIME", isTime: true,
      help:
        "Runs configurations for so long too, with their handlers, to\n"
        + "find those that starve others."
    ),
    OptionSpec(
      names: ["--recording"], placeholder: "FILE", repeats: true,
      help: "Looks also at what 'run --record', 'run --trace-out' or 'top\n"
        + "--json' wrote, to find the handlers that starve others."),
    OptionSpec(names: ["--list-rules"], help: "Prints the rules and why they are."),
  ],
  mixesOperands: true,
  notes: [
    """
    A file that returns a table is a configuration, any other is a script. Scripts are read, not
    run. '-- moonloop: allow RULE' switches a rule off for its line, or alone on a line for the
    next one.
    """,
    """
    Exit status: 0; 1 if anything was found; 2 if the command line is wrong or a file cannot be
    read.
    """,
  ],
  examples: [
    ("moonloop check app.lua handlers.lua", "Looks at both."),
    ("moonloop check --json *.lua", "For an editor or a build server."),
    ("moonloop check --for 1m app.lua", "Runs it for a minute to find what starves."),
    ("moonloop check --recording day.mlt app.lua", "Looks at a run that was recorded."),
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
