// Spec files in a Swift test target: the runner of `moonloop test`, with the program's functions.

internal import Glibc
public import LuaEmbed
internal import MoonloopCore

/// A folder of spec files, for tests in Swift.
///
/// Each file is run on a loop and in a state of its own, on the calling thread. With Swift Testing:
///
///     static let specs = LuaSpecs(directory: "Tests/Specs")
///
///     @Test(arguments: specs.files) func spec(file: LuaSpecs.File) throws {
///       let outcomes = try Self.specs.run(file) { lua in lua.register("add") { $0 + $1 } }
///       #expect(outcomes.filter(\.isFailure) == [])
///     }
public struct LuaSpecs: Sendable {
  /// Where the files are.
  public let directory: String

  /// One spec file.
  public struct File: Sendable, Hashable, CustomStringConvertible {
    /// The path of the file.
    public let path: String

    /// Names a file.
    public init(path: String) { self.path = path }
    public var description: String { path }
  }

  /// What came of one test, or an error outside of tests.
  public struct Outcome: Sendable, Hashable, CustomStringConvertible {
    /// How a test ended.
    public enum Status: String, Sendable {
      case success, failure, error, pending
    }
    /// How it ended.
    public let status: Status
    /// The names of the test and of the blocks around it.
    public let name: String
    /// File and line: of what failed, else of the test.
    public let place: String
    /// What went wrong, as `moonloop test` writes it; empty if nothing did.
    public let text: String

    /// Whether something went wrong.
    public var isFailure: Bool { status == .failure || status == .error }
    public var description: String { "\(status) \(name) (\(place))\n\(text)" }
  }

  /// Names a folder; a path that does not begin with a slash is one of the working directory.
  public init(directory: String) { self.directory = directory }

  /// The files of the folder and of those in it whose names end in `_spec.lua` or `_test.lua`.
  ///
  /// They are in the order of their paths; hidden folders are left out.
  public var files: [File] { Self.files(in: directory).sorted { $0.path < $1.path } }

  /// Runs a file.
  ///
  /// - Parameters:
  ///   - file: One of `files`, or any path.
  ///   - options: Those of `moonloop test`, without dashes, such as `["timeout": "5"]`.
  ///   - prepare: Gives the state what the specs need, such as functions of the program.
  /// - Returns: The outcome of each test, and of each error outside of tests.
  /// - Throws: What `prepare` throws; `LuaError` if a limit ends the run; `LuaFailure` if an option
  ///   is wrong or luassert is not installed.
  public func run(
    _ file: File, options: [String: String] = [:], prepare: (LuaState) throws -> Void = { _ in }
  ) throws -> [Outcome] {
    try Loop.isolated(clock: .real) { loop in
      let state = try LuaState(on: loop)
      guard let runtime = state.runtime else { return [] }
      TestBed.open(in: runtime)
      defer {
        runtime.bed?.close()
        state.shutDown()
      }
      try prepare(state)
      return try run(file, options, state, runtime)
    }
  }

  private final class Told {
    var outcomes: [Outcome] = []
    var wrong: String?
    var reports: [String] = []
  }

  private func run(
    _ file: File, _ options: [String: String], _ state: LuaState, _ runtime: Runtime
  ) throws -> [Outcome] {
    let told = Told()
    runtime.errors.write = { told.reports.append($0) }
    state.register("moonloop_tell") { (status: String, name: String, place: String, text: String) in
      let status = Outcome.Status(rawValue: status) ?? .error
      told.outcomes.append(Outcome(status: status, name: name, place: place, text: text))
    }
    state.register("moonloop_wrong") { (text: String) in told.wrong = text }
    let pairs = options.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    try runtime.mainChunk.start(
      chunk: """
        local tell, wrong = moonloop_tell, moonloop_wrong
        moonloop_tell, moonloop_wrong = nil, nil
        local path, given = ..., {}
        for index = 2, select("#", ...), 2 do given[#given + 1] = { select(index, ...) } end
        local message = require "moonloop.testing.embedded" (path, given, tell)
        if message then wrong(message) end
        """, name: "=LuaSpecs", arguments: [file.path] + pairs)
    runtime.loop.run(mode: .default)
    if let wrong = told.wrong { throw LuaFailure(wrong, code: "EINVAL") }
    if let report = told.reports.first { throw LuaError(message: report) }
    return told.outcomes
  }

  private static func files(in folder: String) -> [File] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var found: [File] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasPrefix(".") { continue }
      let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
      if name.hasSuffix("_spec.lua") || name.hasSuffix("_test.lua") {
        found.append(File(path: path))
      } else {
        found += files(in: path)
      }
    }
    return found
  }
}
