// Pages for `man`, made from the tables that `--help` shows.

/// moonloop.1, and moonloop-COMMAND.1 for each command.
enum ManPages {
  /// The names that `--generate-man-page` takes.
  static let names = ["moonloop"] + Program.names

  static func print(_ name: String?) throws(UsageError) -> Int32 {
    if name == "moonloop" { return Help.print(ofProgram) }
    if let command = Program.documented.first(where: { $0.name == name }) {
      return Help.print(of(command))
    }
    throw UsageError(
      message: "--generate-man-page: must be one of \(names.joined(separator: ", ")), "
        + "got '\(name ?? "")'")
  }

  private static var ofProgram: String {
    let commands = Program.commands.map { command in
      ".TP\n.BR moonloop\\-\(escaped(command.name)) (1)\n\(escaped(command.summary))"
    }
    return """
      \(head("moonloop", Help.purpose))
      \(synopsis(Help.usage))
      .SH DESCRIPTION
      \(escaped(Help.introduction))
      .SH COMMANDS
      \(commands.joined(separator: "\n"))
      .SH OPTIONS
      \(options(optionsOfLua + optionsOfProgram))
      .PP
      All others are those of
      .BR moonloop\\-run (1).
      \(examples(interpreter.examples))
      .SH SEE ALSO
      .BR lua5.4 (1)

      """
  }

  private static func of(_ command: CommandSpec) -> String {
    """
    \(head("moonloop-\(command.name)", command.summary))
    \(synopsis("moonloop \(command.name) \(command.usage)"))
    .SH DESCRIPTION
    \(command.notes.map(escaped).joined(separator: "\n.PP\n"))
    .SH OPTIONS
    \(options(command.options + [OptionSpec("--help", "-h", help: "Show help.")]))
    \(examples(command.examples))
    .SH SEE ALSO
    .BR moonloop (1)

    """
  }

  private static func head(_ name: String, _ purpose: String) -> String {
    let summary = purpose.hasSuffix(".") ? String(purpose.dropLast()) : purpose
    return """
      .TH \(escaped(name.uppercased())) 1 "" "moonloop \(Program.version)" "Moonloop"
      .SH NAME
      \(escaped(name)) \\- \(escaped(summary))
      """
  }

  private static func synopsis(_ usage: String) -> String {
    let lines = usage.split(separator: "\n").map { escaped(String($0.drop { $0 == " " })) }
    return ".SH SYNOPSIS\n" + lines.joined(separator: "\n.br\n")
  }

  private static func options(_ options: [OptionSpec]) -> String {
    options.map { ".TP\n\\fB\(escaped(Help.label($0)))\\fR\n\(escaped($0.help))" }
      .joined(separator: "\n")
  }

  private static func examples(_ examples: [(line: String, purpose: String)]) -> String {
    let rows = examples.map { ".TP\n\\fB\(escaped($0.line))\\fR\n\(escaped($0.purpose))" }
    return ([".SH EXAMPLES"] + rows).joined(separator: "\n")
  }

  /// Plain text for roff: its own characters quoted, and no line that looks like a request.
  private static func escaped(_ text: String) -> String {
    let quoted = text.reduce(into: "") { result, character in
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "~": result += "\\(ti"
      case "^": result += "\\(ha"
      default: result.append(character)
      }
    }
    return quoted.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix(".") ? "\\&" + $0 : String($0) }.joined(separator: "\n")
  }
}
