// The standard streams of a program that runs loops.

internal import CLinuxShims
package import MoonloopCore

/// What a program does about its standard streams. Loop thread only.
package enum StandardStreams {
  /// Opens /dev/null in place of those that were closed when the program began, so that nothing
  /// else gets their numbers.
  package static func fillClosed() { _ = cmx_fill_standard_streams() }

  /// Prints bytes, behind what scripts have printed.
  package static func print(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { cmx_print($0.baseAddress, $0.count) }
  }

  /// Writes out what was printed; cheap if nothing was.
  /// - Throws: What failed since the last time. What could not be written is dropped then.
  package static func flushOutput() throws(SystemError) {
    let result = cmx_flush_standard_output()
    if result < 0 { throw SystemError(call: "write", code: -result) }
  }
}
