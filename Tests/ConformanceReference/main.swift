// Runs scenarios on the live CFRunLoop of the toolchain and prints their lines, as the driver does.
// It alone links Foundation, and nothing of the product.

import ConformanceFormat

var files: [String] = []
var isBatch = false
var jobs = 64
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
  switch argument {
  // There is only one face and one kernel here.
  case "--face", "--kernel": _ = arguments.popFirst()
  case "--json": break
  case "--batch": isBatch = true
  case "--jobs":
    guard let text = arguments.popFirst(), let count = Int(text), count > 0 else {
      fail("--jobs needs a number")
    }
    jobs = count
  default: files.append(argument)
  }
}
guard files.count == 1 else { fail("usage: ConformanceReference --json FILE | --batch FILE") }
do {
  let scenarios =
    isBatch
    ? try Scenario.readLines(file: files[0]) : [try Scenario.read(file: files[0])]
  let scale = timeScale()
  // Where many scenarios run, one that hangs is not worth a long wait.
  let limit = isBatch ? 4_000_000_000 : Scenario.limit
  Batch.run(scenarios, jobs: jobs, limit: UInt64(limit * scale)) { job in
    if !Reference.knows(job.scenario) { return job.refuse() }
    let reference = Reference(job, scale: scale)
    // Never released: a loop that hangs may still call its objects.
    _ = Unmanaged.passRetained(reference)
    reference.performAsHome()
    job.finish()
  }
} catch {
  fail(error.message)
}
