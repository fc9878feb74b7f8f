// `moonloop run --guest`: what is refused, with the grant that would allow it, and what is allowed.

import Foundation
import TestSupport
import Testing

@Suite struct GuestTests {
  private static let begin = """
    local ml = require "moonloop"
    local loop, net, fs, process = ml.current(), ml.net, ml.fs, ml.process
    local function try(f, ...)
      local done, value, message = pcall(f, ...)
      print(done and (value == nil and message or tostring(value)) or value)
    end

    """

  /// What a guest prints, line by line, in a folder with `data/notes`, `secret` and a link out.
  private func lines(_ script: String, allow grants: String...) throws -> [String] {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("guest-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let data = folder.appendingPathComponent("data")
    try FileManager.default.createDirectory(
      at: data.appendingPathComponent("inner"), withIntermediateDirectories: true)
    try "mine".write(to: data.appendingPathComponent("notes"), atomically: true, encoding: .utf8)
    try "theirs".write(
      to: folder.appendingPathComponent("secret"), atomically: true, encoding: .utf8)
    try FileManager.default.createSymbolicLink(
      atPath: data.appendingPathComponent("out").path, withDestinationPath: "..")
    let program = try Program(
      ["run", "--guest"] + grants.flatMap { ["--allow", $0] } + ["-e", Self.begin + script],
      in: folder)
    let outcome = try program.wait()
    #expect(outcome.status == 0, "\(outcome)")
    return outcome.output.split(separator: "\n").map(String.init)
  }

  @Test("the list of what a guest reaches is the one that is checked in")
  func list() throws {
    let outcome = try moonloop(["run", "--guest", "--list"])
    #expect(outcome.output == RepositoryFile(path: "Tests/Data/safe-reach.txt").text)
    let granted = try moonloop(["run", "--guest", "--allow", "process,net", "--list"])
    #expect(granted.output.contains("moonloop.process.spawn: function"))
  }

  @Test(
    "wrong grants are told with the nearest word",
    arguments: [
      (["--guest", "--allow", "tmers"], "--allow: unknown grant 'tmers'; did you mean 'timers'?"),
      (["--guest", "--allow", "zzz"], "--allow: unknown grant 'zzz'; there are timers, net, fs,"),
      (
        ["--guest", "--allow", "timers=1"], "--allow: the grant 'timers' cannot be narrowed by '=1'"
      ),
      (["--guest", "--allow", "net=a:b"], "--allow: 'net=a:b': must be HOST, HOST:PORT,"),
      (["--guest", "--allow", "net=a:9-8"], "--allow: 'net=a:9-8': must be HOST, HOST:PORT,"),
      (["--guest", "--allow", "net=80"], "the host may be *; did you mean 'net=*:80'?"),
      (["--guest", "--allow", "fs="], "--allow: 'fs=': the path is missing"),
      (["--guest", "--allow", "fs=read"], "--allow: 'fs=read': the path is missing"),
      (
        ["--guest", "--allow", "fs=red:/etc"],
        "--allow: 'fs=red:/etc': must be PATH, read:PATH or write:PATH"
      ),
      (["--guest", "--allow", "process="], "--allow: 'process=': the program is missing"),
      (["--guest", "--uv"], "--uv: is not available for guests"),
      (["--guest", "--break-on-error"], "--break-on-error: is not available for guests"),
      (["--guest", "--record", "tape"], "--record: is not available for guests"),
      (["--guest", "--handles", "0"], "--handles: must be a whole number >= 1, got '0'"),
      (["--allow", "net"], "--allow: requires --guest"), (["--list"], "--list: requires --guest"),
    ] as [([String], String)])
  func wrong(options: [String], message: String) throws {
    let outcome = try moonloop(["run"] + options + ["-e", ""])
    #expect(outcome.status == 2 && outcome.errors.contains(message), "\(outcome)")
  }

  @Test("a configuration is refused, instead of doing nothing", arguments: [[], ["--isolate"]])
  func configuration(options: [String]) throws {
    let text = "return { timers = { beat = { every = 1, handler = print } } }"
    try withFile(text, name: "svc.lua") { file in
      let outcome = try moonloop(["run", "--guest", "--allow", "timers"] + options + [file])
      #expect(outcome.status == 2)
      #expect(
        outcome.errors
          == "moonloop: '\(file)' is a configuration, which cannot be a guest; run it without "
          + "--guest, or make its items in a script\n", "\(outcome)")
    }
  }

