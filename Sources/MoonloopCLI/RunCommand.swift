// The command `run`: its options, and what they say.

internal import Moonloop

let runCommand = CommandSpec(
  name: "run",
  summary: "Runs a Lua script, then its loop until nothing is left to wait for.",
  usage: "[OPTION...] FILE|- [ARGUMENT...]\n       moonloop run [OPTION...] -e CHUNK [ARGUMENT...]",
  options: [
    OptionSpec(
      names: ["-e"], placeholder: "CHUNK",
      help: "Runs the text instead of a file; what follows is for it."),
    OptionSpec(
      names: ["--mode"], placeholder: "NAME",
      help: "Runs the loop in this mode (default), and no phases."),
    OptionSpec(
      names: ["--timeout"], placeholder: "SECONDS",
      help: "Ends the run of the loop, or of all phases together, after a time."),
    OptionSpec(
      names: ["--clock"], placeholder: "CLOCK", choices: ["real", "virtual", "skip_idle"],
      help: "How time runs: real; virtual stands still while the loop works and\n"
        + "jumps when it is idle; skip_idle runs, and jumps when it is idle."),
    OptionSpec(
      names: ["--metrics"],
      help: "Measures the loop, and writes the figures to standard error at the end."),
    OptionSpec(names: ["--trace"], help: "Writes each stage and call-out to standard error."),
    OptionSpec(
      names: ["--trace-out"], placeholder: "FILE",
      help: "Writes the same for ui.perfetto.dev, or chrome://tracing."),
    OptionSpec(
      names: ["--record"], placeholder: "FILE",
      help: "Records all that enters from outside, for 'moonloop replay FILE'."),
    OptionSpec(
      names: ["--memory"], placeholder: "SIZE", help: "The most that Lua may hold, such as 64M."),
    OptionSpec(
      names: ["--callout"], placeholder: "TIME",
      help: "The most that one call of a handler may run, such as 2s or 500ms;\n"
        + "what it waits is not counted."),
    OptionSpec(
      names: ["--on-error"], placeholder: "WHAT", choices: ["continue", "stop"],
      help: "After an error that no handler took: continue (default) or stop."),
    OptionSpec(
      names: ["--watch"],
      help: "Loads FILE again when it or one of its modules changes, and on SIGHUP."),
    OptionSpec(
      names: ["--break-on-error"],
      help: "Stops at an error that nobody caught, if there is a console: the\n"
        + "terminal, or one that is attached."),
    OptionSpec(
      names: ["--name"], placeholder: "NAME",
      help: "What 'moonloop ps' and 'attach' call the program (FILE's)."),
    OptionSpec(
      names: ["--uv"], help: "Lets require \"luv\" and \"uv\" give luv's API on this loop."),
  ],
  notes: [
    """
    FILE is a script, or - for standard input. Arguments are in 'arg' and in '...'. The script runs
    as a task; then its loop runs in the default mode until it is finished or stopped, unless the
    script ran its loop by itself. Of a configuration, a file that returns a table, the phases run;
    where the command line and the configuration differ, the command line holds.
    """,
    """
    Exit status: 0; 1 if an error was reported; 2 if the command line is wrong or the script cannot
    be read; 3 if a limit ended something; what os.exit was called with; 130 after SIGINT, 143 after
    SIGTERM, 141 if nobody reads the output any more.
    """,
  ],
  examples: [
    ("moonloop run app.lua --verbose", "Runs app.lua; --verbose is the script's."),
    ("moonloop run --clock virtual app.lua", "An hour of timers in no time, the same each time."),
    ("moonloop run --memory 64M --callout 2s app.lua", "Stops what grows or takes too long."),
    ("tail -f log | moonloop run lines.lua", "A script that reads standard input as it comes."),
    (
      "moonloop run -e 'print(require(\"moonloop\").now())'", "A script on the command line."
    ),
    ("moonloop run --watch app.lua", "Loads app.lua again whenever it is saved."),
    ("moonloop run --uv app.lua", "An app.lua that was written for luv."),
    ("moonloop run --trace app.lua 2>trace.txt", "What the loop did, one line per stage."),
    ("moonloop run --metrics app.lua", "Where the time went, handle by handle."),
    ("moonloop run --trace-out app.json app.lua", "The same as a picture, for ui.perfetto.dev."),
  ])

/// Where the script comes from.
enum ScriptSource {
  case file(UnsafePointer<CChar>)
  case standardInput
  case chunk(UnsafePointer<CChar>)
}

/// What the command line of `run` says.
struct RunSettings {
  var source: ScriptSource
  /// The index of what `arg[0]` is: the file, or the chunk.
  var scriptIndex: Int
  var mode = ModeName.default
  var timeout: Duration?
  /// What holds for a configuration, which names modes, limits and times by itself.
  var forConfigurations = ForConfigurations()
  var clock = ClockMode.real
  var traces = false
  /// Where `--record` writes.
  var record: String?
  /// The text that a replay runs instead of its source.
  var recorded: ScriptText?
  /// Whether the loop is measured, and the figures written at the end.
  var measures = false
  /// Where `--trace-out` writes.
  var traceOut: String?
  /// Whether `require "luv"` is to give ours.
  var offersUV = false
  /// Whether the file is loaded again when it changes.
  var watches = false
  var limits = LuaLimits()
  var verdict = ErrorPolicy.Verdict.continue
  /// Whether errors are breakpoints.
  var breaksOnErrors = false
  /// Whether there is a prompt, or lines are read, from standard input.
  var editsLines = false
  /// Whether the script is only what the console begins with.
  var isConsole = false
  /// What a command that is written in Lua was called with; nil for a script.
  var command: LuaCommandArguments?
}

