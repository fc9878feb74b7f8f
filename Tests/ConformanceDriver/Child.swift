// A process of this program that runs one scenario; its output comes through a pipe.

import ConformanceFormat
import Glibc

struct Child {
  let pid: pid_t
  /// The reading end of its standard output; we close it.
  let output: Int32
  private(set) var text: [UInt8] = []

  /// Starts this program with other arguments, or another program from the same build.
  init(program: String? = nil, arguments: [String]) throws(FormatError) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Child.error("make a pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    var argv: [UnsafeMutablePointer<CChar>?] = (["conformance"] + arguments).map { strdup($0) }
    argv.append(nil)
    defer { for argument in argv { free(argument) } }
    // A crash must end the process, not start Swift's backtracer, which would keep the pipe open.
    setenv("SWIFT_BACKTRACE", "enable=no", 1)
    let path = program.map { Child.folder + $0 } ?? "/proc/self/exe"
    var pid: pid_t = 0
    let status = posix_spawn(&pid, path, &actions, nil, argv, environ)
    close(ends[1])
    guard status == 0 else {
      close(ends[0])
      errno = status
      throw Child.error("start a process")
    }
    self.pid = pid
    output = ends[0]
  }

  /// Becomes the program that runs scenarios on Core Foundation.
  static func becomeReference(_ arguments: [String]) throws(FormatError) -> Never {
    let path = folder + "ConformanceReference"
    var argv: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
    argv.append(nil)
    execv(path, argv)
    throw error("start \(path)")
  }

  /// Where the programs of the package are built.
  static let folder: String = {
    guard let path = realpath("/proc/self/exe", nil) else { return "" }
    defer { free(path) }
    return String(cString: path).split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/"
  }()

  private static func error(_ what: String) -> FormatError {
    FormatError(message: "cannot \(what): \(String(cString: strerror(errno)))")
  }

  /// Reads what has arrived.
  /// - Returns: false at the end of the output.
  mutating func readOutput() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 65536)
    let count = read(output, &chunk, chunk.count)
    if count > 0 { text += chunk[..<count] }
    return count > 0 || (count < 0 && errno == EINTR)
  }

  /// Kills it.
  func kill() { _ = Glibc.kill(pid, SIGKILL) }

  /// Waits until it has ended; its output must have ended before.
  /// - Returns: How it ended, for a message; nil if it exited with 0 or 3.
  func finish() -> String? {
    close(output)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    guard signal == 0 else { return "ended by signal \(signal)" }
    let code = (status >> 8) & 0xFF
    return code == 0 || code == 3 ? nil : "exited with \(code)"
  }
}
