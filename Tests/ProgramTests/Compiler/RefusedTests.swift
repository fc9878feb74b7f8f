// What must not compile in a program that uses the package, with the compiler's message: the files
// of Tests/Data/Refused, compiled against the modules that these tests were built with. And what
// must: the code of the tutorials.

import Foundation
import TestSupport
import Testing

@Suite struct RefusedTests {
  private static let folder = Program.root.appendingPathComponent("Tests/Data/Refused")
  private static let built =
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

  /// Where the compiler finds the modules, and the C modules below them.
  private static var options: [String] {
    let sources = Program.root.appendingPathComponent("Sources")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: sources.path)) ?? []
    var options = ["-I", built.appendingPathComponent("Modules").path]
    for name in names.sorted() {
      let headers = sources.appendingPathComponent("\(name)/include")
      guard FileManager.default.fileExists(atPath: headers.path) else { continue }
      options += ["-Xcc", "-I\(headers.path)"]
      let maps = [headers, built.appendingPathComponent("\(name).build")]
        .map { $0.appendingPathComponent("module.modulemap").path }
      if let map = maps.first(where: FileManager.default.fileExists) {
        options += ["-Xcc", "-fmodule-map-file=\(map)"]
      }
    }
    let library = sources.appendingPathComponent("MoonloopCLua/module.modulemap").path
    return options + ["-Xcc", "-fmodule-map-file=\(library)"]
  }

  @Test(arguments: ["items.txt", "conversions.txt", "values.txt", "tasks.txt"])
  func `the compiler says what the file expects, and nothing else`(file: String) throws {
    try compile(Self.folder.appendingPathComponent(file))
  }

  @Test(arguments: [
    "MoonloopCore": "first-loop", "LuaEmbed": "first-script", "Moonloop": "first-host",
  ])
  func `the code of a tutorial compiles`(library: String, name: String) throws {
    let resources = "Sources/\(library)/\(library).docc/Resources"
    for step in 1...3 {
      try compile(Program.root.appendingPathComponent("\(resources)/\(name)-\(step).swift"))
    }
  }

  /// Compiles a file, and expects what it says of itself.
  private func compile(_ file: URL) throws {
    let said = try output(
      of: [
        "swiftc", "-frontend", "-emit-sil", "-o", "/dev/null", "-verify",
        "-verify-ignore-unrelated", "-swift-version", "6", "-module-name", "Refused",
      ] + Self.options + [file.path])
    #expect(said == "", "\(file.lastPathComponent)")
  }

  /// What a command prints; it must succeed.
  private func output(of command: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let text = String(decoding: said, as: UTF8.self)
    #expect(process.terminationStatus == 0, "\(text)")
    return text
  }
}
