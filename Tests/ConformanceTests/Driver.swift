// Runs the driver as a program, as a user does.

import Foundation
import TestSupport

struct Driver {
  let lines: [String]
  let errors: String
  let status: Int32

  /// Runs it to its end; it gives up by itself after 20 seconds for each scenario.
  static func run(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> Driver {
    let process = Process()
    let output = Pipe()
    // A file, because a pipe would fill up and the driver would wait forever for a reader.
    let errors = try TemporaryFile()
    // The tests and the driver are built into one folder.
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("ConformanceDriver")
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = errors.handle
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    return Driver(
      lines: lines, errors: try errors.text(), status: process.terminationStatus)
  }
}

/// A file without a name for the output of a program.
private struct TemporaryFile {
  let handle: FileHandle

  init() throws {
    guard let file = tmpfile() else { throw POSIXError(.EIO) }
    handle = FileHandle(fileDescriptor: dup(fileno(file)), closeOnDealloc: true)
    fclose(file)
  }

  func text() throws -> String {
    try handle.seek(toOffset: 0)
    return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
  }
}

/// The scenario files of the repository.
enum Scenarios {
  private static let tests = URL(fileURLWithPath: RepositoryFile(path: "Tests").full)

  static let folders = ["Conformance", "Conformance/extra"].map {
    tests.appendingPathComponent($0).path
  }

  /// All of them, as paths from the folder of the tests.
  static let all: [String] = folders.flatMap { folder -> [String] in
    var found = glob_t()
    defer { globfree(&found) }
    guard glob("\(folder)/*.json", 0, nil, &found) == 0, let paths = found.gl_pathv else {
      return []
    }
    return (0..<Int(found.gl_pathc)).map { index -> String in
      guard let path = paths[index] else { return "" }
      return String(String(cString: path).dropFirst(tests.path.count + 1))
    }
  }

  static func path(_ file: String) -> String { tests.appendingPathComponent(file).path }

  /// Another thread asks for something while the host sleeps: that costs the host a pass, or finds
  /// it awake (decision 27). The last one depends on Core Foundation's own order.
  static let differentInHost: Set<String> = [
    "seq-port-asleep", "fd-disabled-by-thread", "fd-emptied-by-timer",
    "nest-after-waiting-other-mode",
    "nest-after-waiting-port", "obs-added-by-thread", "res-stop-in-after-waiting-port",
    "thread-queries", "timer-created-by-thread", "timer-set-next-by-thread",
    "seq-port-ready-then-sleep",
  ]

  /// The reasons that `docs/conformance.md` lists.
  static let unsupported = [
    "the simulated kernel has no libdispatch main queue",
    "a handle belongs to one Lua state, and so to one loop",
    "the Lua interface has only timers and runs so far",
  ]
}
