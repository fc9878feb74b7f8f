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
  static let version = "0.2.0"
  /// The commands, in the order of the help. Only the table of the one that runs is made.
  private enum Command: String, CaseIterable {
    case run, replay, repl, attach, ps, top, test, plan, simulate, check, new

    var spec: CommandSpec {
      switch self {
      case .run: runCommand
      case .replay: replayCommand
      case .repl: replCommand
      case .attach: attachCommand
      case .ps: psCommand
      case .top: topCommand
      case .test: testCommand
      case .plan: planCommand
      case .simulate: simulateCommand
      case .check: checkCommand
      case .new: newCommand
      }
    }
  }

  static let commands = Command.allCases.map(\.spec)

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
    if let command = Command(rawValue: arguments[1]) {
      if wantsHelp(arguments) { return Help.print(Help.of(command.spec)) }
      return try run(command, arguments)
    }
    guard arguments[1] == "help" else { return try interpret(arguments) }
    guard arguments.count > 2 else { return Help.print(Help.ofProgram) }
    if wantsHelp(arguments) { return Help.print(Help.of(helpCommand)) }
    if arguments.count == 3, let command = documented.first(where: { $0.name == arguments[2] }) {
      return Help.print(Help.of(command))
    }
    return try explain(arguments)
  }

  private static func run(
    _ command: Command, _ arguments: [String]
  ) throws(UsageError) -> Int32 {
    switch command {
    case .run: try run(arguments)
    case .replay: try replay(arguments)
    case .test: try test(arguments)
    case .repl: try repl(arguments)
    case .attach, .ps: try runConsole(arguments, command.spec)
    case .top: try top(arguments)
    case .new: try new(arguments)
    case .plan, .simulate, .check: try runPlanning(arguments, command.spec)
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
