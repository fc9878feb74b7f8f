// The command `top`, which is written in Lua; and the figures at the end of a run.

internal import Moonloop

let topCommand = CommandSpec(
  name: "top",
  summary: "Shows what the loop of another program does, again and again.",
  usage: "[OPTION...] NAME|PID",
  options: [
    OptionSpec(names: ["--once"], help: "Shows it once, after an interval."),
    OptionSpec(
      names: ["--interval"], placeholder: "TIME", isTime: true,
      help: "How long from one look to the next (1s)."),
    OptionSpec(
      names: ["--sort"], placeholder: "BY", choices: ["busy", "calls", "late", "max"],
      help: "What is on top: the busiest (busy), the most called (calls), what\n"
        + "came latest (late), what took longest (max)."),
    OptionSpec(names: ["--json"], help: "One JSON object a line, for other programs."),
    OptionSpec(
      names: ["--timeout"], placeholder: "TIME", isTime: true,
      help: "How long to wait for the program's answer (5s)."),
  ],
  mixesOperands: true,
  notes: [
    """
    BUSY and CALLS are those of the interval; p50, p99 and MAX are since it is measured: how long a
    call took, and how LATE a timer was called. The program is measured from the first look on, and
    no more when 'top' ends. Ctrl-C ends it.
    """,
    """
    Exit status: 0; 1 if the program cannot be reached or ended meanwhile; 2 if the command line is
    wrong.
    """,
  ],
  examples: [
    ("moonloop top app", "The handles of the program that runs app.lua, the busiest first."),
    ("moonloop top --once --json 4711", "The figures of a second, for a script."),
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
  /// Has a state say on standard error what its loop did since it was measured.
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
