// The program `moonloop`: finds the command and runs it.

internal import Glibc
internal import Moonloop
internal import MoonloopSystem

StandardStreams.fillClosed()
quitByKey()
FatalSignals.endProgram()
exit(Program.main(ProgramArguments.texts))

/// Ctrl-\ is the user's choice, not a crash: Swift would print a backtrace and ask what to do.
private func quitByKey() {
  let before = signal(SIGQUIT, SIG_DFL)
  if unsafeBitCast(before, to: Int.self) == 1 { signal(SIGQUIT, before) }  // keep it ignored
}

/// The command line as a whole.
enum Program {
  static let version = "0.1.0"
  static let commands = [
    runCommand, replayCommand, replCommand, attachCommand, psCommand, topCommand, testCommand,
    planCommand, simulateCommand, checkCommand, newCommand,
  ]

  /// - Returns: The exit status.
  static func main(_ arguments: [String]) -> Int32 {
    do {
      return try dispatch(arguments)
    } catch {
      let command = error.command.map { $0.isEmpty ? "" : " " + $0 } ?? ""
      writeToStandardError("moonloop: \(error.message)\nTry 'moonloop\(command) --help'.")
      return ExitStatus.usage
    }
  }

  private static func dispatch(_ arguments: [String]) throws(UsageError) -> Int32 {
    guard arguments.count > 1 else { return try interpret(arguments) }
    if arguments[1] == GuestProgram.command {
      return GuestServer.run(Array(arguments.dropFirst(2)))
    }
    GuestProgram.isAt("/proc/self/exe")
    if let command = commands.first(where: { $0.name == arguments[1] }) {
      if wantsHelp(arguments) { return Help.print(Help.of(command)) }
      return try run(command, arguments)
    }
    guard arguments[1] == "help" else { return try interpret(arguments) }
    guard arguments.count > 2 else { return Help.print(Help.ofProgram) }
    if wantsHelp(arguments) { return Help.print(Help.of(helpCommand)) }
    if let command = documented.first(where: { $0.name == arguments[2] }) {
      return Help.print(Help.of(command))
    }
    return try explain(arguments)
  }

  private static func run(
    _ command: CommandSpec, _ arguments: [String]
  ) throws(UsageError) -> Int32 {
    switch command.name {
    case "run": try run(arguments)
    case "replay": try replay(arguments)
    case "test": try test(arguments)
    case replCommand.name: try repl(arguments)
    case attachCommand.name, psCommand.name: try runConsole(arguments, command)
    case topCommand.name: try top(arguments)
    case newCommand.name: try new(arguments)
    default: try runPlanning(arguments, command)
    }
  }

  /// Whether `--help` comes before the script's name; later it belongs to the script.
  private static func wantsHelp(_ arguments: [String]) -> Bool {
    arguments.dropFirst(2).prefix { $0.hasPrefix("-") && $0 != "-" && $0 != "--" }
      .contains { $0 == "--help" || $0 == "-h" }
  }

  /// All that have a help of their own.
  static let documented = commands + [helpCommand]

  /// What may be the first word.
  static var names: [String] { documented.map(\.name) }

  /// A word that is no command, with the nearest one or all.
  static func unknown(_ word: String, _ message: String) -> UsageError {
    let nearest = LuaText.nearest(to: word, among: names).map { "; did you mean '\($0)'?" }
    return UsageError(
      message: message + (nearest ?? "; the commands are \(names.joined(separator: ", "))"))
  }
}

/// Exit statuses, as listed in docs/program.md.
enum ExitStatus {
  static let success: Int32 = 0
  static let failure: Int32 = 1
  static let usage: Int32 = 2
  static let limit: Int32 = 3
  static func signal(_ number: Int32) -> Int32 { 128 + number }
}
