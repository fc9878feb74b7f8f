// Commands and options as data. Parsing, help and completions read the same tables.

/// One option of a command.
struct OptionSpec: Sendable {
  /// All its spellings. Messages use the first.
  let names: [String]
  /// The name of its value in the help; nil for a flag.
  let placeholder: String?
  /// All accepted values, if there is a fixed list.
  let choices: [String]
  /// Whether its value is a time, e.g. 90s. Commands written in Lua get it in seconds.
  let isTime: Bool
  /// Whether it may be given several times.
  let repeats: Bool
  /// Whether `--no-NAME` turns it off.
  let isNegatable: Bool
  let help: String

  init(
    _ names: String..., value: String? = nil, isTime: Bool = false, choices: [String] = [],
    repeats: Bool = false, isNegatable: Bool = false, help: String
  ) {
    (self.names, placeholder, self.help) = (names, value, help)
    (self.choices, self.isTime) = (choices, isTime)
    (self.repeats, self.isNegatable) = (repeats, isNegatable)
  }

  var name: String { names[0] }

  /// Whether its value is the name of a file or folder.
  var takesFile: Bool { ["FILE", "FOLDER", "FILE|MODULE"].contains(placeholder) }
}

/// One command, such as `run`.
struct CommandSpec: Sendable {
  let name: String
  let summary: String
  /// What follows the command's name.
  let usage: String
  let options: [OptionSpec]
  /// Whether options may follow operands.
  var mixesOperands = false
  /// Whether its operand is the name of a running program.
  var takesProgram = false
  /// All values of its first operand, if there is a fixed list.
  var choices: [String] = []
  /// Paragraphs below the options.
  var notes: [String] = []
  /// Command lines and what each does.
  let examples: [(line: String, purpose: String)]

  func option(_ name: Substring) -> OptionSpec? {
    options.first { $0.names.contains { $0 == name } }
  }

  /// The option that `--no-NAME` turns off.
  func denied(_ name: Substring) -> OptionSpec? {
    guard name.hasPrefix("--no-") else { return nil }
    return option("--" + name.dropFirst(5)).flatMap { $0.isNegatable ? $0 : nil }
  }
}

/// An invalid command line: exit status 2.
struct UsageError: Error {
  let message: String
  /// The command whose help to suggest; nil: the program's.
  var command: String?
}
