// The command `top` (written in Lua) and the figures at the end of a run.

internal import Moonloop

let topCommand = CommandSpec(
  name: "top",
  summary: "Show what the loop of another program is doing, live.",
  usage: "[OPTION...] NAME|PID",
  options: [
    OptionSpec("--once", help: "Show it once, after one interval."),
    OptionSpec("--interval", value: "TIME", isTime: true, help: "Time between updates (1s)."),
    OptionSpec(
      "--sort", value: "BY", choices: ["busy", "calls", "held", "late", "max"],
      help: "Sort by busy (busiest), calls (most called), held (longest held back),\n"
        + "late (latest) or max (longest call)."),
    OptionSpec("--json", help: "Print one JSON object per line, for other programs."),
    OptionSpec(
      "--timeout", value: "TIME", isTime: true,
      help: "How long to wait for an answer (5s)."),
  ],
  mixesOperands: true,
  takesProgram: true,
  notes: [
    """
    BUSY and CALLS are for the last interval; p50, p99 and MAX count from the start of measuring:
    how long calls took and, under LATE, how late they came. Measuring starts and ends with 'top';
    'q' or Ctrl-C quits.
    """,
    """
    Exit status: 0; 1 if the program cannot be reached, or has ended; 2 if the command line is
    wrong.
    """,
  ],
  examples: [
    ("moonloop top app", "Show the handles of the program running app.lua, busiest first."),
    ("moonloop top --once --json 4711", "Print one second's figures, for a script."),
  ])

extension Program {
  static func top(_ arguments: [String]) throws(UsageError) -> Int32 {
    try runInLua(
      arguments, topCommand,
      """
      local status = require "moonloop.inspection.top".command(...)
      if status then os.exit(status, true) end
      """)
  }
}

extension RunSettings {
  /// Writes to standard error what the state's loop did since measuring began.
  static func writeMetrics(of state: LuaState) {
    try? state.run(
      """
      local figures = require "moonloop.inspection.figures"
      local made = require "moonloop".current():metrics()
      io.stdout:flush()
      io.stderr:write(figures.text(figures.between(made)))
      """, name: "=moonloop")
  }
}
