// Spec files run from a Swift test target, with its own functions.

import Foundation
import Moonloop
import TestSupport
import Testing

@Suite struct LuaSpecsTests {
  static let folder = RepositoryFile(path: "Tests/Specs").full
  static let specs = LuaSpecs(directory: folder + "/embedded")

  @Test(arguments: specs.files)
  func `a folder of specs passes, with functions of the program`(file: LuaSpecs.File) throws {
    let outcomes = try Self.specs.run(file) { lua in
      lua.register("add") { (a: Int, b: Int) in a + b }
    }
    #expect(outcomes.filter(\.isFailure) == [])
  }

  @Test func `each test has an outcome`() throws {
    let file = try #require(Self.specs.files.first)
    let outcomes = try Self.specs.run(file) { lua in lua.register("add") { (_: Int, _: Int) in 5 } }
    #expect(outcomes.map(\.status) == [.success, .success, .pending])
  }

  static let prepared = LuaSpecs(directory: folder + "/embedded") { lua in
    lua.register("add") { (a: Int, b: Int) in a + b }
  }

  @Test(arguments: prepared.tests)
  func `each test in Lua may be one in Swift`(test: LuaSpecs.Test) throws {
    let outcomes = try Self.prepared.run(test)
    #expect(outcomes.map(\.name) == [test.name])
    #expect(outcomes.filter(\.isFailure) == [])
  }

  @Test func `tests are listed in their order, and a file with a mistake is one that fails`() throws
  {
    #expect(
      Self.prepared.tests.map { $0.place.split(separator: "/").last } == [
        "embedded_spec.lua:2", "embedded_spec.lua:3", "embedded_spec.lua:9",
      ])
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("moonloop-specs-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("it(".utf8).write(to: folder.appendingPathComponent("wrong_spec.lua"))
    let wrong = LuaSpecs(directory: folder.path)
    #expect(wrong.tests.map(\.name) == [""])
    #expect(try wrong.tests.flatMap { try wrong.run($0) }.map(\.isFailure) == [true])
  }

  @Test func `what fails is reported with its place`() throws {
    let file = try #require(
      LuaSpecs(directory: Self.folder + "/leaks").files.first {
        $0.path.hasSuffix("leaks_spec.lua")
      })
    let outcomes = try Self.specs.run(file, options: ["filter": "leaves a t"])
    let failure = try #require(outcomes.first)
    #expect(failure.status == .failure)
    #expect(failure.name == "leaves a timer")
    #expect(failure.place == "\(file.path):5")
    #expect(failure.text.contains("timer 'poll' (made at \(file.path):5)"))
    #expect(outcomes.map(\.isFailure) == [true, true, true])  // a timer, a task; a block's timer
  }

  @Test func `a wrong option is thrown`() {
    let file = LuaSpecs.File(path: "any_spec.lua")
    #expect(throws: LuaFailure.self) { try Self.specs.run(file, options: ["timeout": "soon"]) }
  }

  @Test func `files are found by their names`() {
    let names = LuaSpecs(directory: Self.folder).files.map {
      $0.path.dropFirst(Self.folder.count + 1)
    }
    #expect(names.contains("embedded/embedded_spec.lua"))
    #expect(names == names.sorted())
    #expect(!names.contains { $0.hasPrefix("config/") })
  }
}
