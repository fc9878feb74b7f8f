// The scripts in Tests/Scripts/<subject>/, one behaviour each. They assert, so any report is a
// failure. Each runs three times in one state, and may leave nothing behind.

import Glibc
import Moonloop
import TestSupport
import Testing

@Suite struct ScriptFileTests {
  static let folder = RepositoryFile(path: "Tests/Scripts")

  /// The subjects whose scripts need only a loop; other suites run the other folders.
  static let subjects = [
    "Compat", "Configuration", "CustomSources", "Descriptors", "Files", "FrozenTables",
    "Guests", "Http",
    "Inspection", "Items", "Json", "Loop", "NamedPorts", "Net", "Notifications", "Observers",
    "Ports",
    "Pressure", "Processes", "Signals", "Sockets", "Streams", "TLS", "Timers",
    "Watches", "Workers",
  ]

  /// A script, by its path from the folder of the scripts.
  static func text(_ script: String) throws -> String {
    try RepositoryFile(path: "\(folder.path)/\(script)").read()
  }

  static let scripts: [String] = subjects.flatMap { subject in
    RepositoryFile(path: "\(folder.path)/\(subject)").files(ending: ".lua")
      .map { String($0.path.dropFirst(folder.path.count + 1)) }
  }

  /// The program, which lies beside the tests: isolated guests run in it.
  private static let program: String = {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    let tests = String(
      decoding: path[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return tests.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/moonloop"
  }()

  @Test(arguments: scripts)
  func `a script does what it asserts, and leaves nothing`(script: String) throws {
    GuestProgram.isAt(Self.program)
    let run = try ScriptRun.of(try Self.text(script), name: "@\(script)", times: 3)
    #expect(run.reports == [])
    #expect(run.leftovers == [])
  }

  @Test func `there are scripts for every subject`() {
    for subject in Self.subjects {
      #expect(Self.scripts.contains { $0.hasPrefix(subject + "/") }, "\(subject)")
    }
  }
}
