// The help texts, made from the tables of commands and options.

internal import LuaEmbed
internal import Moonloop
internal import MoonloopCore
internal import MoonloopSystem

/// Texts for `--help`.
enum Help {
  static let purpose =
    "Run Lua 5.4 scripts on a run loop: timers, descriptors, sources, observers, tasks."

  static let usage = """
    moonloop [OPTION...] [FILE|- [ARGUMENT...]]
           moonloop COMMAND [OPTION...]
    """

  static let introduction = """
    Without a command, works like 'lua', on a loop. Without FILE, -e or -v, opens a prompt, or runs
    standard input if that is not a terminal.
    """

  static var ofProgram: String {
    """
    \(purpose)

    Usage: \(usage)

    \(introduction)

    Commands:
    \(table(
      Program.commands.map { ($0.name, $0.summary) }
        + [("help [NAME]", "Show help for a command, or for a name such as loop:timer.")]))

    Options:
    \(table((optionsOfLua + optionsOfProgram).map { (label($0), text($0)) }
      + [("--", "End of options."), ("...", "All other options of 'moonloop run'.")]))

    Examples:
    \(examples(interpreter.examples[...]))

    """
  }

  static func of(_ command: CommandSpec) -> String {
    """
    \(command.summary)

    Usage: moonloop \(command.name) \(command.usage)

    Options:
    \(table(command.options.map { (label($0), text($0)) } + [("-h, --help", "Show this help.")]))

    \(command.notes.joined(separator: "\n\n"))

    Examples:
    \(examples(command.examples[...]))

    """
  }

  /// Prints a text to the standard output.
  /// - Returns: The exit status.
  static func print(_ text: String) -> Int32 {
    StandardStreams.print(Array((text.hasSuffix("\n") ? text : text + "\n").utf8))
    do { try StandardStreams.flushOutput() } catch {
      reportLostOutput(error)
      return ExitStatus.failure
    }
    return ExitStatus.success
  }

  static func reportLostOutput(_ error: SystemError) {
    let code = LuaState.takePrintFailure()
    let reason = code == 0 ? error : SystemError(call: "write", code: code)
    writeToStandardError(
      "moonloop: cannot write to standard output: output is lost"
        + (reason.name == "EIO" ? "" : " (\(reason.message))"))
  }

  static func label(_ option: OptionSpec) -> String {
    let names = option.names.reversed().map {
      option.isNegatable && $0.hasPrefix("--") ? "--[no-]" + $0.dropFirst(2) : $0
    }.joined(separator: ", ")
    return option.placeholder.map { "\(names) \($0)" } ?? names
  }

  private static func text(_ option: OptionSpec) -> String {
    option.help
  }

  /// Two columns. A long first column gets a line of its own.
  private static func table(_ rows: [(String, String)]) -> String {
    let width = 22
    let newLine = "\n" + String(repeating: " ", count: width + 2)
    return rows.map { first, second in
      let gap =
        first.utf8.count < width - 1
        ? String(repeating: " ", count: width - first.utf8.count)
        : "\n" + String(repeating: " ", count: width + 2)
      return
        "  \(first)\(gap)\(second.split(separator: "\n").joined(separator: newLine))"
    }.joined(separator: "\n")
  }

  private static func examples(_ examples: ArraySlice<(line: String, purpose: String)>) -> String {
    examples.map { "  \($0.line)\n      \($0.purpose)" }.joined(separator: "\n")
  }
}
