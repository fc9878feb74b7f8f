// The command `replay`: a recording takes the place of the system.

internal import Glibc
internal import Moonloop
internal import MoonloopRecording
internal import MoonloopSystem

let replayCommand = CommandSpec(
  name: "replay",
  summary: "Run a recorded script again exactly as it ran, offline and without waiting.",
  usage: "[OPTION...] RECORDING",
  options: [
    OptionSpec(
      "--script", value: "FILE",
      help: "Run this script instead of the recorded one. If it asks for something\n"
        + "else, the replay stops with an error."),
    OptionSpec("--trace", help: "Write each stage and call-out to standard error."),
    OptionSpec(
      "--trace-out", value: "FILE",
      help: "Write a trace file for ui.perfetto.dev or chrome://tracing."),
  ],
  notes: [
    """
    RECORDING was written by 'moonloop run --record RECORDING FILE'. It contains the script, its
    arguments and its environment; nothing else is read, and only its output is written.
    """,
    """
    Exit status: that of the recorded run; 1 if the recording is damaged, or if the script asked for
    something else this time; 2 if the recording cannot be read.
    """,
  ],
  examples: [
    ("moonloop replay crash.mlt", "Repeat its output, without its peers and without waiting."),
    ("moonloop replay --trace-out crash.json crash.mlt", "Draw what the loop did as a timeline."),
    ("moonloop replay --script fixed.lua crash.mlt", "Try a changed script on the same input."),
  ])

extension Program {
  static func replay(_ arguments: [String]) throws(UsageError) -> Int32 {
    let options = try ScannedOptions(arguments, from: 2, replayCommand)
    guard options.operands + 1 == arguments.count else {
      throw UsageError(
        message: options.operands == arguments.count
          ? "replay: the recording is missing" : "replay: takes one recording",
        command: "replay")
    }
    let path = ProgramArguments[options.operands]
    do {
      let bytes = try WholeFile(path).bytes
      let start = try Replay.begin(bytes, String(cString: path))
      return try Replay.run(
        start,
        ReplayOptions(
          script: options.value("--script"), traces: options.has("--trace"),
          traceOut: options.value("--trace-out")))
    } catch let error as ScriptFailure {
      writeToStandardError("moonloop: replay: \(error.message)")
      return error.status
    } catch let error as UsageError {
      throw error
    } catch { return ExitStatus.failure }
  }
}

struct ReplayOptions {
  var script: String?
  var traces: Bool
  var traceOut: String?
}

/// A run whose system is a recording.
enum Replay {
  /// Checks a recording and starts to play it.
  static func begin(
    _ bytes: UnsafeRawBufferPointer, _ path: String
  ) throws(ScriptFailure) -> RecordedStart {
    let look = Tape.look(at: bytes)
    if let flaw = look.flaw, flaw != .endless { throw failure(path, flaw, look) }
    // The file is whole up to its last part, which notes by itself that it is not the end.
    Tape.play(bytes, isEndless: look.flaw != nil) { message, isEnd in
      _ = try? StandardStreams.flushOutput()
      writeToStandardError("moonloop: replay: \(message.map { String(cString: $0) } ?? "")")
      exit(isEnd ? ExitStatus.success : ExitStatus.failure)
    }
    guard let start = RecordedStart(Tape.take(.settings)) else {
      throw ScriptFailure(
        message: "'\(path)' was not written by moonloop", status: ExitStatus.failure)
    }
    return start
  }

  private static func failure(_ path: String, _ flaw: Tape.Flaw, _ look: Tape.Look) -> ScriptFailure
  {
    let what =
      switch flaw {
      case .foreign: "'\(path)' is not a moonloop recording"
      case .version(let version):
        "'\(path)' has version \(version) of the format; this moonloop reads version "
          + "\(Tape.version)"
      case .damaged:
        "'\(path)' is damaged: the data from byte \(look.byte), after event \(look.event), is not"
          + " what was written"
      case .truncated, .endless:
        "'\(path)' is truncated after event \(look.event), at byte \(look.byte)"
      }
    return ScriptFailure(message: what, status: ExitStatus.failure)
  }

  /// Runs the recorded script, or another in its place.
  static func run(_ start: RecordedStart, _ options: ReplayOptions) throws -> Int32 {
    ProgramArguments.replace(start.arguments)
    start.setEnvironment()
    if ProgramArguments.texts.dropFirst().first == testCommand.name {
      return try replayTests(options)
    }
    var settings = try RunSettings(ProgramArguments.texts)
    settings.record = nil
    settings.prompts = false
    settings.editsLines = false
    settings.traces = options.traces
    settings.traceOut = options.traceOut
    if let script = options.script {
      let text = try script.withCString { path throws(ScriptFailure) in
        try ScriptText(.file(path))
      }
      if !text.bytes.elementsEqual(start.script) {
        writeToStandardError("moonloop: replay: '\(script)' differs from the recorded script")
      }
      settings.recorded = ScriptText(text.bytes, name: start.scriptName)
      withExtendedLifetime(text) {}
    } else {
      settings.recorded = ScriptText(start.script, name: start.scriptName)
    }
    return ScriptRun(settings).run()
  }

  private static func replayTests(_ options: ReplayOptions) throws -> Int32 {
    if options.script != nil || options.traces {
      throw ScriptFailure(
        message: "--script and --trace do not work with recordings of tests; use --trace-out",
        status: ExitStatus.usage)
    }
    return try Program.test(ProgramArguments.texts, traceOut: options.traceOut)
  }
}
