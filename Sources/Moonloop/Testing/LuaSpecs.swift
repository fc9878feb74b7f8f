// Spec files in a Swift test target: the runner of `moonloop test`, with the program's functions.

internal import Glibc
public import LuaEmbed
internal import MoonloopCore

/// A folder of spec files, for tests in Swift.
///
/// Each run has its own loop and state, on the calling thread. With Swift Testing, one Swift
/// test for each test in Lua:
///
///     static let specs = LuaSpecs(directory: "Tests/Specs") { lua in
///       lua.register("add") { (a: Int, b: Int) in a + b }
///     }
///
///     @Test(arguments: specs.tests) func spec(test: LuaSpecs.Test) throws {
///       #expect(try Self.specs.run(test).filter(\.isFailure) == [])
///     }
public struct LuaSpecs: Sendable {
  /// Where the files are.
  public let directory: String

  /// One spec file.
  public struct File: Sendable, Hashable, CustomStringConvertible {
    /// The path of the file.
    public let path: String

    /// Makes the description of the file at a path.
    public init(path: String) { self.path = path }
    public var description: String { path }
  }

  /// One test of a spec file.
  public struct Test: Sendable, Hashable, CustomStringConvertible {
    /// The file that it is in.
    public let file: File
    /// The names of the test and of the blocks around it; empty for a file that cannot be listed.
    public let name: String
    /// File and line.
    public let place: String
    public var description: String { name.isEmpty ? file.path : "\(name) (\(place))" }
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
    /// What went wrong, as `moonloop test` writes it; empty if all is well.
    public let text: String

    /// Whether something went wrong.
    public var isFailure: Bool { status == .failure || status == .error }
    public var description: String { "\(status) \(name) (\(place))\n\(text)" }
  }

  private let prepare: @Sendable (LuaState) throws -> Void

  /// Makes the specs of a folder; a relative path is resolved in the working directory.
  /// - Parameters:
  ///   - directory: The folder; its spec files are run.
  ///   - prepare: Gives each state what the specs need, such as functions of the program.
  public init(
    directory: String, prepare: @escaping @Sendable (LuaState) throws -> Void = { _ in }
  ) {
    self.directory = directory
    self.prepare = prepare
  }

  /// The files in the folder and its subfolders whose names end in `_spec.lua` or `_test.lua`.
  ///
  /// They are in the order of their paths; hidden folders are left out.
  public var files: [File] { Self.files(in: directory).sorted { $0.path < $1.path } }

  /// The tests of all files, in their order; none of them is run. A file that cannot be loaded is
  /// one test, which fails.
  public var tests: [Test] {
    files.flatMap { file in
      let found = try? outcomes(of: file, ["list": "true"]) { _ in }
      let whole = Test(file: file, name: "", place: file.path)
      guard let found, !found.contains(where: \.isFailure) else { return [whole] }
      return found.map { Test(file: file, name: $0.name, place: $0.place) }
    }
  }

  /// Runs one test, and others of its file that have the same name.
  /// - Throws: As for a file.
  public func run(_ test: Test, options: [String: String] = [:]) throws -> [Outcome] {
    try run(
      test.file,
      options: test.name.isEmpty ? options : options.merging(["name": test.name]) { $1 })
  }

  /// Runs a file.
  /// - Parameters:
  ///   - file: One of `files`, or any path.
  ///   - options: Those of `moonloop test`, without dashes, such as `["timeout": "5"]`; a flag is
  ///     `"true"` or `"false"`.
  ///   - prepare: Gives this state more than the others get.
  /// - Returns: The outcome of each test, and of each error outside of tests.
  /// - Throws: What `prepare` throws; `LuaError` if a limit ends the run; `LuaFailure` if an option
  ///   is wrong or luassert is not installed.
  public func run(
    _ file: File, options: [String: String] = [:], prepare: (LuaState) throws -> Void = { _ in }
  ) throws -> [Outcome] {
    try outcomes(of: file, options, prepare)
  }

  private func outcomes(
    of file: File, _ options: [String: String], _ more: (LuaState) throws -> Void
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
      try more(state)
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
      // Tests that are only listed have not failed.
      let status = Outcome.Status(rawValue: status) ?? (status == "listed" ? .pending : .error)
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
        // A link to a folder is not followed: it may lead back.
        var status = stat()
        let isFolder = lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        if isFolder { found += files(in: path) }
      }
    }
    return found
  }
}
