// The command `run`: its options and settings.

internal import Glibc
internal import Moonloop

let runCommand = CommandSpec(
  name: "run",
  summary: "Run a Lua script, then its loop until nothing is left to wait for.",
  usage: "[OPTION...] FILE|- [ARGUMENT...]\n       moonloop run [OPTION...] -e CHUNK [ARGUMENT...]",
  options: [
    OptionSpec(
      "-e", value: "CHUNK",
      help: "Run this Lua text instead of a file; the rest are its arguments."),
    OptionSpec(
      "--mode", value: "NAME",
      help: "Run the loop in this mode instead of 'default', and skip the\n"
        + "configuration's phases."),
    OptionSpec(
      "--timeout", value: "SECONDS",
      help: "Time limit for the run, or for all phases together."),
    OptionSpec(
      "--clock", value: "CLOCK", choices: ["real", "virtual", "skip_idle"],
      help: "Which clock: real; virtual, which stands still while the loop works and\n"
        + "jumps ahead when it is idle; or skip_idle, which runs but jumps ahead\n"
        + "when the loop is idle."),
    OptionSpec(
      "--metrics",
      help: "Measure the loop; write the figures to standard error at the end."),
    OptionSpec("--trace", help: "Write each stage and call-out to standard error."),
    OptionSpec(
      "--trace-out", value: "FILE",
      help: "Write a trace file for ui.perfetto.dev or chrome://tracing."),
    OptionSpec(
      "--record", value: "FILE",
      help: "Record all input from outside, for 'moonloop replay FILE'."),
    OptionSpec("--memory", value: "SIZE", help: "Memory limit for Lua, e.g. 64M."),
    OptionSpec(
      "--callout", value: "TIME",
      help: "Time limit for one call of a handler, e.g. 2s or 500ms;\nwaiting does not count."),
    OptionSpec(
      "--timer-slack", value: "TIME",
      help: "How late the system may end a sleep, e.g. 1us (its default is 50us)."),
    OptionSpec(
      "--spin", value: "TIME",
      help: "Wake this long before a timer, e.g. 100us, and keep the processor busy\n"
        + "until its date."),
    OptionSpec(
      "--handles", value: "COUNT",
      help: "Maximum number of handles, timers and tasks, each."),
    OptionSpec(
      "--guest",
      help: "Run an untrusted script: it can reach only what --allow grants, and\nhas limits."),
    OptionSpec(
      "--allow", value: "GRANT", repeats: true,
      help: "What a guest may use, e.g. timers, net=127.0.0.1:8000-8010,\n"
        + "fs=read:data/ or process=git; several with commas."),
    OptionSpec(
      "--ask",
      help: "Ask at the terminal for what a guest needs and --allow does not grant;\n"
        + "the answer holds for the run."),
    OptionSpec(
      "--isolate",
      help: "Also have the system confine the guest's process: no other files,\n"
        + "calls or memory, even if the script breaks out of Lua."),
    OptionSpec("--list", help: "List what the guest can reach, without running it."),
    OptionSpec(
      "--on-error", value: "WHAT", choices: ["continue", "stop"],
      help: "After an unhandled error: continue or stop. Default: stop if it is in\n"
        + "the main chunk, else continue."),
    OptionSpec(
      "--watch",
      help: "Reload FILE when it or one of its modules changes, and on SIGHUP."),
    OptionSpec(
      "--break-on-error",
      help: "Stop at uncaught errors if there is a console: the terminal,\nor an attached one."),
    OptionSpec(
      "--name", value: "NAME",
      help: "Name for 'moonloop ps' and 'attach' (default: the name of FILE)."),
    OptionSpec("--uv", help: "Make require \"luv\" and \"uv\" return luv's API on this loop."),
  ],
  notes: [
    """
    FILE is a script, or - for standard input. Its arguments are in 'arg' and '...'. The script runs
    as a task; then its loop runs in the default mode until it is finished or stopped, unless the
    script ran the loop itself. If FILE is a configuration (it returns a table), its phases run;
    options on the command line override it.
    """,
    """
    Exit status: 0; 1 if an error was reported; 2 if the command line is wrong or the script cannot
    be read; 3 if a limit was exceeded; the argument of os.exit; 130 after SIGINT, 143 after
    SIGTERM, 141 if the reader of the output has gone.
    """,
  ],
  examples: [
    ("moonloop run app.lua --verbose", "Run app.lua; --verbose is the script's argument."),
    (
      "moonloop run --clock virtual app.lua",
      "Run an hour of timers in an instant, the same way each time."
    ),
    ("moonloop run --memory 64M --callout 2s app.lua", "Limit memory and time per handler call."),
    ("tail -f log | moonloop run lines.lua", "Read standard input as it arrives."),
    (
      "moonloop run -e 'print(require(\"moonloop\").now())'", "Run a script on the command line."
    ),
    (
      "moonloop run --guest --allow timers,net=127.0.0.1:8000 plugin.lua",
      "Run an untrusted script with timers and one connection."
    ),
    ("moonloop run --watch app.lua", "Reload app.lua whenever it is saved."),
    ("moonloop run --uv app.lua", "Run an app.lua written for luv."),
    ("moonloop run --trace app.lua 2>trace.txt", "Show what the loop did, one line per stage."),
    ("moonloop run --metrics app.lua", "Show where the time went, handle by handle."),
    ("moonloop run --trace-out app.json app.lua", "Write a timeline for ui.perfetto.dev."),
  ])

