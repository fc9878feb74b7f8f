// Runs run-loop scenarios against this package: one as a line of JSON, or many with a report.

import ConformanceFormat
import Glibc

do {
  guard var options = try Options.parse(CommandLine.arguments.dropFirst()) else {
    print(Options.usage, terminator: "")
    exit(0)
  }
  if options.face == .cf, let path = options.json ?? options.batch {
    // Core Foundation needs a program of its own.
    try Child.becomeReference([
      options.json == nil ? "--batch" : "--json", path, "--jobs", "\(options.jobs)",
    ])
  }
  if let path = options.json {
    Driver.run([try Scenario.read(file: path)], options)
  }
  if let path = options.batch {
    Driver.run(try Scenario.readLines(file: path), options)
  }
  if let count = options.fuzz, options.isCensus {
    Census.ofCases(count, seed: options.seed).report()
    exit(0)
  }
  if let count = options.fuzz {
    let targets =
      options.isRestricted
      ? [FuzzTarget(face: options.face, kernel: options.kernel)] : FuzzTarget.all
    var fuzz = Fuzz(count: count, options, targets)
    exit(try fuzz.run())
  }
  if options.files.isEmpty { options.files = [options.suite] }
  exit(Suite(options).run())
} catch {
  fail(error.message)
}
