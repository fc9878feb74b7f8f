// A simulation that takes a while reports its progress at a terminal, and nowhere else.

import Foundation
import Testing

@Suite("Progress of a simulation")
struct ProgressTests {
  private static let text = "return { timers = { fast = { every = 0.001, handler = print } } }"

  @Test func `is shown at a terminal, and Ctrl-C ends it`() throws {
    try withFile(Self.text) { path in
      let session = try TerminalSession(["simulate", "--no-handlers", "--for", "1000h", path])
      try session.waitFor("simulated 0 %, ")
      session.type("\u{3}")
      #expect(try session.wait() == 130)
    }
  }

  @Test func `is not in a file`() throws {
    try withFile(Self.text) { path in
      let outcome = try moonloop(["simulate", "--no-handlers", "--for", "10m", path])
      #expect(outcome.errors == "")
    }
  }
}
