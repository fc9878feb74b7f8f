// The command `new`, which is written in Lua: small projects that run at once.

internal import Moonloop

let newCommand = CommandSpec(
  name: "new",
  summary: "Write a small project: a script, service, config, tests or plugin.",
  usage: "KIND NAME",
  options: [],
  mixesOperands: true,
  choices: ["config", "plugin", "script", "service", "tests"],
  notes: [
    """
    Writes the folder NAME, with a program, a spec, settings for the Lua language server and a
    .gitignore; KIND is script, service (with a unit for systemd), config, tests or plugin.
    """,
    """
    Exit status: 0; 1 if NAME exists or cannot be written; 2 if the command line is wrong.
    """,
  ],
  examples: [
    ("moonloop new script greeter", "Write greeter/main.lua and what it needs."),
    ("moonloop new service hello", "Write an HTTP service with its unit."),
  ])

extension Program {
  static func new(_ arguments: [String]) throws(UsageError) -> Int32 {
    try runInLua(
      arguments, newCommand,
      """
      os.exit(require "moonloop.projects".command(...), true)
      """)
  }
}
