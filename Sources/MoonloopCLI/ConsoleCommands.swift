// The commands of the console: `ps` and `attach`.

internal import Moonloop

let psCommand = CommandSpec(
  name: "ps",
  summary: "Lists the programs of moonloop that run and can be attached to.",
  usage: "[--json]",
  options: [OptionSpec(names: ["--json"], help: "One JSON object a line, for other programs.")],
  notes: ["Exit status: 0, also if none runs."],
  examples: [("moonloop ps", "Name, process, file and since when, of each.")])

extension Program {
  static func runConsole(
    _ arguments: [String], _ command: CommandSpec
  ) throws(UsageError) -> Int32 {
    try runInLua(
      arguments, command,
      """
      local status = require "moonloop.console.commands".command(arg[0]:match "%S+$", ...)
      if status then os.exit(status, true) end
      """)
  }
}
