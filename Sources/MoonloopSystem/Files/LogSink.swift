// Where a log is written to: what its descriptor does not take at once waits in a bounded buffer,
// and is written out at the end of the process and when it crashes.

internal import CLinuxShims
package import MoonloopCore

/// A sink by its number. Any thread.
package struct LogSink: Sendable {
  package static let most = 63

  package let number: Int32

  package init(number: Int32) { self.number = number }

  /// The sink of an open descriptor, which all its users share.
  package init(_ fd: Int32) throws(SystemError) {
    number = cmx_log_open(fd, nil)
    if number < 0 { throw SystemError(call: "open", code: -number) }
  }

  /// A sink that appends to a file, which is made if it is not there.
  package init(appendingTo path: String) throws(SystemError) {
    number = cmx_log_open(-1, path)
    if number < 0 { throw SystemError(call: "open", code: -number) }
  }

  package func close() { cmx_log_close(number) }

  /// Whether the bytes were written or queued; else there is no room, or no reader.
  package func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    cmx_log_write(number, bytes.baseAddress, bytes.count)
  }

  /// Writes what can be written now, and returns how many bytes still wait.
  package func drain() -> Int { cmx_log_drain(number) }

  /// Whether a thread writes what waits, so that no drain is needed.
  package var isFile: Bool { cmx_log_is_file(number) }

  /// Writes out what waits in all logs, once nothing logs any more.
  /// - Returns: What full disks have kept out, as a sentence; nil: nothing.
  package static func finish() -> String? {
    let loss = cmx_log_finish()
    guard loss.records > 0 else { return nil }
    let path = withUnsafeBytes(of: loss.path) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    let records = loss.records == 1 ? "1 record is" : "\(loss.records) records are"
    let why = SystemError(call: "write", code: loss.problem).message
    return "log '\(path)': \(records) lost: \(why)"
  }

  /// Why the last write failed; nil: it did not, or there was no room for the moment.
  package var problem: SystemError? {
    let code = cmx_log_problem(number)
    return code == 0 ? nil : SystemError(call: "write", code: code)
  }
}
