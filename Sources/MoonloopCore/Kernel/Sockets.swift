// The calls of Linux that only sockets need. The simulated world has no network: these are for real
// descriptors.

internal import CLinuxShims

/// Socket calls. Each is one call of the system; all descriptors are non-blocking.
package enum Sockets {
  /// Tells the peer that nothing more will come.
  /// - Throws: ENOTSOCK for what is no socket, ENOTCONN when the peer is gone.
  package static func shutWriting(_ fd: Int32) throws(SystemError) {
    _ = try SystemCall.shutdown.check(cmx_shutdown_writing(fd))
  }
}
