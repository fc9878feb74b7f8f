// Descriptors that child processes need: pipes, hang-up watches, and alarms on the system's clock
// for what happens in system time.

internal import CLinuxShims
package import MoonloopCore

/// Descriptors for children and their pipes. Each belongs to the caller.
package enum ChildDescriptors {
  /// A pipe; both ends block.
  package static func pipe() throws(SystemError) -> (read: Int32, write: Int32) {
    let ends = UnsafeMutablePointer<Int32>.allocate(capacity: 2)
    defer { ends.deallocate() }
    _ = try SystemCall.pipe.check(cmx_pipe(ends))
    return (ends[0], ends[1])
  }

  /// A pseudo-terminal: our side, which does not block, and the child's.
  package static func terminal(
    columns: Int32, rows: Int32
  ) throws(SystemError) -> (ours: Int32, child: Int32) {
    let sides = UnsafeMutablePointer<Int32>.allocate(capacity: 2)
    defer { sides.deallocate() }
    _ = try SystemCall.open.check(cmx_pty(sides, columns, rows))
    return (sides[0], sides[1])
  }

  /// Sets the size of a pseudo-terminal by our side of it; its programs get SIGWINCH.
  package static func resize(_ fd: Int32, columns: Int32, rows: Int32) throws(SystemError) {
    let result = cmx_pty_resize(fd, columns, rows)
    if result < 0 { throw SystemError(call: "ioctl", code: -result) }
  }

  /// /dev/null: empty to read, and takes anything.
  package static func null() throws(SystemError) -> Int32 {
    try SystemCall.open.check(cmx_null())
  }

  /// Sets whether reads and writes block, for the descriptor and all that share its description.
  package static func setBlocking(_ fd: Int32, _ isBlocking: Bool) throws(SystemError) {
    let result = isBlocking ? cmx_set_blocking(fd) : cmx_set_nonblocking(fd)
    _ = try SystemCall.fcntl.check(result)
  }

  package static func isOpen(_ fd: Int32) -> Bool { cmx_is_open(fd) }

  package static func close(_ fd: Int32) { cmx_close(fd) }

  /// Whether the other end of a pipe is closed.
  package static func hasHungUp(_ fd: Int32) -> Bool { cmx_has_hung_up(fd) }

  /// A descriptor that is readable as soon as one of these has hung up.
  package static func hangUp(of fds: [Int32]) throws(SystemError) -> Int32 {
    try SystemCall.epollCreate.check(cmx_hangup_open(fds, Int32(fds.count)))
  }

  /// A descriptor that is readable after a time on the system's clock, whatever the loop's clock
  /// is.
  package static func alarm(after nanoseconds: Int64) throws(SystemError) -> Int32 {
    try SystemCall.timerfdCreate.check(cmx_alarm(nanoseconds))
  }
}
