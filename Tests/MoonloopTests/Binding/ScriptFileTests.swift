// The scripts in Tests/Scripts/<module>/, one behaviour each: they assert, so that a report is a
// failure. Each runs three times in one state, and may leave nothing behind.

import Glibc
import Testing

@Suite struct ScriptFileTests {
  static let folder =
    #filePath.split(separator: "/", omittingEmptySubsequences: false)
    .dropLast(2).joined(separator: "/") + "/Scripts"

  /// Whose scripts need only a loop; other suites run the other folders.
  static let modules = [
    "items", "source", "fd", "observer", "perform", "port", "inspect", "worker", "compat",
    "stream", "configuration", "signal", "process", "watch", "net", "http",
  ]

  static let scripts: [String] = modules.flatMap { module -> [String] in
    guard let directory = opendir("\(folder)/\(module)") else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(".lua") { names.append("\(module)/\(name)") }
    }
    return names.sorted()
  }

  static func read(_ path: String) throws -> String {
    let file = try #require(fopen(path, "r"))
    defer { fclose(file) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      text += buffer[0..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }

  @Test(arguments: scripts)
  func `a script does what it asserts, and leaves nothing`(script: String) throws {
    let text = try Self.read("\(Self.folder)/\(script)")
    let run = try ScriptRun.of(text, name: "@\(script)", times: 3)
    #expect(run.reports == [])
    #expect(run.leftovers == [])
  }

  @Test func `there are scripts for every module`() {
    for module in Self.modules {
      #expect(Self.scripts.contains { $0.hasPrefix(module + "/") }, "\(module)")
    }
  }
}
