// Recordings that are damaged, cut, foreign or of another script: each is reported.

import Foundation
import Testing

@Suite struct RecordingFaultTests {
  private let script = """
    local ml = require "moonloop"
    local loop = ml.current()
    local count = 0
    loop:every(0.001, function(timer)
      count = count + 1
      print(count)
      if count == 3 then timer:invalidate() end
    end)
    """

  private func withRecording(_ body: (URL, Data) throws -> Void) throws {
    try inFolder { folder in
      let path = folder.appendingPathComponent("script.lua").path
      try script.write(toFile: path, atomically: true, encoding: .utf8)
      let recording = folder.appendingPathComponent("recording.mlt")
      let run = try moonloop(["run", "--record", recording.path, path])
      #expect(run.output == "1\n2\n3\n" && run.status == 0, "\(run)")
      try body(folder, Data(contentsOf: recording))
    }
  }

  private func replay(_ data: Data, in folder: URL) throws -> Outcome {
    let path = folder.appendingPathComponent("changed.mlt")
    try data.write(to: path)
    let run = try moonloop(["replay", path.path])
    #expect(run.isOurs, "\(run)")
    return run
  }

  @Test("a recording that is cut says after which event and byte")
  func truncated() throws {
    try withRecording { folder, data in
      for count in [0, 5, 15, 16, 30, 60, data.count / 2, data.count - 26, data.count - 1] {
        let run = try replay(data.prefix(count), in: folder)
        #expect(run.status == 1, "\(count): \(run)")
        #expect(run.output.isEmpty || count >= data.count - 26, "\(count): \(run)")
        switch count {
        case 0: #expect(run.errors.contains("is not a moonloop recording"), "\(run)")
        case 16, data.count - 26: break  // only a header; see `killed`
        default:
          #expect(run.errors.contains("is truncated after event "), "\(count): \(run)")
          #expect(run.errors.contains("at byte "), "\(count): \(run)")
        }
      }
    }
  }

  /// Recordings changed at random, or so that a buffer overflows, with corrected checksums.
  static let madeUp: [URL] =
    (try? FileManager.default.contentsOfDirectory(
      at: Program.root.appendingPathComponent("Tests/Recordings"), includingPropertiesForKeys: nil))
    ?? []