/// Where the script comes from.
enum ScriptSource {
  case file(UnsafePointer<CChar>)
  case standardInput
  case chunk(UnsafePointer<CChar>)
  case nothing
}

/// The command line of `run`, read.
struct RunSettings {
  var source: ScriptSource
  /// The index of `arg[0]`: the file or the chunk, or the program if there is neither.
  var scriptIndex: Int
  /// Whether a command's name is before the options.
  var namesCommand = false
  /// What runs before the script.
  var preludes: [Prelude] = []
  /// Whether the paths in the environment are ignored.
  var ignoresEnvironment = false
  /// Whether LUA_INIT runs first.
  var readsInit = true
  var mode = ModeName.default
  var timeout: Duration?
  /// What overrides a configuration, which names its own modes, limits and times.
  var forConfigurations = ForConfigurations()
  var clock = ClockMode.real
  var traces = false
  /// The file `--record` writes.
  var record: String?
  /// The text that a replay runs instead of `source`.
  var recorded: ScriptText?
  /// Whether to measure the loop and write the figures at the end.
  var measures = false
  /// The file `--trace-out` writes.
  var traceOut: String?
  /// Whether `require "luv"` returns ours.
  var offersUV = false
  /// Whether to reload the file when it changes.
  var watches = false
  var limits = LuaLimits()
  /// How late the loop may end a sleep, and how long before a timer it wakes.
  var timerSlack: Duration?
  var spin: Duration?
  /// What a script that is not trusted may reach; nil: everything, as one that is.
  var guest: GuestGrants?
  /// Whether the process confines itself before the script runs.
  var isolates = false
  /// Whether to only show what a guest reaches.
  var listsReach = false
  var verdict: ErrorPolicy.Verdict?
  /// Whether errors are breakpoints.
  var breaksOnErrors = false
  /// Whether the command is `test`: consoles reach its tests.
  var runsTests: Bool { command?.name == "test" }
  /// Whether lines are read from standard input, with a prompt at a terminal.
  var editsLines = false
  /// Whether the script only prepares for the console.
  var isConsole = false
  /// Whether a prompt follows the script.
  var prompts = false
  /// The arguments of a command written in Lua; nil for a script.
  var command: LuaCommandArguments?
}

extension Program {
  static func run(_ arguments: [String]) throws(UsageError) -> Int32 {
    let settings = try RunSettings(arguments)
    if settings.listsReach { return listReach(settings) }
    return ScriptRun(settings).run()
  }
}

extension RunSettings {
  init(_ arguments: [String]) throws(UsageError) {
    if arguments.count < 2 || arguments[1] != runCommand.name {
      try self.init(interpreter: arguments, ScannedOptions(arguments, from: 1, interpreter))
      return
    }
    let options = try ScannedOptions(arguments, from: 2, runCommand)
    var isMissing = false
    if let chunk = options.given.first(where: { $0.option.name == "-e" }) {
      self.init(source: .chunk(chunk.bytes), scriptIndex: options.operands - 1)
    } else if options.has("--list") {
      self.init(source: .nothing, scriptIndex: 0)
    } else {
      isMissing = options.operands >= arguments.count
      let operand = min(options.operands, arguments.count - 1)
      self.init(source: Self.source(operand), scriptIndex: operand)
    }
    namesCommand = true
    // First: an option may have taken the script for its value.
    try takeRun(options, arguments)
    if isMissing {
      throw UsageError(message: "run: the script is missing; name a file or '-'", command: "run")
    }
  }

  /// The operand as a script; after `--`, `-` is a file too.
  static func source(_ operand: Int) -> ScriptSource {
    let file = ProgramArguments[operand]
    let isInput = strcmp(file, "-") == 0 && strcmp(ProgramArguments[operand - 1], "--") != 0
    return isInput ? .standardInput : .file(file)
  }

