// What must not compile in a program that uses the package, with the compiler's message: the files
// of Tests/Data/Refused, compiled against the modules that these tests were built with.

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
    return options + ["-Xcc", "-I/usr/include/lua5.4"]
  }

  @Test(arguments: ["items.txt", "conversions.txt", "values.txt"])
  func `the compiler says what the file expects, and nothing else`(file: String) throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      [
        "swiftc", "-frontend", "-emit-sil", "-o", "/dev/null", "-verify",
        "-verify-ignore-unrelated",
      ]
      + ["-swift-version", "6", "-module-name", "Refused"] + Self.options
      + [Self.folder.appendingPathComponent(file).path]
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(String(decoding: said, as: UTF8.self))")
  }
}
