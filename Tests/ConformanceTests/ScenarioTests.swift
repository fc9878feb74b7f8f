// Every scenario of the repository, on both kernels and through both faces.

import Testing

@Suite("Scenarios leave the traces that they have to leave")
struct ScenarioTests {
  @Test("in simulated time, through the Swift face", arguments: Scenarios.all)
  func simulatedSwift(_ file: String) throws {
    try expectPass(file, "--face", "swift", "--kernel", "simulated")
  }

  // One test for all: they mostly sleep, so the driver runs several at a time.
  @Test("in real time, through the Swift face")
  func realSwift() throws {
    let run = try Driver.run(["--face", "swift", "--kernel", "real"] + Scenarios.folders)
    #expect(run.lines.filter { $0.hasPrefix("FAIL") } == [])
    #expect(run.lines.last == "\(Scenarios.all.count) passed, 0 failed")
    #expect(run.status == 0)
  }

  private func expectPass(_ file: String, _ options: String...) throws {
    let run = try Driver.run(options + [Scenarios.path(file)])
    if let skipped = run.lines.first(where: { $0.hasPrefix("SKIP") }) {
      #expect(Scenarios.unsupported.contains { skipped.hasSuffix($0) }, "\(skipped)")
    } else {
      #expect(run.lines == ["1 passed, 0 failed"])
    }
    #expect(run.status == 0)
  }
}