  @Test("nothing is granted to begin with, and a refusal names its grant")
  func denied() throws {
    let outcome = try moonloop([
      "run", "--guest", "-e", "require('moonloop').current():after(1, print)",
    ])
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.contains(
        "loop:after: this guest may not use 'timers'; --allow timers would grant it"),
      "\(outcome)")
    #expect(try lines("print(io, arg, os.exit, os.getenv)") == ["nil\tnil\tnil\tnil"])
    #expect(
      try lines("loop:after(0.001, function() print 'beat' end)", allow: "timers") == ["beat"])
  }

  @Test("a refusal begins with the call as it is written")
  func named() throws {
    let refused = try lines(
      """
      local count = 0
      local function check(call, ...)
        local _, message = pcall(...)
        count = count + 1
        if not tostring(message):find(call .. ": this guest may not use ", 1, true) then
          print(call, message)
        end
      end
      for name in ("timer worker workers guest signal watch pressure fd stream break_here limit "
        .. "reload http"):gmatch "%g+" do check("ml." .. name, ml[name], {}) end
      for name in ("timer after every at cron perform_after next_timer signal watch pressure fd "
        .. "stream socket_source run stop_when_next_looking why dump metrics record")
        :gmatch "%g+" do
        check("loop:" .. name, loop[name], loop)
      end
      for name in ("net http fs process port tty reload"):gmatch "%g+" do
        check("ml." .. name .. ".any", function() return ml[name].any end)
      end
      print(count)
      """)
    #expect(refused == ["39"])
    let whole = try lines("print(select(2, pcall(ml.configure, {})))", allow: "timers,fs")
    #expect(whole[0].hasPrefix("ml.configure: only a script with all grants may use "), "\(whole)")
  }

  private func no(_ call: String, _ grant: String) -> String {
    "\(call): this guest may not do that; --allow \(grant) would grant it"
  }

  @Test("files are what was granted, whatever leads there")
  func files() throws {
    let read = """
      try(fs.read, "data/notes")
      try(fs.read, "secret")
      try(fs.read, "data/../secret")
      try(fs.read, "data/out/secret")
      try(fs.read, "data/inner/../../secret")
      try(fs.write, "data/new", "")
      try(fs.read, "data/none")
      """
    func refused(_ path: String, _ grant: String) -> String {
      no("ml.fs.\(grant): '\(path)'", "fs=\(grant):\(path)") + " (EACCES)"
    }
    func led(_ path: String, _ grant: String) -> String {
      refused(path, grant).replacingOccurrences(
        of: "may not do that;", with: "may not do that, as 'data/out' leads to '..';")
    }
    #expect(
      try lines(read, allow: "fs=read:data") == [
        "mine", refused("secret", "read"), refused("data/../secret", "read"),
        led("data/out/secret", "read"), refused("data/inner/../../secret", "read"),
        refused("data/new", "write"), "ml.fs.read: 'data/none': No such file or directory (ENOENT)",
      ])
    let links = "may not make links, or move links and folders; --allow fs would grant it (EACCES)"
    let write = """
      try(fs.write, "data/new", "1")
      try(fs.rename, "data/new", "data/newer")
      try(fs.open, "data/newer", "r+")
      try(fs.link, "..", "data/mine", { symbolic = true })
      try(fs.rename, "data/out", "data/inner/out")
      try(fs.rename, "data/inner", "data/outer")
      try(fs.write, "data/out/secret", "changed")
      """
    let found = try lines(write, allow: "fs=write:data", "fs=read:data")
    #expect(found[0...2] == ["true", "true", "file 'data/newer'"])
    #expect(found[3...5].allSatisfy { $0.hasSuffix(links) }, "\(found)")
    #expect(found[6] == led("data/out/secret", "write"))
    #expect(try lines("try(fs.read, 'data/out/secret')", allow: "fs") == ["theirs"])
  }

  @Test("a file cannot be made to stand for another descriptor")
  func descriptors() throws {
    let script = """
      local file = fs.open("data/notes")
      file._fd, file.fd = 0, 0
      print(file:read(10))
      print(pcall(require, "moonloop.fs.file"))
      try(setmetatable, { _fd = 0 }, getmetatable(file))
      """
    let found = try lines(script, allow: "fs=read:data")
    #expect(found[0] == "mine" && found[1].hasPrefix("false"), "\(found)")
    #expect(found.last!.contains("nil or table expected, got string"), "\(found)")
  }

  @Test("a child of a guest gets no descriptor of this process by its number")
  func numbers() throws {
    let script = """
      try(process.spawn, { "true", stdin = 5 })
      try(process.run, { "true", stdout = 5 })
      try(process.spawn, { "true", descriptors = { [3] = 5 } })
      local child = process.spawn { "true", stdin = 0, stdout = "pipe" }
      print(child:await().code)
      """
    let found = try lines(script, allow: "process")
    let expected = [
      no("ml.process.spawn", "fd"), no("ml.process.run", "fd"), no("ml.process.spawn", "fd"), "0",
    ]
    #expect(found.count == expected.count && zip(found, expected).allSatisfy { $0.hasPrefix($1) })
  }

  @Test("places in the network are what was granted")
  func network() throws {
    let script = """
      try(net.listen, { host = "127.0.0.1", port = 7999, print })
      try(net.connect, { host = "127.0.0.1", port = 8011 })
      try(net.connect, { host = "localhost", port = 8000 })
      try(net.connect, { path = "/run/x" })
      try(net.resolve, "example.com")
      try(net.udp, { port = 9 })
      local socket = net.udp {}
      try(socket.send, socket, "x", "127.0.0.2", 8000)
      try(socket.send, socket, "x", "127.0.0.1", 8010)
      socket:invalidate()
      """
    let found = try lines(script, allow: "net=127.0.0.1:8000-8010")
    let expected = [
      no("ml.net.listen", "net=127.0.0.1:7999"), no("ml.net.connect", "net=127.0.0.1:8011"),
      no("ml.net.connect", "net=localhost:8000"), no("ml.net.connect", "net=unix:/run/x"),
      no("ml.net.resolve", "net=example.com"), no("ml.net.udp", "net=0.0.0.0:9"),
      no("socket:send", "net=127.0.0.2:8000"), "true",
    ]
    #expect(found.count == expected.count && zip(found, expected).allSatisfy { $0.hasPrefix($1) })
  }

  @Test("programs are what was granted, with the environment of the host")
  func programs() throws {
    let script = """
      print(process.run({ "echo", "hello" }).stdout)
      try(process.run, { "ls" })
      try(process.spawn, { "./echo" })
      try(process.run, { "echo", env_add = { PATH = "data" } })
      try(process.spawn, { "echo", detached = true })
      try(process.spawn, { "echo", uid = 0 })
      try(process.kill, 1, 0)
      try(process.notify, "READY=1")
      try(process.run, { "./false", cwd = "/bin" })
      print(process.run({ "echo", "there", cwd = "/" }).stdout)
      """
    let found = try lines(script, allow: "process=echo", "process=./false")
    #expect(found.last == "there")
    #expect(found[0] == "hello")
    #expect(found[1].contains("--allow process=ls would grant it"))
    #expect(found[2].contains("--allow process=./echo would grant it"))
    for (line, what) in zip(
      found.dropFirst(3),
      [
        "set their environment", "detach them", "set their user", "signal others", "notify the",
        "run what another folder could have",
      ])
    {
      #expect(line.contains("with some programs may not \(what)"), "\(line)")
    }
  }

  @Test("a guest records nothing, and serves the files that it may read")
  func recordsAndServes() throws {
    let script = """
      local ml = require "moonloop"
      local loop = ml.current()
      try(loop.record, loop, "data/notes")
      local server = ml.http.serve { host = "127.0.0.1", port = 0, function(request)
        return { file = request.path:sub(2) }
      end }
      loop:task(function()
        for _, path in ipairs { "data/notes", "secret" } do
          print((ml.http.get("http://127.0.0.1:" .. server.port .. "/" .. path)).status)
        end
        server:invalidate()
      end)
      """
    let found = try lines(script, allow: "inspect,net,fs=read:data", "timers")
    #expect(found[0].contains("a guest cannot be recorded"), "\(found)")
    #expect(found.dropFirst() == ["200", "403"], "\(found)")
  }

  @Test(
    "require finds a guest's own modules, and neither others nor the script itself",
    arguments: [("own/main.lua", "own/"), ("own/app.lua", "own/app/")])
  func modules(script: String, modules: String) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("guest-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let own = folder.appendingPathComponent(modules)
    try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
    for (name, text) in [
      (
        script,
        "for _, name in ipairs { 'part', 'out', '..outer', '../outer', 'main', 'app', 'beside', "
          + "'bytes' } do print((select(2, pcall(require, name)))) end"
      ),
      (modules + "part.lua", "return 'a part'"), ("outer.lua", "return 'outer'"),
      (modules + "bytes.lua", "\u{1B}Lua"), (modules + "../beside.lua", "return 'beside'"),
    ] {
      try text.write(
        to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
    }
    try FileManager.default.createSymbolicLink(
      atPath: own.appendingPathComponent("out.lua").path,
      withDestinationPath: folder.appendingPathComponent("outer.lua").path)
    for isolate in [[], ["--isolate"]] {
      let outcome = try moonloop(
        ["run", "--guest"] + isolate + [folder.appendingPathComponent(script).path])
      let lines = outcome.output.split(separator: "\n").filter { !$0.hasPrefix("\t") }
      #expect(lines.first == "a part" && lines.count == 8, "\(outcome)")
      #expect(lines.dropFirst().dropLast().allSatisfy { $0.contains("not found") }, "\(outcome)")
      #expect(lines.last?.contains("attempt to load a binary chunk") ?? false, "\(outcome)")
    }
  }

  @Test("a guest has limits by default")
  func limits() throws {
    let memory = try moonloop([
      "run", "--guest", "-e", "local t = {} while true do t[#t + 1] = {} end",
    ])
    #expect(memory.status == 3 && memory.errors.contains("limit of"), "\(memory)")
    let handles = try moonloop([
      "run", "--guest", "--handles", "3", "-e",
      "local l = require 'moonloop'.current() for i = 1, 4 do l:source { print } end",
    ])
    #expect(handles.errors.contains("limit of 3 handles"), "\(handles)")
  }
}
