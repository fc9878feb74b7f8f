// Passes options to the commands that are written in Lua.

internal import Moonloop

/// The command line of a command written in Lua.
struct LuaCommandArguments {
  enum Value {
    case text(String)
    case seconds(Double)
    case flag(Bool)
  }

  let name: String
  /// Names without dashes, in the order of the command line.
  var options: [(name: String, value: Value)]
  /// The positions of files and folders on the command line.
  var paths: [Int]
}

extension LuaCommandArguments {
  init(_ arguments: [String], _ command: CommandSpec) throws(UsageError) {
    let scanned = try ScannedOptions(arguments, from: 2, command)
    name = command.name
    if !command.mixesOperands && scanned.operands < arguments.count {
      throw UsageError(
        message: "\(name): takes only options, got '\(arguments[scanned.operands])'", command: name)
    }
    paths = command.mixesOperands ? scanned.operandIndices : []
    options = []
    for given in scanned.given {
      let option = given.option
      let value: Value
      if let text = given.value {
        value = option.isTime ? .seconds(try Self.seconds(text, option, command)) : .text(text)
      } else {
        value = .flag(!given.isDenied)
      }
      options.append((String(option.name.drop { $0 == "-" }), value))
    }
  }

  /// The text of an option; empty for a flag, nil if it was not given.
  func text(_ name: String) -> String? {
    guard let value = options.last(where: { $0.name == name })?.value else { return nil }
    if case .text(let text) = value { return text }
    return ""
  }

  private static func seconds(
    _ text: String, _ option: OptionSpec, _ command: CommandSpec
  ) throws(UsageError) -> Double {
    if let duration = Quantity.duration(text) { return duration / .seconds(1) }
    throw UsageError(
      message: "\(option.name): must be a time, e.g. 1h, 90s or 500ms, got '\(text)'",
      command: command.name)
  }
}

extension Program {
  /// Runs a chunk with these arguments: the number of options, the name and value of each, then the
  /// operands. The chunk must end the program with `os.exit`.
  /// - Parameter given: Options that are not on the command line.
  static func runInLua(
    _ arguments: [String], _ command: CommandSpec, editsLines: Bool = false,
    given: [(name: String, value: LuaCommandArguments.Value)] = [], traceOut: String? = nil,
    _ chunk: StaticString
  ) throws(UsageError) -> Int32 {
    let text = UnsafeRawPointer(chunk.utf8Start).assumingMemoryBound(to: CChar.self)
    var settings = RunSettings(source: .chunk(text), scriptIndex: 1)
    settings.editsLines = editsLines
    settings.readsInit = ["test", "plan", "simulate"].contains(command.name)
    settings.command = try LuaCommandArguments(arguments, command)
    settings.command?.options += given
    settings.breaksOnErrors = settings.command?.text("break-on-error") != nil
    settings.traceOut = traceOut ?? settings.command?.text("trace-out")
    // The name of a folder is for the command: it has other processes recorded.
    settings.record = settings.command?.text("record").flatMap {
      $0.hasSuffix(".mlt") && !Intake.isReplayed ? $0 : nil
    }
    return ScriptRun(settings).run()
  }
}
