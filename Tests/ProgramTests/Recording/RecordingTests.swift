// `moonloop run --record` and `moonloop replay`: the same output again, without the world.

import Foundation
import Testing

@Suite struct RecordingTests {
  /// Runs a program and records it; the recording is replayed without its peers, input and files.
  private func recorded(
    _ arguments: [String], input: String? = "", in folder: URL,
    meanwhile: (Program) throws -> Void = { _ in }
  ) throws -> (first: Outcome, again: Outcome, recording: URL) {
    let recording = folder.appendingPathComponent("recording.mlt")
    let program = try Program(
      ["run", "--record", recording.path] + arguments, input: input, in: folder)
    try meanwhile(program)
    let first = try program.wait()
    let again = try moonloop(["replay", recording.path], in: URL(fileURLWithPath: "/"))
    return (first, again, recording)
  }

  private func expectSame(_ pair: (first: Outcome, again: Outcome, recording: URL)) {
    #expect(pair.again.output == pair.first.output)
    #expect(pair.again.errors == pair.first.errors)
    #expect(pair.again.status == pair.first.status)
    #expect(pair.first.isOurs, "\(pair.first)")
    #expect(!pair.first.output.isEmpty || !pair.first.errors.isEmpty)
  }

  private static let scripts: [(what: String, status: Int32, text: String)] = [
    (
      "timers, the clocks and standard input", 0,
      """
      local ml = require "moonloop"
      local loop = ml.current()
      local count = 0
      loop:every(0.01, function(timer, missed)
        count = count + 1
        print(count, missed, ml.now(), ml.wall_time(), timer.next_fire)
        if count == 4 then timer:invalidate() end
      end)
      loop:fd { fd = 0, read = function(fd)
        local text = fd:read(4096)
        print("input", text)
        if not text then fd:invalidate() end
      end }
      """
    ),
    (
      "logs to files, which a replay does not open", 0,
      """
      local ml = require "moonloop"
      os.execute "mkdir logs"
      local log = ml.log { to = "logs/app.log" }
      log:info "first"
      print(log:flush(), log.dropped, ml.log { to = "nowhere/app.log" })
      for line in io.lines "logs/app.log" do print(line) end
      """
    ),
    (
      "the libraries of Lua", 0,
      """
      print({}, function() end, coroutine.create(print))
      local names, objects = {}, {}
      for i = 1, 30 do names["k" .. i] = i objects[{}] = i end
      for name in pairs(names) do io.write(name, " ") end
      for _, i in pairs(objects) do io.write(i, " ") end
      print(math.random(), math.random(1000), math.randomseed())
      print(math.random(), os.time(), os.clock(), os.date(), os.date("*t").sec, os.getenv "HOME")
      local temporary = os.tmpname()
      print(temporary, os.remove(temporary), pcall(os.date, "%Ez"))
      print(pcall(function() os.time {} end))
      print(io.open "/nowhere")
      local file = assert(io.open("module.lua"))
      print(file:read "n", file:read "l", file:seek "cur", file:read "a", file:close())
      for line in io.lines "module.lua" do print(line) end
      for line in assert(io.open "module.lua"):lines "L" do io.write(line) end
      local pipe = io.popen "echo hi; exit 3"
      print(pipe:read "a", pipe:close())
      print(os.execute "exit 4")
      print(io.read "l", io.read "n", io.read "a")
      print(require "module", loadfile("module.lua")(), dofile "module.lua", pcall(require, "none"))
      assert(io.open("written", "w")):write("text"):close()
      io.stderr:write "to stderr\\n"
      """
    ),
    (
      "processes: their output, their exit and their numbers", 0,
      """
      local ml = require "moonloop"
      local child <close> = assert(ml.process.spawn {
        "sh", "-c", "cat; echo out; echo err >&2; exit 3", stdin = "pipe", stdout = "pipe",
        stderr = "pipe" })
      child.stdin:write "given\\n"
      child.stdin:close()
      print(child.stdout:read "a", child.stderr:read "a")
      local status = child:await()
      print(status.code, status.signal, child.pid)
      print(ml.process.spawn { "/nowhere/at-all" })
      print(ml.process.run { "sh", "-c", "kill -9 $$" }.signal)
      """
    ),
    (
      "signals, watched files and names", 0,
      """
      local ml = require "moonloop"
      local loop = ml.current()
      loop:signal("usr1", function(source, signal) print("usr1", signal and signal.pid) end)
      local folder = assert(arg[1])
      local watch = loop:watch { folder, function(watch, changes)
        for _, change in ipairs(changes) do print(change.kind, change.path) end
        loop:stop()
      end }
      loop:task(function()
        print(table.concat(assert(ml.net.resolve "localhost"), " "))
        print(ml.net.resolve "no.such.name.invalid")
        ml.process.run { "sh", "-c", "kill -USR1 $PPID" }
        ml.sleep(0.05)
        assert(io.open(folder .. "/new", "w")):close()
      end)
      """
    ),
    (
      "sockets: a server and its client", 0,
      """
      local ml = require "moonloop"
      local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream, peer)
        for line in stream:lines() do stream:write(line:upper(), "\\n") end
      end })
      local client <close> = assert(ml.net.connect { host = "localhost", port = server.port })
      print(server.port)
      for i = 1, 20 do client:write("line ", i, "\\n") print(client:read "l") end
      client:write(("x"):rep(300000), "\\n")
      print(#client:read "l")
      print(ml.net.connect { host = "127.0.0.1", port = 1, timeout = 1 })
      server:invalidate()
      """
    ),
    (
      "reloads: one that comes, one that fails", 0,
      """
      local ml = require "moonloop"
      local state = ml.reload.state "main"
      state.count = (state.count or 0) + 1
      print("generation", state.count, require "module")
      local texts = { "return 'of the second'", "return return" }
      ml.current():timer { every = 0.005, name = "beat", function(timer)
        print("beat", state.count, timer.fires)
        local text = texts[timer.fires]
        if not text then return timer:invalidate() end
        local file <close> = assert(io.open("module.lua", "w"))
        file:write(text)
        file:close()
        print(select(2, ml.reload()))
      end }
      """
    ),
    (
      "errors", 1,
      """
      local loop = require("moonloop").current()
      loop:after(0.001, function() error "in a timer" end)
      loop:after(0.002, function() print "still there" end)
      """
    ),
    (
      "os.exit", 7, "print 'x' require('moonloop').current():after(0.01, function() os.exit(7) end)"
    ),
    (
      "files", 0,
      """
      local ml = require "moonloop"
      local fs = ml.fs
      local folder = assert(fs.temporary_folder())
      local path = folder .. "/a"
      fs.write(path, "text")
      local file <close> = assert(fs.open(path))
      print(folder, fs.read(path), fs.stat(path).inode, fs.stat(path).modified, file:read(2))
      for _, entry in ipairs(fs.list(folder)) do print(entry.name, entry.kind) end
      fs.replace((...) .. "/written", "by a file call")
      print(fs.remove(folder, { recursive = true }), fs.read(path))
      print(fs.read(path, { timeout = 0 }))
      """
    ),
    (
      "a virtual clock", 0,
      """
      local ml = require "moonloop"
      ml.current():every(3600, function(timer)
        print(ml.now(), os.time())
        if ml.now() > 0 and timer.fires == 3 then timer:invalidate() end
      end):again(1)
      ml.sleep(10)
      print(ml.now(), ml.wall_time())
      ml.current():stop()
      """
    ),
  ]

