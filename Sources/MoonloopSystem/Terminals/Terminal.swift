// Terminals: raw mode that is always restored, and the size.

internal import CLinuxShims
package import MoonloopCore

/// Operations on a terminal. Any thread.
package enum Terminal {
  package static func isTerminal(_ fd: Int32) -> Bool { cmx_is_terminal(fd) }

  /// Columns and rows.
  package static func size(_ fd: Int32) throws(SystemError) -> (columns: Int, rows: Int) {
    var columns: Int32 = 0
    var rows: Int32 = 0
    let result = cmx_terminal_size(fd, &columns, &rows)
    if result < 0 { throw SystemError(call: "ioctl", code: -result) }
    return (Int(columns), Int(rows))
  }

  /// Opens the terminal behind a descriptor again; nil: the controlling terminal of the process.
  package static func open(_ fd: Int32?) throws(SystemError) -> Int32 {
    try SystemCall.open.check(cmx_terminal_open(fd ?? -1))
  }
}

/// Keeps a terminal raw while this lives; then, and however the process ends, restores it. Signals
/// that would end or stop the process restore it first.
package final class RawTerminal {
  private let place: Int32

  /// - Parameter keepsSignals: Whether Ctrl-C, Ctrl-\\ and Ctrl-Z are still signals.
  package init(_ fd: Int32, keepsSignals: Bool) throws(SystemError) {
    let result = cmx_terminal_raw(fd, keepsSignals)
    if result < 0 { throw SystemError(call: "tcsetattr", code: -result) }
    place = result
  }

  deinit { cmx_terminal_restore(place) }
}
