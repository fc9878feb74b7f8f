// What the program offers, as data: parsing, help and completions all read the same tables.

/// One option of a command.
struct OptionSpec: Sendable {
  /// All its spellings, the one that messages use first.
  let names: [String]
  /// What its value is called in the help; nil for an option without one.
  var placeholder: String?
  /// All values it takes, if they can be listed.
  var choices: [String] = []
  /// Whether its value is a time, such as 90s; a command in Lua gets it as seconds.
  var isTime = false
  /// Whether it may be given several times.
  var repeats = false
  /// Whether `--no-NAME` says the opposite.
  var isNegatable = false
  let help: String

  var name: String { names[0] }
}

/// One command, such as `run`.
struct CommandSpec: Sendable {
  let name: String
  let summary: String
  /// What stands after the command's name.
  let usage: String
  let options: [OptionSpec]
  /// Whether options may also stand behind operands.
  var mixesOperands = false
  /// Paragraphs below the options.
  var notes: [String] = []
  /// Command lines, and what each does.
  let examples: [(line: String, purpose: String)]

  func option(_ name: Substring) -> OptionSpec? {
    options.first { $0.names.contains { $0 == name } }
  }

  /// The option that `--no-NAME` denies.
  func denied(_ name: Substring) -> OptionSpec? {
    guard name.hasPrefix("--no-") else { return nil }
    return option("--" + name.dropFirst(5)).flatMap { $0.isNegatable ? $0 : nil }
  }
}

/// A command line that is not understood: exit status 2.
struct UsageError: Error {
  let message: String
  /// The command whose help tells more; nil for the program's.
  var command: String?
}