  /// The options of `run`, but for those that say what to run.
  mutating func takeRun(
    _ options: ScannedOptions, _ arguments: [String]
  ) throws(UsageError) {
    if let name = options.value("--mode") {
      if name == "common" || name.isEmpty {
        throw UsageError(
          message: "--mode: the loop cannot run in '\(name)'; name one mode, e.g. 'default'",
          command: "run")
      }
      mode = ModeName(name)
      forConfigurations.mode = name
    }
    if let name = options.value("--name") {
      let isLine = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
      let isNumber = name.allSatisfy(\.isNumber)
      if !isLine || isNumber || name.utf8.count > 64 {
        throw options.bad("--name", "one line of 1 to 64 bytes, and not a number", name)
      }
    }
    timeout = try options.duration("--timeout", atLeast: .zero)
    forConfigurations.timeout = timeout.map { $0 / .seconds(1) }
    verdict = try options.choice("--on-error", [.continue, .stop])
    if verdict != nil { forConfigurations.given.append("on_error") }
    timerSlack = try options.lateness("--timer-slack")
    spin = try options.lateness("--spin")
    try take(options)
    try takeGuest(options)
    if limits.memory != nil { forConfigurations.given.append("memory") }
    if limits.callout != nil { forConfigurations.given.append("callout") }
    forConfigurations.refusal = Self.refusal(arguments, scriptIndex)
  }

  /// What follows a file are its arguments, but a configuration takes none.
  private static func refusal(_ arguments: [String], _ file: Int) -> String? {
    let rest = arguments.dropFirst(file + 1)
    let own = rest.first {
      $0.hasPrefix("--") && runCommand.option($0.prefix { $0 != "=" }) != nil
    }
    guard let own else { return nil }
    let words = rest.joined(separator: " ")
    return
      "moonloop: run: '\(own)' follows '\(arguments[file])', which is a configuration and takes no"
      + " arguments; write: moonloop run \(words) \(arguments[file])"
  }

  /// The settings of `repl`.
  init(repl arguments: [String]) throws(UsageError) {
    let options = try ScannedOptions(arguments, from: 2, replCommand)
    let file = options.operands
    let isNamed = file < arguments.count
    self.init(
      source: isNamed ? .file(ProgramArguments[file]) : .nothing, scriptIndex: isNamed ? file : 0)
    namesCommand = true
    editsLines = true
    isConsole = true
    try take(options)
  }

  /// The options that all commands that run scripts have.
  private mutating func take(_ options: ScannedOptions) throws(UsageError) {
    limits.callout = try options.duration("--callout", atLeast: .milliseconds(10))
    limits.memory = try options.bytes("--memory", atLeast: 1 << 20)
    limits.handles = try options.count("--handles")
    clock = try options.choice("--clock", [.real, .virtual, .skipIdle]) ?? .real
    traces = options.has("--trace")
    measures = options.has("--metrics")
    traceOut = options.value("--trace-out")
    record = options.value("--record")
    offersUV = options.has("--uv")
    watches = options.has("--watch")
    if watches, case .file = source {
    } else if watches {
      throw UsageError(message: "--watch: requires a script file, not '-' or -e", command: "run")
    }
    breaksOnErrors = options.has("--break-on-error")
  }
}

extension ScannedOptions {
  fileprivate func lateness(_ name: String) throws(UsageError) -> Duration? {
    let time = try duration(name, atLeast: .zero)
    if let time, time > .seconds(1) { throw bad(name, "at most 1s", value(name) ?? "") }
    return time
  }

  fileprivate func duration(
    _ name: String, atLeast least: Duration
  ) throws(UsageError) -> Duration? {
    guard let text = value(name) else { return nil }
    guard let duration = Quantity.duration(text) else {
      throw bad(name, "a time, e.g. 2s, 500ms or 1.5 (seconds)", text)
    }
    if duration < least { throw bad(name, "at least \(least)", text) }
    return duration
  }

  fileprivate func count(_ name: String) throws(UsageError) -> Int? {
    guard let text = value(name) else { return nil }
    guard let count = Int(text), count > 0 else {
      throw bad(name, "a whole number >= 1", text)
    }
    return count
  }

  fileprivate func bytes(_ name: String, atLeast least: Int) throws(UsageError) -> Int? {
    guard let text = value(name) else { return nil }
    guard let bytes = ByteCount.of(text) else {
      let advice = ByteCount.better(than: text).map { "; write '\($0)'" } ?? ""
      throw bad(name, "a size, e.g. 64M, 512K or 1G", text, advice)
    }
    if bytes < least { throw bad(name, "at least \(least >> 20)M", text) }
    return bytes
  }

  /// The value that belongs to the option's choice; `values` are in the order of the choices.
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

  fileprivate func bad(
    _ name: String, _ expected: String, _ given: String, _ advice: String = ""
  ) -> UsageError {
    UsageError(message: "\(name): must be \(expected), got '\(given)'\(advice)", command: "run")
  }
}
