// The command line of `lua`, for `moonloop` without a command: chunks, modules, then a script, or a
// prompt, or standard input.

internal import Glibc
internal import Moonloop

/// What `moonloop` takes without a command's name: the options of `lua`, of `run`, and its own.
let interpreter = CommandSpec(
  name: "",
  summary: "",
  usage: "",
  options: optionsOfLua + runCommand.options.filter { $0.name != "-e" } + optionsOfProgram,
  examples: [
    ("moonloop app.lua --verbose", "Run app.lua; --verbose is the script's argument."),
    ("moonloop -l lfs -e 'print(lfs.currentdir())'", "Load a module, then run a chunk."),
    ("moonloop --watch app.lua", "Run with an option of 'moonloop run'."),
    ("moonloop -i app.lua", "Run app.lua, then open a prompt."),
  ])

/// Those that `lua` has too.
let optionsOfLua = [
  OptionSpec("-e", value: "CHUNK", repeats: true, help: "Run this Lua text first."),
  OptionSpec(
    "-l", value: "NAME", repeats: true,
    help: "Require a module into the global NAME; -l g=NAME: into g."),
  OptionSpec("-i", repeats: true, help: "Open a prompt after FILE."),
  OptionSpec("-v", repeats: true, help: "Show the versions first."),
  OptionSpec("-E", repeats: true, help: "Ignore LUA_INIT, LUA_PATH and LUA_CPATH."),
  OptionSpec("-W", repeats: true, help: "Turn warnings on."),
]

let optionsOfProgram = [
  OptionSpec("--help", "-h", help: "Show this help."),
  OptionSpec("--version", help: "Show the versions of moonloop and Lua."),
  OptionSpec("--verbose", help: "With --version: show what a bug report needs."),
  OptionSpec(
    "--generate-completion-script", value: "SHELL", choices: ["bash", "zsh", "fish"],
    help: "Print completions for bash, zsh or fish."),
  OptionSpec(
    "--generate-man-page", value: "PAGE",
    help: "Print a man page: moonloop's, or that of a command."),
]

/// What runs before the script.
enum Prelude {
  /// A text, and what errors call it.
  case chunk(UnsafePointer<CChar>, name: String)
  case file(UnsafePointer<CChar>)
  /// `NAME`, or `GLOBAL=NAME`.
  case library(UnsafePointer<CChar>)
  case warnings
}

extension Program {
  static func interpret(_ arguments: [String]) throws(UsageError) -> Int32 {
    let options = try ScannedOptions(arguments, from: 1, interpreter)
    if options.has("--help") { return Help.print(Help.ofProgram) }
    if options.has("--version") {
      return Help.print(
        options.has("--verbose")
          ? VersionReport.text : "moonloop \(version) (\(LuaState.luaVersion))")
    }
    if options.has("--verbose") {
      throw UsageError(message: "--verbose: requires --version; did you mean -v?")
    }
    if options.has("--generate-completion-script") {
      return try Completions.print(for: options.value("--generate-completion-script"))
    }
    if options.has("--generate-man-page") {
      return try ManPages.print(options.value("--generate-man-page"))
    }
    try requireCommandOrFile(arguments)
    let settings = try RunSettings(interpreter: arguments, options)
    if options.has("-v") || (settings.prompts && isatty(0) == 0) {
      let status = Help.print(versions)
      if status != ExitStatus.success || settings.isEmpty { return status }
    }
    return ScriptRun(settings).run()
  }

  /// What `-v` shows. "Lua 5.4.4" is first, where tools look for it.
  static var versions: String { "\(LuaState.luaVersion) on moonloop \(version)" }

  /// A first word that names no file may be a misspelt command.
  private static func requireCommandOrFile(_ arguments: [String]) throws(UsageError) {
    guard arguments.count > 1, !arguments[1].hasPrefix("-"), !arguments[1].contains("/"),
      !arguments[1].hasSuffix(".lua"), access(ProgramArguments[1], F_OK) != 0
    else { return }
    throw unknown(arguments[1], "'\(arguments[1])' is neither a command nor a file")
  }
}

extension RunSettings {
  /// The settings of `moonloop` without a command.
  init(interpreter arguments: [String], _ options: ScannedOptions) throws(UsageError) {
    let file = options.operands
    let isNamed = file < arguments.count
    self.init(source: isNamed ? Self.source(file) : .nothing, scriptIndex: isNamed ? file : 0)
    preludes = Self.preludes(options)
    ignoresEnvironment = options.has("-E")
    readsInit = !ignoresEnvironment
    prompts = options.has("-i")
    if !isNamed && !prompts && !options.has("-e") && !options.has("-v") {
      if isatty(0) == 1 { prompts = true } else { source = .standardInput }
    }
    editsLines = prompts
    try takeRun(options, arguments)
    if prompts && record != nil {
      throw UsageError(message: "--record: a prompt cannot be recorded")
    }
  }

  /// Whether there is nothing to run.
  fileprivate var isEmpty: Bool {
    if case .nothing = source { return preludes.isEmpty && !prompts }
    return false
  }

  private static func preludes(_ options: ScannedOptions) -> [Prelude] {
    options.given.compactMap { given in
      switch given.option.name {
      case "-e": .chunk(given.bytes, name: "=(command line)")
      case "-l": .library(given.bytes)
      case "-W": .warnings
      default: nil
      }
    }
  }

  /// What LUA_INIT asks for; nil: nothing.
  static var initialization: Prelude? {
    for name in ["LUA_INIT_5_4", "LUA_INIT"] {
      guard let text = getenv(name) else { continue }
      let isPath = text.pointee == CChar(UInt8(ascii: "@"))
      return isPath ? .file(text + 1) : .chunk(text, name: "=" + name)
    }
    return nil
  }
}

/// Runs something while the variables that Lua reads when it opens a state are away.
func withoutLuaPaths<Result, Failure: Error>(
  _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  let names = ["LUA_PATH_5_4", "LUA_PATH", "LUA_CPATH_5_4", "LUA_CPATH"]
  let saved = names.map { name in getenv(name).map { String(cString: $0) } }
  for name in names { unsetenv(name) }
  defer {
    for (name, value) in zip(names, saved) {
      if let value { setenv(name, value, 1) }
    }
  }
  return try body()
}