  @Test("a replay prints the same bytes and ends the same", arguments: scripts.indices)
  func same(_ index: Int) throws {
    let (what, status, text) = Self.scripts[index]
    try inFolder { folder in
      let script = folder.appendingPathComponent("script.lua")
      try text.write(to: script, atomically: true, encoding: .utf8)
      try "return 12 + 30 -- a module\n".write(
        to: folder.appendingPathComponent("module.lua"), atomically: true, encoding: .utf8)
      let options = what == "a virtual clock" ? ["--clock", "virtual"] : []
      let pair = try recorded(
        options + ["script.lua", folder.path], input: "one\n2 three\nfour", in: folder)
      #expect(pair.first.status == status, "\(what): \(pair.first)")
      expectSame(pair)
      // The recording contains the script itself.
      try FileManager.default.removeItem(at: script)
      try? FileManager.default.removeItem(at: folder.appendingPathComponent("written"))
      let later = try moonloop(["replay", pair.recording.path], in: folder)
      #expect(later.output == pair.first.output)
      let written = folder.appendingPathComponent("written").path
      #expect(!FileManager.default.fileExists(atPath: written), "a replay wrote a file")
    }
  }

  @Test("a script records itself from its beginning, to its end or to where it says")
  func byScript() throws {
    let text = """
      print "first"
      local ml = require "moonloop"
      local loop = ml.current()
      local recording = assert(loop:record(arg[1]))
      print(recording, recording:is_valid(), {}, ml.now())
      print(loop:record "/nowhere")
      local count = 0
      loop:every(0.01, function(timer)
        count = count + 1
        print(count, ml.now())
        if count == 2 and arg[2] then recording:invalidate() print(recording) end
        if count == 3 then timer:invalidate() end
      end)
      """
    try withFile(text) { path in
      let first = try moonloop(["run", path, path + ".mlt"])
      let again = try moonloop(["replay", path + ".mlt"])
      #expect(first.status == 0 && again.status == 0, "\(first)\n\(again)")
      #expect(first.output == again.output && again.errors.isEmpty, "\(again)")
      #expect(
        first.output.contains("nil\tloop:record: the program is already being recorded\tEALREADY"))
      let part = try moonloop(["run", path, path + ".mlt", "end"])
      let played = try moonloop(["replay", path + ".mlt"])
      #expect(part.output.contains("recording (ended)\n3\t"), "\(part)")
      #expect(played.status == 0 && part.output.hasPrefix(played.output), "\(played)")
      #expect(played.output.split(separator: "\n").last?.hasPrefix("2\t") == true, "\(played)")
      #expect(played.errors.contains("the script ended its recording here"))
      let bare = try moonloop(
        ["run", "-e", "local l = require'moonloop'.current() print(l['record'](l, 'x'))"])
      #expect(bare.output.hasSuffix("ENOTSUP\n"), "\(bare)")
    }
  }

  @Test("looking on while a recording plays changes nothing")
  func lookingOn() throws {
    try inFolder { folder in
      let example = Program.examples.appendingPathComponent("heartbeat.lua").path
      let pair = try recorded([example, "3", "0.01"], in: folder)
      let file = folder.appendingPathComponent("trace.json")
      let run = try moonloop(
        ["replay", "--trace", "--trace-out", file.path, pair.recording.path])
      #expect(run.output == pair.first.output && run.status == 0, "\(run)")
      #expect(run.errors.contains("timer 'heartbeat'"))
      let trace = try TraceCheck(Data(contentsOf: file))
      #expect(trace.problems == [])
      #expect(trace.slices["timer"]?["heartbeat"] == 3)
      #expect(trace.slept > 1000 && trace.slept < 1_000_000_000, "\(trace.slept)")
    }
  }

  @Test("examples replay when their peers are gone")
  func examples() throws {
    let examples = Program.examples
    func path(_ name: String) -> String { examples.appendingPathComponent(name).path }
    try inFolder { folder in
      expectSame(
        try recorded([path("lines.lua")], input: "one\ntwo\nthree", in: folder))
      expectSame(try recorded([path("heartbeat.lua"), "3", "0.01"], in: folder))
      expectSame(try recorded([path("ask.lua")], input: "Ada\n", in: folder))
      let text = (0..<5000).map { "\($0 % 70)\n" }.joined()
      let file = folder.appendingPathComponent("numbers")
      try text.write(to: file, atomically: true, encoding: .utf8)
      expectSame(try recorded([path("pipeline.lua"), file.path], in: folder))
    }
  }

  @Test("a server replays its clients, and the signal that ended it")
  func server() throws {
    let client = """
      local ml = require "moonloop"
      local stream <close> = assert(ml.net.connect { host = "127.0.0.1", port = tonumber(arg[1]) })
      for i = 1, 20 do stream:write("hello ", i, "\\n") assert(stream:read "l") end
      """
    try inFolder { folder in
      let path = folder.appendingPathComponent("client.lua").path
      try client.write(toFile: path, atomically: true, encoding: .utf8)
      let example = Program.examples.appendingPathComponent("echo_server.lua").path
      let pair = try recorded([example], input: nil, in: folder) { program in
        try program.waitFor("\n")
        let port = String(program.output.drop { !$0.isNumber }.prefix { $0.isNumber })
        for _ in 0..<3 {
          let one = try moonloop(["run", path, port])
          #expect(one.status == 0, "\(one)")
        }
        try program.closeInput()
      }
      #expect(pair.first.output.contains("connections: 3, messages: 60"), "\(pair.first)")
      expectSame(pair)
      let ended = try recorded([example], input: nil, in: folder) { program in
        try program.waitFor("\n")
        program.send(SIGTERM)
      }
      #expect(ended.first.status == 143)
      expectSame(ended)
    }
  }

  @Test("tail replays how its file grew")
  func tail() throws {
    try inFolder { folder in
      let file = folder.appendingPathComponent("log")
      try "first\n".write(to: file, atomically: false, encoding: .utf8)
      let example = Program.examples.appendingPathComponent("tail.lua").path
      let pair = try recorded([example, file.path], input: nil, in: folder) { program in
        let log = try FileHandle(forWritingTo: file)
        try log.seekToEnd()
        for line in ["second", "third"] {
          try log.write(contentsOf: Data((line + "\n").utf8))
          try program.waitFor(line + "\n")
        }
        program.send(SIGINT)
      }
      #expect(pair.first.output.hasSuffix("third\n"))
      expectSame(pair)
    }
  }

  @Test("a replay is silent when its reader has seen enough")
  func endsSilently() throws {
    let script = """
      local text, count = ("x"):rep(70000), 0
      require("moonloop").current():every(0.001, function(timer)
        print(text)
        count = count + 1
        if count == 20 then timer:invalidate() end
      end)
      """
    try withFile(script) { file in
      try inFolder { folder in
        let recording = try recorded([file], in: folder).recording.path
        let command = "\"$0\" replay '\(recording)' | head -c 1"
        let outcome = try Program(["-c", command, Program.executable.path], of: "/bin/sh").wait()
        #expect(outcome.errors == "" && outcome.output == "x", "\(outcome)")
      }
    }
  }
}

/// A folder, while a body runs.
func inFolder(_ body: (URL) throws -> Void) throws {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("moonloop-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try body(folder)
}
