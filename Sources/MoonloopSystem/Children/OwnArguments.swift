internal import CLinuxShims

/// The command line of this process as bytes, also where /proc is not mounted. Any thread.
package enum OwnArguments {
  package static var count: Int { Int(cmx_argument_count()) }

  /// An argument, zero-terminated; it lives as long as the process.
  package static subscript(index: Int) -> UnsafeMutablePointer<CChar> {
    cmx_arguments()[index]!
  }
}
