// Every scenario of the repository, on both kernels and through both faces.

import Testing

@Suite("Scenarios leave the traces that they have to leave")
struct ScenarioTests {
  @Test("in simulated time", arguments: Scenarios.all, ["swift", "lua"])
  func simulated(_ file: String, _ face: String) throws {
    let run = try Driver.run(["--face", face, "--kernel", "simulated", Scenarios.path(file)])
    if let skipped = run.lines.first(where: { $0.hasPrefix("SKIP") }) {
      #expect(Scenarios.unsupported.contains { skipped.hasSuffix($0) }, "\(skipped)")
    } else {
      #expect(run.lines == ["1 passed, 0 failed"])
    }
    #expect(run.status == 0)
  }

  @Test("made at random, as the model does", arguments: ["swift", "lua"])
  func random(_ face: String) throws {
    let run = try Driver.run([
      "--face", face, "--kernel", "simulated", "--fuzz", "100", "--seed", "1", "--no-shrink",
    ])
    #expect(run.lines.first?.hasPrefix("100 cases of ") == true)
    #expect(run.lines.filter { $0.hasPrefix("FAIL") } == [])
    #expect(run.lines.last == "0 differences that no ruling explains")
    #expect(run.status == 0)
  }

  @Test func `in the runs of CFRunLoop, but for what a pass more changes`() throws {
    let run = try Driver.run(["--face", "hosted"] + Scenarios.folders)
    let failed = run.lines.filter { $0.hasPrefix("FAIL") }
      .map { String($0.dropFirst(5).prefix { $0 != ":" }) }
    #expect(Set(failed).subtracting(Scenarios.differentInHost) == [])
    #expect(run.lines.last?.contains(" passed, ") == true)
  }

  // One test for all: they mostly sleep, so the driver runs several at a time.
  @Test("in real time", arguments: ["swift", "lua"])
  func real(_ face: String) throws {
    let run = try Driver.run(["--face", face, "--kernel", "real"] + Scenarios.folders)
    #expect(run.lines.filter { $0.hasPrefix("FAIL") } == [])
    let skipped = run.lines.filter { $0.hasPrefix("SKIP") }
    #expect(skipped.allSatisfy { line in Scenarios.unsupported.contains { line.hasSuffix($0) } })
    let passed = Scenarios.all.count - skipped.count
    let end = skipped.isEmpty ? "" : ", \(skipped.count) skipped"
    #expect(run.lines.last == "\(passed) passed, 0 failed\(end)")
    #expect(run.status == 0)
  }
}
