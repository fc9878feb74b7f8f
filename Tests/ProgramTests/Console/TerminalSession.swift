// A program at its own terminal: what a person types, and what that person sees.

import Foundation
import TestSupport
import Testing

/// A program whose standard streams are a pseudo-terminal, which is also its controlling terminal.
final class TerminalSession {
  private let master: Int32
  private let process = Process()
  private let ended = DispatchSemaphore(value: 0)
  /// The folder of its history and sockets.
  let folder: URL
  // Bytes: in a string, a carriage return and the newline that comes later become one character.
  private var seen = Data()
  private var from = 0

  /// - Parameter folder: That of another session, or nil for a new one.
  init(
    _ arguments: [String], folder: URL? = nil, terminal kind: String = "xterm",
    locale: String = "C.UTF-8"
  ) throws {
    _ = RuntimeFolder.path
    // What posix_openpt, unlockpt and ptsname do, which Swift does not import.
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var isLocked: Int32 = 0
    var number: Int32 = 0
    try #require(ioctl(master, 0x4004_5431, &isLocked) == 0)  // TIOCSPTLCK
    try #require(ioctl(master, 0x8004_5430, &number) == 0)  // TIOCGPTN
    let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(slave >= 0)
    defer { Glibc.close(slave) }
    var size = winsize(ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    self.folder =
      folder
      ?? FileManager.default.temporaryDirectory
      .appendingPathComponent("moonloop-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
    process.arguments = ["-c", "-w", Program.executable.path] + arguments
    let terminal = FileHandle(fileDescriptor: slave)
    process.standardInput = terminal
    process.standardOutput = terminal
    process.standardError = terminal
    var environment = ProcessInfo.processInfo.environment
    environment["XDG_STATE_HOME"] = self.folder.path
    environment["TERM"] = kind
    environment["LC_ALL"] = locale
    process.environment = environment
    process.terminationHandler = { [ended] _ in ended.signal() }
    try process.run()
  }

  deinit {
    close(master)
    try? FileManager.default.removeItem(at: folder)
  }

  /// Whether the terminal gives keys at once, and not lines.
  var isRaw: Bool {
    var mode = termios()
    tcgetattr(master, &mode)
    return mode.c_lflag & tcflag_t(ICANON) == 0
  }

  /// Sends a signal to the program.
  func send(_ signal: Int32) { kill(-tcgetpgrp(master), signal) }

  /// Types keys.
  func type(_ keys: String) { _ = write(master, keys, keys.utf8.count) }

  /// Waits until a text appears after the last text waited for.
  /// - Parameter keys: Typed again and again meanwhile, every 400 ms.
  func waitFor(
    _ text: String, typing keys: String? = nil, _ location: SourceLocation = #_sourceLocation
  ) throws {
    var patience = keys == nil ? 1 : 150
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      if let range = seen.range(of: Data(text.utf8), in: from..<seen.count) {
        from = range.upperBound
        return
      }
      var place = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
      let isReady = poll(&place, 1, keys == nil ? 60_000 : 400) > 0
      patience -= isReady ? 0 : 1
      if !isReady, patience > 0 {
        if let keys { type(keys) }
        continue
      }
      let count = isReady ? read(master, &bytes, bytes.count) : 0
      let rest = String(decoding: seen[from...], as: UTF8.self).debugDescription
      try #require(count > 0, "not seen: '\(text)', but: \(rest)", sourceLocation: location)
      seen += bytes[0..<count]
    }
  }

  /// Types keys and waits for what they print.
  func type(
    _ keys: String, _ answer: String, _ location: SourceLocation = #_sourceLocation
  ) throws {
    type(keys)
    try waitFor(answer, location)
  }

  /// The same for a line.
  func enter(
    _ line: String, _ answer: String, _ location: SourceLocation = #_sourceLocation
  ) throws { try type(line + "\r", answer, location) }

  /// Waits for a question and types the answer.
  func answer(
    _ question: String, _ keys: String, _ location: SourceLocation = #_sourceLocation
  ) throws {
    try waitFor(question, location)
    type(keys)
  }

  /// Ends the input; the program ends without an error.
  func quit(_ location: SourceLocation = #_sourceLocation) throws {
    type("\u{4}")
    #expect(try wait() == 0, sourceLocation: location)
  }

  /// A console at its first prompt.
  static func prompt() throws -> TerminalSession {
    let session = try TerminalSession(["repl"])
    try session.waitFor("> ")
    return session
  }

  /// Waits for it to end.
  func wait() throws -> Int32 {
    // The terminal must be read, or its full buffer holds up the program.
    var bytes = [UInt8](repeating: 0, count: 4096)
    var place = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    while poll(&place, 1, 60_000) > 0, read(master, &bytes, bytes.count) > 0 {}
    let inTime = ended.wait(timeout: .now() + Program.limit) == .success
    if !inTime { kill(process.processIdentifier, SIGKILL) }
    process.terminationHandler = nil  // it would keep the process forever
    #expect(inTime, "the program did not end")
    return process.terminationStatus
  }
}
