// `moonloop help NAME` for the names of the reference, which is written in Lua.

internal import Moonloop

/// Not one of the commands, which it lists.
let helpCommand = CommandSpec(
  name: "help", summary: "Show help for a command or a name in the reference.",
  usage: "[COMMAND|NAME]",
  options: [OptionSpec("--names", help: "List all names, for completions.")],
  mixesOperands: true,
  notes: ["Without a name, lists the commands. Prints what help(\"NAME\") prints at a prompt."],
  examples: [
    ("moonloop help run", "Show the options of a command."),
    ("moonloop help loop:timer", "Explain a function of scripts."),
  ])

extension Program {
  /// Prints what the prompt's `help` prints.
  static func explain(_ arguments: [String]) throws(UsageError) -> Int32 {
    guard arguments.count == 3 else {
      throw UsageError(
        message: "help: one name at a time, got '\(arguments[3])' too", command: "help")
    }
    return try runInLua(
      arguments, helpCommand, given: [("commands", .text(names.joined(separator: " ")))],
      """
      os.exit(require "moonloop.console.help".command(...), true)
      """)
  }
}