  @Test("a made-up recording is reported as one", arguments: madeUp)
  func tellsMadeUp(_ path: URL) throws {
    let run = try moonloop(["replay", path.path])
    #expect(!run.wasKilled && run.isOurs && run.status == 1, "\(path.lastPathComponent): \(run)")
    // The script may go another way before it comes to the change: when garbage is collected
    // depends on how much memory the state takes.
    #expect(
      run.errors.contains("the recording was not written by moonloop")
        || run.errors.contains("; the recording has "),
      "\(path.lastPathComponent): \(run)")
  }

  @Test("there are made-up recordings")
  func haveMadeUp() { #expect(Self.madeUp.count > 2) }

  // ThreadSanitizer maps its own files, which the limit would cut as well.
  @Test(
    "a recording that cannot be written ends with a status that says so",
    .disabled(if: Program.holdsSignals))
  func fullDisk() throws {
    try inFolder { folder in
      // The signal for too large a file is ignored, so writing fails, as on a full disk.
      let text = """
        local ml = require "moonloop"
        local program, folder, ending = ...
        ml.current():task(function()
          local script = "local ml = require 'moonloop' local n = 0 "
            .. "ml.current():every(0.0001, function(t) n = n + 1 "
            .. "if n == 3000 then t:invalidate() " .. ending .. " end end)"
          local run = ml.process.run { "sh", "-c",
            [[trap '' XFSZ; ulimit -f 16; exec env -i "$0" run --record "$1/full.mlt" -e "$2"]],
            program, folder, script }
          print(run.code, run.stderr)
        end)
        """
      for ending in ["", "os.exit(0)", "os.exit(true, true)"] {
        let run = try moonloop([
          "run", "-e", text, Program.executable.path, folder.path, ending,
        ])
        #expect(
          run.output
            == "1\tmoonloop: --record: the recording is incomplete: File too large\n\n",
          "\(ending): \(run)")
      }
    }
  }

  // No file may have a byte here, as on a full disk.
  @Test("a recording that cannot begin leaves the older one as it was")
  func keepsOlder() throws {
    try inFolder { folder in
      let older = folder.appendingPathComponent("run.mlt")
      try "older".write(to: older, atomically: true, encoding: .utf8)
      let script = "print((select(2, require 'moonloop'.current():record 'run.mlt')))"
      try script.write(
        to: folder.appendingPathComponent("self.lua"), atomically: true, encoding: .utf8)
      let text = """
        local ml = require "moonloop"
        local run = ml.process.run { "sh", "-c", "trap '' XFSZ; ulimit -f 0; exec " .. ... }
        print(run.stdout .. run.stderr .. run.code)
        """
      for (arguments, output) in [
        (
          "--record run.mlt -e 'print(1)'",
          "moonloop: --record: cannot write 'run.mlt': File too large\n2\n"
        ), ("self.lua", "loop:record: cannot write 'run.mlt': File too large\n0\n"),
      ] {
        let run = try moonloop(
          ["run", "-e", text, "\(Program.executable.path) run \(arguments)"], in: folder)
        #expect(run.output == output, "\(run)")
        #expect(try String(contentsOf: older, encoding: .utf8) == "older")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.sorted() == ["run.mlt", "self.lua"])
      }
    }
  }

  @Test("only a whole recording replaces an older one", arguments: [4000, 1])
  func replacesOlder(_ fires: Int) throws {
    try inFolder { folder in
      let older = folder.appendingPathComponent("run.mlt")
      try "older".write(to: older, atomically: true, encoding: .utf8)
      let text = """
        local ml = require "moonloop"
        local run = ml.process.run { "sh", "-c",
          [[trap '' XFSZ; ulimit -f 16; exec env -i "$@"]], "sh", ... }
        print(run.stderr .. run.code)
        """
      let script =
        "local n = 0 local ml = require 'moonloop' ml.current():every(0.0001, function(t) "
        + "n = n + 1 if n == \(fires) then t:invalidate() end end)"
      let run = try moonloop(
        [
          "run", "-e", text, Program.executable.path, "run", "--record", "run.mlt", "-e", script,
        ], in: folder)
      let isWhole = fires == 1
      #expect(run.output.hasSuffix(isWhole ? "0\n" : "1\n"), "\(run)")
      let now = try Data(contentsOf: older)
      #expect((now == Data("older".utf8)) != isWhole)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["run.mlt"])
    }
  }

  @Test("a script can record elsewhere after a failure, and a replay has the failure, too")
  func triesAgain() throws {
    try inFolder { folder in
      let path = folder.appendingPathComponent("run.mlt").path
      let script = """
        local loop = require "moonloop".current()
        print(loop:record "/nowhere/run.mlt")
        print(loop:record "/dev/full")
        print(loop:record "\(path)")
        """
      let text = """
        nil\tloop:record: cannot write '/nowhere/run.mlt': No such file or directory\tENOENT
        nil\tloop:record: cannot write '/dev/full': No space left on device\tENOSPC
        recording

        """
      for arguments in [["run", "-e", script], ["replay", path]] {
        let run = try moonloop(arguments, in: folder)
        #expect(run.output == text && run.errors == "" && run.status == 0, "\(run)")
      }
    }
  }

  @Test("a recording with a changed byte is refused")
  func damaged() throws {
    try withRecording { folder, data in
      for place in stride(from: 0, to: data.count, by: max(1, data.count / 24)) {
        var changed = data
        changed[place] ^= 0x10
        let run = try replay(changed, in: folder)
        #expect(run.status == 1 && run.output.isEmpty, "\(place): \(run)")
        let words = ["is damaged", "is not a moonloop recording", "has version", "is truncated"]
        #expect(words.contains { run.errors.contains($0) }, "\(place): \(run)")
      }
      let other = try replay(Data("#!/usr/bin/lua\nprint 1\n".utf8), in: folder)
      #expect(other.errors.contains("is not a moonloop recording"))
    }
    let none = try moonloop(["replay", "/nowhere.mlt"])
    #expect(none.status == 2 && none.errors.contains("/nowhere.mlt"), "\(none)")
  }

  @Test("another script is reported, with where it differs")
  func diverges() throws {
    try withRecording { folder, _ in
      let recording = folder.appendingPathComponent("recording.mlt").path
      func with(_ text: String) throws -> Outcome {
        let path = folder.appendingPathComponent("other.lua").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return try moonloop(["replay", "--script", path, recording])
      }
      let same = try with(script)
      #expect(same.status == 0 && same.errors.isEmpty && same.output == "1\n2\n3\n", "\(same)")
      let other = try with(script.replacingOccurrences(of: "print(count)", with: "print(-count)"))
      #expect(other.output == "-1\n-2\n-3\n" && other.status == 0, "\(other)")
      #expect(other.errors.contains("other.lua' differs from the recorded script"))
      let more = try with(script + "print(require('moonloop').net.listen { port = 0 })")
      #expect(more.status == 1 && more.isOurs)
      #expect(
        more.errors.contains { $0.isNumber }
          && more.errors.contains("the script asked for socket;"),
        "\(more)")
      let longer = try with(script.replacingOccurrences(of: "== 3", with: "== 4"))
      #expect(longer.status == 1 && longer.output == "1\n2\n3\n", "\(longer)")
      #expect(longer.errors.contains("moonloop: replay: event "), "\(longer)")
    }
  }

  @Test("a program without dates, which reads no clock, loses no more when it is killed")
  func killedWithoutDates() throws {
    let text = """
      local ml = require "moonloop"
      local worker = assert(ml.worker { source = [[
        local ml = require "moonloop"
        ml.current():every(0.001, function() ml.parent:send "x" end)
      ]] })
      local count = 0
      worker.port:on("message", function()
        count = count + 1
        print(count)
        if count == 300 then print "ready" io.stdout:flush() end
      end)
      """
    try withFile(text) { path in
      let program = try Program(["run", "--record", path + ".mlt", path])
      try program.waitFor("ready")
      program.send(SIGKILL)
      _ = try program.wait()
      let run = try moonloop(["replay", path + ".mlt"])
      #expect(run.output.contains("\n100\n"), "\(run)")
    }
  }

  @Test("a killed program's recording plays as far as it goes")
  func killed() throws {
    let text = """
      local loop = require("moonloop").current()
      local count = 0
      loop:every(0.0005, function() count = count + 1 print(count) end)
      loop:after(1.2, function() print "ready" io.stdout:flush() end)
      """
    try withFile(text) { path in
      let program = try Program(["run", "--record", path + ".mlt", path])
      try program.waitFor("ready")
      program.send(SIGKILL)
      _ = try program.wait()
      let run = try moonloop(["replay", path + ".mlt"])
      #expect(run.status == 1 && run.isOurs, "\(run.errors)")
      #expect(run.output.hasPrefix("1\n2\n3\n"))
      #expect(run.errors.contains("the recording ends here (its program was killed there)"))
    }
  }

  @Test("a place that cannot be written is reported before the start")
  func refused() throws {
    let none = try moonloop(["run", "--record", "/nowhere/x.mlt", "-e", "print 'ran'"])
    #expect(none.status == 2 && none.output.isEmpty)
    #expect(none.errors.contains("--record: cannot write '/nowhere/x.mlt'"))
    let full = try moonloop(["run", "--record", "/dev/full", "-e", "print 'ran'"])
    #expect(full.status == 2 && full.output.isEmpty, "\(full)")
    #expect(
      full.errors == "moonloop: --record: cannot write '/dev/full': No space left on device\n")
  }
}
