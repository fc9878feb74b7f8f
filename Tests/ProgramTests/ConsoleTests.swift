// Consoles of programs that run: who is listed, and what they answer.

import Foundation
import Testing

@Suite("Consoles")
struct ConsoleTests {
  @Test("a program that runs is listed by name, number and file")
  func listed() throws {
    let script = "require 'moonloop'.current():every(60, print) print 'ready' io.stdout:flush()"
    try withFile(script, name: "listed_program.lua") { file in
      let program = try Program(["run", "--timeout", "100", file])
      try program.waitFor("ready")
      let list = try moonloop(["ps"])
      let row = list.output.split(separator: "\n").first { $0.contains(" \(program.pid) ") }
      let words = row?.split(separator: " ") ?? []
      #expect(words.first == "listed_program")
      #expect(words.last == file[...])
      let other = try moonloop(["ps", "--json"])
      #expect(
        other.output.contains("\"name\":\"listed_program\",\"pid\":\(program.pid),\"since\":"))
      program.send(SIGTERM)
      #expect(try program.wait().status == 128 + SIGTERM)
    }
  }
}
