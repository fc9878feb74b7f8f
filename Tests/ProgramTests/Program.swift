// Runs the built program as a child, waits for what must happen, and reports how it ended.

import Foundation
import TestSupport
import Testing

/// How a run of the program ended.
struct Outcome: CustomStringConvertible {
  /// The status a shell would report: the exit status, or 128 + the signal that killed it.
  let status: Int32
  /// Whether it was killed by a signal.
  let wasKilled: Bool
  let output: String
  let errors: String

  var description: String { "status \(status)\n\(output)\n\(errors)" }

  /// Whether the report is the program's own: without messages of Swift or the C library.
  var isOurs: Bool {
    ["Fatal error", "Program crashed", "Swift runtime", "PANIC", "Sanitizer", "dumped"]
      .allSatisfy { !errors.contains($0) }
  }
}

/// A running child.
final class Program {
  static let root = URL(fileURLWithPath: RepositoryFile.top)
  /// The tests and the program are built into one folder; MOONLOOP_PROGRAM names another program.
  static let executable =
    ProcessInfo.processInfo.environment["MOONLOOP_PROGRAM"].map {
      URL(fileURLWithPath: $0)
    }
    ?? URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("moonloop")
  static let examples = root.appendingPathComponent("scripts/examples")
  /// Whether this is a run under a sanitizer, in which large tests should be smaller: the program
  /// is slow then, and takes several times its memory.
  static let isSanitized = ProcessInfo.processInfo.environment["MOONLOOP_SANITIZED"] != nil
  /// Whether a signal waits until the program makes a call that ThreadSanitizer knows, which a busy
  /// script never does, so it cannot be ended in such a run.
  static let holdsSignals = ProcessInfo.processInfo.environment["MOONLOOP_SANITIZED"] == "thread"
  /// The limit on any wait: generous, for a busy machine under a sanitizer.
  static let limit = DispatchTimeInterval.seconds(120)

  private let process = Process()
  private let ended = DispatchSemaphore(value: 0)
  private let input = Pipe()
  private let outputPipe = Pipe()
  private let folder: URL
  private var seen = ""
  /// What was printed so far, up to the last text waited for.
  var output: String { seen }

  /// Starts the program.
  /// - Parameters:
  ///   - output: Where its standard output goes, if not to the test.
  ///   - environment: Variables it gets besides the test's own.
  ///   - current: The folder in which it runs, if not in that of the test.
  ///   - executable: A program other than `moonloop`.
  init(
    _ arguments: [String], input text: String? = "", output other: FileHandle? = nil,
    environment: [String: String] = [:], in current: URL? = nil,
    of executable: String = Program.executable.path
  ) throws {
    _ = RuntimeFolder.path
    folder = try makeFolder()
    let errors = folder.appendingPathComponent("errors")
    _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = arguments
    if !environment.isEmpty {
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    }
    if let current { process.currentDirectoryURL = current }
    process.standardInput = input
    process.standardOutput = other ?? outputPipe
    process.standardError = try FileHandle(forWritingTo: errors)
    process.terminationHandler = { [ended] _ in ended.signal() }
    try process.run()
    if let text {
      // The program may have ended already; then input that it did not read does not matter.
      try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
      try input.fileHandleForWriting.close()
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var pid: pid_t { process.processIdentifier }

  /// Waits until this text appears in the output.
  func waitFor(_ text: String) throws {
    while !seen.contains(text) {
      let data = outputPipe.fileHandleForReading.availableData
      try #require(!data.isEmpty, "the output ended before '\(text)': \(seen)")
      seen += String(decoding: data, as: UTF8.self)
    }
  }

  /// What was printed up to what was waited for.
  var outputSoFar: String { seen }

  func closeInput() throws { try input.fileHandleForWriting.close() }

  func send(_ signal: Int32) { kill(pid, signal) }

  /// Waits until it has ended, even if its own children still run: `Process` would wait for
  /// these too, as they inherit its socket. Kills the program when the time is over.
  func waitForEnd() {
    let pid = pid
    let killer = DispatchWorkItem { kill(pid, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.limit, execute: killer)
    var info = siginfo_t()
    while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    killer.cancel()
  }

  /// Waits for it to end.
  /// - Parameter untilOutputEnds: Whether to read the output meanwhile; a child of the program may
  ///   hold it open for longer.
  func wait(untilOutputEnds: Bool = true) throws -> Outcome {
    try? outputPipe.fileHandleForWriting.close()
    let rest = untilOutputEnds ? try outputPipe.fileHandleForReading.readToEnd() : nil
    let inTime = ended.wait(timeout: .now() + Self.limit) == .success
    if !inTime { kill(pid, SIGKILL) }
    #expect(inTime, "the program did not end")
    process.waitUntilExit()
    let wasKilled = process.terminationReason == .uncaughtSignal
    // Not `Data(contentsOf:)`, which leaks a page for an empty file.
    let errors = try FileHandle(forReadingFrom: folder.appendingPathComponent("errors"))
    return Outcome(
      status: process.terminationStatus + (wasKilled ? 128 : 0), wasKilled: wasKilled,
      output: seen + String(decoding: rest ?? Data(), as: UTF8.self),
      errors: String(decoding: try errors.readToEnd() ?? Data(), as: UTF8.self))
  }
}

/// Runs the program until it ends.
func moonloop(
  _ arguments: [String], input: String = "", output: FileHandle? = nil, in current: URL? = nil
) throws -> Outcome {
  try Program(arguments, input: input, output: output, in: current).wait()
}

/// What a shell command prints.
func shell(_ command: String) throws -> String {
  let process = Process()
  let output = Pipe()
  process.executableURL = URL(fileURLWithPath: "/bin/bash")
  process.arguments = ["-c", command]
  process.standardOutput = output
  try process.run()
  let data = try output.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  return String(decoding: data, as: UTF8.self)
}

/// A new folder in the place for temporary files. Its name is short: Lua's messages have 59 bytes
/// for the path of a script.
func makeFolder() throws -> URL {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("moonloop-\(UUID().uuidString.prefix(13))")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  return folder
}

/// A file with a text, while a body runs.
func withFile<Result>(
  _ text: String, name: String = "script.lua", _ body: (String) throws -> Result
) throws -> Result {
  let folder = try makeFolder()
  defer { try? FileManager.default.removeItem(at: folder) }
  let file = folder.appendingPathComponent(name)
  try Data(text.utf8).write(to: file)
  return try body(file.path)
}

/// A running script that has printed "ready", while a body runs.
func withReady(
  _ script: String, name: String = "script.lua", options: [String] = [], input: String? = "",
  _ body: (Program) throws -> Void
) throws {
  try withFile(script, name: name) { file in
    let program = try Program(["run"] + options + [file], input: input)
    try program.waitFor("ready")
    try body(program)
  }
}
