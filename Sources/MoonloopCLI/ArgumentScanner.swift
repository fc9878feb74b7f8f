// Reads a command's options from the command line, up to the first operand.

internal import Moonloop

/// One option as it was given.
struct GivenOption {
  let option: OptionSpec
  /// Its value; nil for flags, denied ones too.
  var value: String?
  var isDenied = false
  /// The index of the argument in which the value is, and how many bytes come before it there.
  var place = (argument: 0, skipped: 0)

  /// The value as bytes, which need not be UTF-8; valid until the program ends.
  var bytes: UnsafePointer<CChar> {
    UnsafePointer(ProgramArguments[place.argument] + place.skipped)
  }
}

/// The given options, and where the operands begin.
struct ScannedOptions {
  private var values: [String: String?] = [:]
  /// All of them in order.
  private(set) var given: [GivenOption] = []
  /// The index, in the command line, of the first argument that is not an option.
  fileprivate(set) var operands: Int
  /// The indices of all operands, if options may follow them.
  private(set) var operandIndices: [Int] = []

  func has(_ name: String) -> Bool { values[name] != nil }
  func value(_ name: String) -> String? { values[name] ?? nil }

  /// Reads options starting at an index.
  ///
  /// Accepts `--name value`, `--name=value`, `-n value` and `-nvalue`. `--` ends the options, and
  /// so does `-`, which is an operand.
  init(
    _ arguments: [String], from first: Int, _ command: CommandSpec
  ) throws(UsageError) {
    var index = first
    operands = index
    while index < arguments.count {
      let argument = arguments[index]
      if argument == "-" || !argument.hasPrefix("-") {
        if !command.mixesOperands { break }
        operandIndices.append(index)
        index += 1
        continue
      }
      index += 1
      if argument == "--" { break }
      if let denied = command.denied(argument[...]) {
        given.append(GivenOption(option: denied, isDenied: true))
        continue
      }
      let (option, inline) = try Self.find(argument, command)
      if values[option.name] != nil && !option.repeats {
        throw UsageError(message: "option '\(option.name)' is given twice", command: command.name)
      }
      values[option.name] = .some(nil)
      var place = (argument: index - 1, skipped: argument.utf8.count - (inline ?? "").utf8.count)
      if let placeholder = option.placeholder {
        guard let value = inline ?? (index < arguments.count ? arguments[index] : nil) else {
          throw UsageError(
            message: "option '\(option.name)' needs a value: \(option.name) \(placeholder)",
            command: command.name)
        }
        if inline == nil {
          place = (index, 0)
          index += 1
        }
        values[option.name] = value
      } else if inline != nil {
        throw UsageError(message: "option '\(option.name)' takes no value", command: command.name)
      }
      given.append(GivenOption(option: option, value: value(option.name), place: place))
    }
    operands = index
    if command.mixesOperands { operandIndices += Array(index..<max(index, arguments.count)) }
  }

  /// The option that an argument names, and the value in the same argument.
  private static func find(
    _ argument: String, _ command: CommandSpec
  ) throws(UsageError) -> (OptionSpec, String?) {
    if argument.hasPrefix("--") {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if let option = command.option(parts[0]) {
        return (option, parts.count > 1 ? String(parts[1]) : nil)
      }
      throw unknown(String(parts[0]), command)
    }
    if let option = command.option(argument[...]) { return (option, nil) }
    let short = argument.prefix(2)
    guard let option = command.option(short) else { throw unknown(argument, command) }
    let rest = argument.dropFirst(2)
    if !rest.isEmpty && option.placeholder == nil { throw unknown(argument, command) }
    return (option, rest.isEmpty ? nil : String(rest))
  }

  private static func unknown(_ name: String, _ command: CommandSpec) -> UsageError {
    let names = command.options.flatMap(\.names).filter { $0.hasPrefix("--") }
    let nearest = LuaText.nearest(to: name, among: names).map { "; did you mean '\($0)'?" } ?? ""
    return UsageError(message: "unknown option '\(name)'\(nearest)", command: command.name)
  }
}
