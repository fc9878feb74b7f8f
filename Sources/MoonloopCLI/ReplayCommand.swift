// The command `replay`: a recording plays the part of the system.

internal import Glibc
internal import Moonloop
internal import MoonloopRecording
internal import MoonloopSystem

let replayCommand = CommandSpec(
  name: "replay",
  summary: "Runs a recorded script again, offline and at once, as it ran.",
  usage: "[OPTION...] RECORDING",
  options: [
    OptionSpec(
      names: ["--script"], placeholder: "FILE",
      help: "Runs this text instead of the recorded one; where it asks for something\n"
        + "else, the replay ends and says so."),
    OptionSpec(names: ["--trace"], help: "Writes each stage and call-out to standard error."),
    OptionSpec(
      names: ["--trace-out"], placeholder: "FILE",
      help: "Writes the same for ui.perfetto.dev, or chrome://tracing."),
  ],
  notes: [
    """
    RECORDING was written by 'moonloop run --record RECORDING FILE'. The script, its arguments and
    its environment are in it; nothing else is read, and nothing is written but its output.
    """,
    """
    Exit status: as the recorded run; 1 if the recording is damaged, or if the script asked for
    something else than it did then; 2 if the recording cannot be read.
    """,
  ],
  examples: [
    ("moonloop replay crash.mlt", "The same output, without its peers and without waiting."),
    ("moonloop replay --trace-out crash.json crash.mlt", "What the loop did then, as a picture."),
    ("moonloop replay --script fixed.lua crash.mlt", "Whether a changed script does better."),
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
  /// Looks through a recording and begins to play it.
  static func begin(
    _ bytes: UnsafeRawBufferPointer, _ path: String
  ) throws(ScriptFailure) -> RecordedStart {
    let look = Tape.look(at: bytes)
    if let flaw = look.flaw, flaw != .endless { throw failure(path, flaw, look) }
    // Its last part is whole; it says itself that it is not the end.
    Tape.play(bytes, isEndless: look.flaw != nil) { message, isEnd in
      _ = try? StandardStreams.flushOutput()
      writeToStandardError("moonloop: replay: \(message.map { String(cString: $0) } ?? "")")
      exit(isEnd ? ExitStatus.success : ExitStatus.failure)
    }
    guard let start = RecordedStart(Tape.take(.settings)) else {
      throw ScriptFailure(
        message: "'\(path)' holds what no moonloop wrote", status: ExitStatus.failure)
    }
    return start
  }

  private static func failure(_ path: String, _ flaw: Tape.Flaw, _ look: Tape.Look) -> ScriptFailure
  {
    let what =
      switch flaw {
      case .foreign: "'\(path)' is no recording of moonloop"
      case .version(let version):
        "'\(path)' has version \(version) of the format; this moonloop reads version "
          + "\(Tape.version)"
      case .damaged:
        "'\(path)' is damaged: what begins at byte \(look.byte), after event \(look.event), is not"
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
    var settings = try RunSettings(ProgramArguments.texts)
    settings.record = nil
    settings.traces = options.traces
    settings.traceOut = options.traceOut
    if let script = options.script {
      let text = try script.withCString { path throws(ScriptFailure) in
        try ScriptText(.file(path))
      }
      if !text.bytes.elementsEqual(start.script) {
        writeToStandardError("moonloop: replay: '\(script)' is not what was recorded")
      }
      settings.recorded = ScriptText(text.bytes, name: start.scriptName)
      withExtendedLifetime(text) {}
    } else {
      settings.recorded = ScriptText(start.script, name: start.scriptName)
    }
    return ScriptRun(settings).run()
  }
}
