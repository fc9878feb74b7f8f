// The standard streams of a program that runs loops.

internal import CLinuxShims
package import MoonloopCore

/// Handles the standard streams. Loop thread only.
package enum StandardStreams {
  /// Opens /dev/null for those that were closed when the program started, so that no other
  /// descriptor gets their numbers.
  package static func fillClosed() { _ = cmx_fill_standard_streams() }

  /// Prints bytes, after what scripts have printed.
  package static func print(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { cmx_print($0.baseAddress, $0.count) }
  }

  /// Flushes the output; cheap if there is none.
  /// - Throws: The first failure since the last call. What could not be written is dropped.
  package static func flushOutput() throws(SystemError) {
    let result = cmx_flush_standard_output()
    if result < 0 { throw SystemError(call: "write", code: -result) }
  }
}
