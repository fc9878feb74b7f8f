// ml.log with a reader that does not read: the loop goes on, and waiting records are written at the
// end, however it comes.

import Foundation
import Testing

@Suite("A log whose reader is slow")
struct LogTests {
  /// Starts a script whose standard error is not read until it has logged so many records of 1 kB,
  /// then makes it end, and returns what arrived.
  private func run(
    records: Int, ending: String, signal: String = "", backtrace: String = "no"
  ) throws -> Outcome {
    let script = """
      local ml = require "moonloop"
      local loop = ml.current()
      local log = ml.log { format = "journal" }
      local pad = ("x"):rep(1000)
      loop:task(function()
        for number = 1, \(records) do log:info("record", { number = number, pad = pad }) end
        ml.sleep(0.05)
        print("logged, dropped " .. (log.dropped > 0 and "some" or "none"))
        io.stdout:flush()
        \(ending)
      end)
      """
    let driver = """
      local ml = require "moonloop"
      local program, script = ...
      local child = assert(ml.process.spawn { program, "run", script, stdout = "pipe",
        stderr = "pipe", env_add = { SWIFT_BACKTRACE = "enable=\(backtrace)" } })
      print(child.stdout:read "l")
      \(signal.isEmpty ? "" : "ml.process.run { 'kill', '-\(signal)', tostring(child.pid) }")
      local numbers, last, notes = 0, 0, {}
      for line in child.stderr:lines() do
        local number = line:match "^<6>record number=(%d+) pad=x+$"
        if not number then
          notes[#notes + 1] = line
        elseif tonumber(number) > last then
          numbers, last = numbers + 1, tonumber(number)
        end
      end
      local ended = child:await()
      print(numbers, ended.signal or ended.code)
      for _, note in ipairs(notes) do print((note:gsub("%d%d%d+", "N"))) end
      """
    return try withFile(script, name: "logger.lua") { script in
      try withFile(driver) { try moonloop(["run", $0, Program.executable.path, script]) }
    }
  }

  @Test(arguments: [
    ("", "0"), ("os.exit(3)", "3"), ("os.exit(3, true)", "3"),
    ("while true do ml.sleep(1) end", "TERM"), ("while true do ml.sleep(1) end", "SEGV"),
    ("while true do ml.sleep(1) end", "ABRT"), ("while true do ml.sleep(1) end", "HUP"),
    ("while true do ml.sleep(1) end", "QUIT"),
  ])
  func `what waits is written at the end`(ending: String, how: String) throws {
    let isSignal = Int(how) == nil
    let outcome = try run(records: 500, ending: ending, signal: isSignal ? how : "")
    #expect(outcome.output.hasPrefix("logged, dropped none\n500\t"), "\(outcome)")
    let ended = how == "TERM" ? "143" : how.lowercased()
    #expect(outcome.output.lowercased().hasSuffix("\(ended)\n"), "\(outcome)")
  }

  @Test(
    .enabled(if: !Program.isSanitized, "a sanitizer's program is too large to look at"),
    arguments: ["segv", "abrt"])
  func `a fatal signal ends a program that a backtracer looks at, too`(signal: String) throws {
    let outcome = try run(
      records: 500, ending: "while true do ml.sleep(1) end", signal: signal, backtrace: "yes")
    let ended = "logged, dropped none\n500\t\(signal)\n"
    #expect(outcome.output.lowercased().hasPrefix(ended), "\(outcome)")
  }

  @Test func `what has no room is dropped and counted, and the loop goes on`() throws {
    let outcome = try run(
      records: 3000,
      ending: """
        log:flush()
        log:warn "after"
        """)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.first == "logged, dropped some")
    #expect(lines.dropFirst(2) == ["<4>records were dropped dropped=N", "<4>after"], "\(outcome)")
  }

  @Test func `a full disk is reported once, and flush says it`() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local log = require "moonloop".log { to = "/dev/full" }
      for number = 1, 3 do log:info "record" end
      print(log:flush())
      print(log.dropped)
      """,
    ])
    #expect(outcome.output == "nil\tNo space left on device\tENOSPC\n0\n", "\(outcome)")
    let report = "No space left on device; records are kept until there is room"
    #expect(
      outcome.errors == """
        moonloop: warning: log '/dev/full': \(report)
        moonloop: log '/dev/full': 3 records are lost: No space left on device

        """, "\(outcome)")
    #expect(outcome.status == 1)
  }

  // The file may have 2 KiB, which is a disk that is full from there on.
  @Test(
    "records that a full disk still keeps out at the end are lost, and the status says so",
    arguments: [
      ("", 1), ("os.exit(0)", 1), ("os.exit(0, true)", 1), ("os.exit(7)", 7), ("log:close()", 1),
    ])
  func loses(ending: String, status: Int) throws {
    try inFolder { folder in
      let script = """
        local log = require "moonloop".log { to = "log", format = "text" }
        for number = 1, 100 do log:info("record", { pad = ("x"):rep(85) }) end
        \(ending)
        """
      try script.write(
        to: folder.appendingPathComponent("logger.lua"), atomically: true, encoding: .utf8)
      let program = Program.executable.path
      let command = "trap \"\" XFSZ; ulimit -f 4; exec \(program) run logger.lua"
      let outcome = try moonloop(
        ["run", "-e", "print(select(3, os.execute('\(command)')))"], in: folder)
      #expect(outcome.output == "\(status)\n", "\(outcome)")
      let lost = /moonloop: log '\/.*\/log': \d\d records are lost: File too large\n/
      #expect(outcome.errors.contains(lost), "\(outcome)")
      #expect(outcome.errors.split(separator: "\n").count <= 2, "\(outcome)")
    }
  }

  @Test func `a reader that has gone is reported once, and nothing is kept for it`() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local folder <close> = setmetatable({ path = assert(ml.fs.temporary_folder()) },
        { __close = function(self) ml.fs.remove(self.path, { recursive = true }) end })
      local path = folder.path .. "/pipe"
      assert(ml.process.run { "mkfifo", path })
      local reader = assert(ml.process.spawn { "head", "-c1", path, stdout = "null" })
      local log
      repeat log = ml.log { to = path } until log
      log:info "taken"
      reader:await()
      for number = 1, 2 do log:info "record" end
      print(log.dropped, select(3, log:flush()))
      """,
    ])
    #expect(outcome.output == "2\tEPIPE\n", "\(outcome)")
    #expect(
      outcome.errors.hasSuffix("/pipe': Broken pipe; records are dropped from now on\n"),
      "\(outcome)")
  }

  @Test func `a record of JSON that is too long is cut, and stays one`() throws {
    let outcome = try moonloop([
      "run", "-e",
      """
      local ml = require "moonloop"
      local log = ml.log { format = "json", to = function(line)
        local record = ml.json.decode(line)
        print(#line <= 65536, utf8.len(line) ~= nil, record.level, #record.message)
      end }
      log:info("m", { a = ("ä"):rep(1e5) })
      log:info(("ä"):rep(1e5))
      local fields = {}
      for number = 1, 100 do fields["field" .. number] = ("x"):rep(2000) end
      log:info("m", fields)
      """,
    ])
    let expected = "true\ttrue\tinfo\t"
    #expect(outcome.output == "\(expected)1\n\(expected)1003\n\(expected)1\n", "\(outcome)")
  }
}