extension Program {
  static func run(_ arguments: [String]) throws(UsageError) -> Int32 {
    let settings = try RunSettings(arguments)
    return ScriptRun(settings).run()
  }
}

extension RunSettings {
  init(_ arguments: [String]) throws(UsageError) {
    let options = try ScannedOptions(arguments, from: 2, runCommand)
    if options.has("-e") {
      scriptIndex = options.operands - 1
      source = .chunk(Self.chunk(arguments, options.operands))
    } else {
      guard options.operands < arguments.count else {
        throw UsageError(message: "run: the script is missing: name a file, or '-'", command: "run")
      }
      scriptIndex = options.operands
      source = arguments[scriptIndex] == "-" ? .standardInput : .file(ProgramArguments[scriptIndex])
    }
    if let name = options.value("--mode") {
      if name == "common" || name.isEmpty {
        throw UsageError(
          message: "--mode: '\(name)' is no mode that can run; name one, such as 'default'",
          command: "run")
      }
      mode = ModeName(name)
      forConfigurations.mode = name
    }
    timeout = try options.duration("--timeout", atLeast: .zero)
    forConfigurations.timeout = timeout.map { $0 / .seconds(1) }
    verdict = try options.choice("--on-error", [.continue, .stop]) ?? .continue
    if options.has("--on-error") { forConfigurations.given.append("on_error") }
    try take(options)
    if limits.memory != nil { forConfigurations.given.append("memory") }
    if limits.callout != nil { forConfigurations.given.append("callout") }
    forConfigurations.refusal = Self.refusal(arguments, scriptIndex)
  }

  /// What stands behind a file is for it; but a configuration takes nothing.
  private static func refusal(_ arguments: [String], _ file: Int) -> String? {
    let rest = arguments.dropFirst(file + 1)
    let own = rest.first {
      $0.hasPrefix("--") && runCommand.option($0.prefix { $0 != "=" }) != nil
    }
    guard let own else { return nil }
    let words = rest.joined(separator: " ")
    return
      "moonloop: run: '\(own)' stands behind '\(arguments[file])', which is a configuration and"
      + " takes no arguments; write: moonloop run \(words) \(arguments[file])"
  }

  /// What `repl` was called with.
  init(repl arguments: [String]) throws(UsageError) {
    let options = try ScannedOptions(arguments, from: 2, replCommand)
    let raw = CommandLine.unsafeArgv
    scriptIndex = options.operands
    source = scriptIndex < arguments.count ? .file(raw[scriptIndex]!) : .chunk(Self.nothing)
    editsLines = true
    isConsole = true
    try take(options)
  }

  /// The empty script.
  private static var nothing: UnsafePointer<CChar> {
    let empty: StaticString = ""
    return UnsafeRawPointer(empty.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  /// The options that all who run scripts have.
  private mutating func take(_ options: ScannedOptions) throws(UsageError) {
    limits.callout = try options.duration("--callout", atLeast: .milliseconds(10))
    limits.memory = try options.bytes("--memory", atLeast: 1 << 20)
    clock = try options.choice("--clock", [.real, .virtual, .skipIdle]) ?? .real
    traces = options.has("--trace")
    measures = options.has("--metrics")
    traceOut = options.value("--trace-out")
    record = options.value("--record")
    offersUV = options.has("--uv")
    watches = options.has("--watch")
    if watches, case .file = source {
    } else if watches {
      throw UsageError(message: "--watch: needs a file, which may change", command: "run")
    }
    breaksOnErrors = options.has("--break-on-error")
  }

  /// The bytes of the text after `-e`, which stands before the operands.
  private static func chunk(
    _ arguments: [String], _ operands: Int
  ) -> UnsafePointer<CChar> {
    for index in 2..<operands where arguments[index].hasPrefix("-e") {
      if arguments[index] == "-e" { return UnsafePointer(ProgramArguments[index + 1]) }
      return UnsafePointer(ProgramArguments[index] + 2)
    }
    return UnsafePointer(ProgramArguments[0])
  }
}

extension ScannedOptions {
  fileprivate func duration(
    _ name: String, atLeast least: Duration
  ) throws(UsageError) -> Duration? {
    guard let text = value(name) else { return nil }
    guard let duration = Quantity.duration(text) else {
      throw bad(name, "a time such as 2s, 500ms or 1.5 (seconds)", text)
    }
    if duration < least { throw bad(name, "at least \(least)", text) }
    return duration
  }

  fileprivate func bytes(_ name: String, atLeast least: Int) throws(UsageError) -> Int? {
    guard let text = value(name) else { return nil }
    guard let bytes = Quantity.bytes(text) else {
      throw bad(name, "a size such as 64M, 512K or 1G", text)
    }
    if bytes < least { throw bad(name, "at least \(least >> 20)M", text) }
    return bytes
  }

  /// One of the values of an option that has a list of them, in the same order.
  fileprivate func choice<Value>(_ name: String, _ values: [Value]) throws(UsageError) -> Value? {
    guard let text = value(name) else { return nil }
    let choices = runCommand.option(name[...])?.choices ?? []
    if let index = choices.firstIndex(of: text) { return values[index] }
    let nearest = LuaText.nearest(to: text, among: choices).map { "; did you mean '\($0)'?" } ?? ""
    throw UsageError(
      message:
        "\(name): must be one of \(choices.joined(separator: ", ")), got '\(text)'\(nearest)",
      command: "run")
  }

  private func bad(_ name: String, _ expected: String, _ given: String) -> UsageError {
    UsageError(message: "\(name): must be \(expected), got '\(given)'", command: "run")
  }
}
