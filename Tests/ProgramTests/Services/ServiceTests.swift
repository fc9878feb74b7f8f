// The program as a service: what it sends to the manager, the sockets it is passed, and what goes
// to the journal.

import Foundation
import Glibc
import Testing

/// A socket with an abstract name.
private struct Place {
  let name = "moonloop-\(UUID().uuidString)"
  let fd: Int32

  init(_ type: __socket_type) throws {
    fd = socket(AF_UNIX, Int32(type.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0[1...].copyBytes(from: name.utf8) }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(fd, $0, size) }
    }
    try #require(bound == 0)
  }
}

/// The manager's end of the notification socket.
private final class Manager {
  let place: Place

  init() throws {
    place = try Place(SOCK_DGRAM)
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(place.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(place.fd) }

  /// The next notification.
  func note() throws -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(place.fd, &bytes, bytes.count, 0)
    try #require(count >= 0, "no notification within a minute")
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Starts the program after these shell commands have set up its environment.
  func start(_ arguments: String..., settings: String = "") throws -> Program {
    try Program(
      ["-c", "\(settings) exec \"$@\"", "sh", Program.executable.path, "run"] + arguments,
      environment: ["NOTIFY_SOCKET": "@" + place.name], of: "/bin/sh")
  }
}

@Suite("Services")
struct ServiceTests {
  private static let waits =
    "local ml = require 'moonloop'; ml.current():every(600, function() end)"

  @Test("is ready when its loop sleeps, and stopping when it ends")
  func isReady() throws {
    let manager = try Manager()
    let program = try manager.start("-e", Self.waits)
    #expect(try manager.note() == "READY=1")
    program.send(SIGTERM)
    #expect(try manager.note() == "STOPPING=1")
    #expect(try program.wait().status == 143)
  }

  @Test("is not ready before its main chunk is done; says more by itself")
  func saysMore() throws {
    let manager = try Manager()
    let program = try manager.start(
      "-e",
      """
      local ml = require 'moonloop'
      ml.process.notify "STATUS=warming up"
      ml.sleep(0.05)
      ml.process.notify "STATUS=warm"
      ml.current():after(0.05, function() end)
      """)
    #expect(try manager.note() == "STATUS=warming up")
    #expect(try manager.note() == "STATUS=warm")
    #expect(try manager.note() == "READY=1")
    #expect(try program.wait().status == 0)
  }

  @Test("is ready while a configuration runs its phases")
  func isReadyInPhases() throws {
    let manager = try Manager()
    try withFile("return { timers = { beat = { every = 600, handler = print } } }") { file in
      let program = try manager.start(file)
      defer { program.send(SIGKILL) }
      #expect(try manager.note() == "READY=1")
    }
  }

  @Test("is reloading, then ready again")
  func reloads() throws {
    let manager = try Manager()
    try withFile(Self.waits) { file in
      let program = try manager.start("--watch", file)
      defer { program.send(SIGKILL) }
      #expect(try manager.note() == "READY=1")
      program.send(SIGHUP)
      let reload = try manager.note()
      #expect(reload.wholeMatch(of: /RELOADING=1\nMONOTONIC_USEC=\d+/) != nil, "\(reload)")
      #expect(try manager.note() == "READY=1")
    }
  }

  @Test("gives signs of life by its loop, in each mode; not in a handler that hangs")
  func answersWatchdog() throws {
    let manager = try Manager()
    let program = try manager.start(
      "-e",
      """
      local ml = require 'moonloop'
      local loop, turns = ml.current(), 0
      loop:after(0.1, function()
        ml.process.notify "STATUS=private"
        loop:timer { first = 0.2, modes = "private", function() loop:stop() end }
        loop:run { mode = "private" }
        ml.process.notify "STATUS=hangs"
        local since = os.clock()
        repeat until os.clock() - since > 0.3
        ml.process.notify "STATUS=hung"
        os.exit(0)
      end)
      """, settings: "WATCHDOG_PID=$$ WATCHDOG_USEC=60000")
    var notes: [String] = []
    repeat {
      let note = try manager.note()
      if note != notes.last { notes.append(note) }
    } while notes.last != "STATUS=hung"
    #expect(
      notes.filter { $0 != "READY=1" }.suffix(5)
        == ["WATCHDOG=1", "STATUS=private", "WATCHDOG=1", "STATUS=hangs", "STATUS=hung"])
    #expect(try program.wait().status == 0)
  }

  @Test("serves a passed socket, by name too, and may take it again")
  func takesSocket() throws {
    let door = try Place(SOCK_STREAM)
    defer { close(door.fd) }
    listen(door.fd, 8)
    let script = """
      local ml = require 'moonloop'
      io.stderr:write(select(2, ml.net.listen { fd = "systemd", print }), "\\n")
      io.stderr:write(select(2, ml.net.listen { fd = "systemd:other", print }), "\\n")
      ml.net.listen({ fd = "systemd:door", print }):invalidate()
      local listener
      listener = assert(ml.net.listen { fd = "systemd:1", function(stream)
        stream:write("served"):close()
        listener:invalidate()
      end })
      """
    // The socket arrives as standard output, and goes to the number that systemd uses.
    let command =
      "exec 3<&1 4<&1 1>&2; LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=door:window exec \"$@\""
    let program = try Program(
      ["-c", command, "sh", Program.executable.path, "run", "-e", script],
      output: FileHandle(fileDescriptor: door.fd), of: "/bin/sh")
    let guest = try moonloop([
      "run", "-e",
      "io.write(require('moonloop').net.connect({ path = '@\(door.name)', timeout = 5 }):read 'a')",
    ])
    #expect(guest.output == "served")
    #expect(
      try program.wait(untilOutputEnds: false).errors == """
        ml.net.listen: systemd passed 2 sockets; choose one by its name or number, such as fd = \
        "systemd:1"
        ml.net.listen: systemd passed 2 sockets, but none named 'other'

        """)
  }

  @Test("says where a socket must come from if there is none")
  func needsSocket() throws {
    let outcome = try moonloop([
      "run", "-e", "print(require('moonloop').net.listen { fd = 'systemd', function() end })",
    ])
    #expect(
      outcome.output
        == "nil\tml.net.listen: systemd passed no socket; start the program through its .socket "
        + "unit\tENOENT\n"
    )
  }

  @Test("marks each line of a message for the journal with its priority")
  func marksMessages() throws {
    let script = "require('moonloop').current():after(0, function() error 'no' end)"
    try withFile(script) { file in
      let log = file + ".log"
      _ = FileManager.default.createFile(atPath: log, contents: nil)
      let command = "JOURNAL_STREAM=$(stat -Lc %d:%i '\(log)') exec \"$@\" 2>>'\(log)'"
      _ = try Program(
        ["-c", command, "sh", Program.executable.path, "run", file], of: "/bin/sh"
      ).wait()
      let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      #expect(lines.count > 1)
      #expect(lines.allSatisfy { $0.hasPrefix("<3>") }, "\(lines)")
    }
  }
}
