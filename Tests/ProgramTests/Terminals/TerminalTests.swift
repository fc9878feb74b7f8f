// Raw mode is undone however the program ends: with a pseudo-terminal, whose mode is read from
// outside.

import Foundation
import Testing

@Suite("Terminals")
struct TerminalTests {
  private static let prelude =
    "local ml = require 'moonloop' local t = assert(ml.tty.open { raw = true }) print 'ready' "

  /// A pseudo-terminal: our side, and the terminal itself.
  private struct Terminal {
    let master: Int32
    let slave: Int32

    init() throws {
      // What posix_openpt, unlockpt and ptsname do, which Swift does not import.
      master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
      var isLocked: Int32 = 0
      var number: Int32 = 0
      try #require(ioctl(master, 0x4004_5431, &isLocked) == 0)  // TIOCSPTLCK
      try #require(ioctl(master, 0x8004_5430, &number) == 0)  // TIOCGPTN
      slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
      try #require(slave >= 0)
    }

    var isRaw: Bool {
      var mode = termios()
      tcgetattr(slave, &mode)
      return mode.c_lflag & tcflag_t(ICANON) == 0
    }

    func type(_ text: String) { _ = write(master, text, text.utf8.count) }

    func close() {
      Glibc.close(master)
      Glibc.close(slave)
    }
  }

  /// Runs a script on a terminal until it is ready and raw.
  private func run(
    _ script: String, _ body: (Terminal, Process, _ output: FileHandle) throws -> Void
  ) throws -> (terminal: Terminal, status: Int32) {
    let terminal = try Terminal()
    let process = Process()
    let output = Pipe()
    process.executableURL = Program.executable
    process.arguments = ["run", "-e", Self.prelude + script]
    process.standardInput = FileHandle(fileDescriptor: terminal.slave)
    process.standardOutput = output
    var environment = ProcessInfo.processInfo.environment
    environment["SWIFT_BACKTRACE"] = "enable=no"
    process.environment = environment
    process.standardError = FileHandle.nullDevice
    try process.run()
    let ready = try output.fileHandleForReading.read(upToCount: 6)
    try #require(ready == Data("ready\n".utf8))
    #expect(terminal.isRaw)
    try body(terminal, process, output.fileHandleForReading)
    process.waitUntilExit()
    return (terminal, process.terminationStatus)
  }

  static let endings: [(script: String, keys: String, status: Int32)] = [
    ("assert(t:read(1) == 'x') t:invalidate() assert(not t:is_valid())", "x", 0),
    ("do local t <close> = t t:read(1) end", "x", 0),
    ("t:read(1)", "x", 0),
    ("t:read(1) error 'no'", "x", 1),
    ("t:read(1) os.exit(7)", "x", 7),
    ("t:read(1) os.exit(7, true)", "x", 7),
    ("t:read(1) t.raw = false assert(t:read 'l' == 'line')", "xline\n", 0),
  ]

  @Test("are what they were when a script ends", arguments: endings.indices)
  func restored(_ index: Int) throws {
    let ending = Self.endings[index]
    let (terminal, status) = try run(ending.script) { terminal, _, _ in
      terminal.type(String(ending.keys.prefix(1)))
      if ending.keys.count > 1 {
        while terminal.isRaw { usleep(1000) }
        terminal.type(String(ending.keys.dropFirst()))
      }
    }
    #expect(!terminal.isRaw, "\(ending.script)")
    #expect(status == ending.status, "\(ending.script)")
    terminal.close()
  }

  /// ThreadSanitizer calls a handler of SIGABRT and SIGSEGV at once, and deadlocks if that happens
  /// in the middle of its own work.
  static let deadly =
    [
      SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGIO, SIGPWR,
    ]
    + (Program.holdsSignals ? [] : [SIGABRT, SIGSEGV])

  @Test("are what they were when a signal ends the process", arguments: deadly)
  func restoredBySignal(_ signal: Int32) throws {
    let (terminal, _) = try run("t:read(1)") { _, process, _ in
      kill(process.processIdentifier, signal)
    }
    #expect(!terminal.isRaw)
    terminal.close()
  }

  @Test("tell their size, and when that changes")
  func tellTheirSize() throws {
    let script = """
      t:on_resize(function(t, c, r) print(c, r, t.columns, t.rows) end)
      io.stdout:write('size\\n') io.stdout:flush() t:read(1)
      """
    let (terminal, status) = try run(script) { terminal, process, output in
      _ = try output.read(upToCount: 5)
      var size = winsize(ws_row: 33, ws_col: 99, ws_xpixel: 0, ws_ypixel: 0)
      _ = ioctl(terminal.master, UInt(TIOCSWINSZ), &size)
      // It is not the controlling terminal here, so only we signal the new size.
      kill(process.processIdentifier, SIGWINCH)
      #expect(try output.read(upToCount: 12) == Data("99\t33\t99\t33\n".utf8))
      terminal.type("x")
    }
    #expect(status == 0)
    terminal.close()
  }
}
