// Names that cannot be looked up because the process has no descriptors left.

import Foundation
import Testing

@Suite("Names") struct NameLookupTests {
  @Test("without a free descriptor a lookup says so")
  func noDescriptor() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local lookup = [[
        local ml = require "moonloop"
        ml.current():task(function()
          local held, file = {}
          repeat
            file = io.open "/dev/null"
            held[#held + 1] = file
          until not file
          print(ml.net.resolve "localhost")
        end)]]
      ml.current():task(function()
        local run = ml.process.run {
          "sh", "-c", [[ulimit -n 64; exec "$0" run -e "$1"]], ..., lookup,
        }
        print(run.stdout, run.stderr)
      end)
      """.replacingOccurrences(of: "...,", with: "'\(Program.executable.path)',"),
    ])
    #expect(
      outcome.output == "nil\tml.net.resolve: 'localhost': Too many open files\tEMFILE\n\t\n",
      "\(outcome)")
  }
}
