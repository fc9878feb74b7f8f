// Moves bytes from one stream to another, inside the kernel where possible.

internal import CLinuxShims
package import MoonloopCore

extension Loop.Stream {
  /// How to move bytes from one descriptor to another.
  package enum Way {
    /// Through our own buffer.
    case buffer
    /// From a file, by the kernel.
    case sendFile
    /// To or from a pipe, by the kernel.
    case splice
  }

  /// The best way to another stream.
  package func way(to other: Loop.Stream) -> Way {
    if tls != nil || other.tls != nil { return .buffer }
    let from = cmx_sort_of(source.fd)
    let to = cmx_sort_of(other.source.fd)
    if from == cmx_sort_file { return to == cmx_sort_other ? .buffer : .sendFile }
    return from == cmx_sort_pipe || to == cmx_sort_pipe ? .splice : .buffer
  }

  /// Makes the kernel move bytes that are not in the streams' buffers.
  /// - Returns: The number of bytes; 0 at the end of file.
  /// - Throws: EAGAIN if nothing can be moved now, EINVAL if the kernel cannot do this.
  package func move(to other: Loop.Stream, _ way: Way, _ count: Int) throws(SystemError) -> Int {
    // Either call blocks in a descriptor that is not non-blocking.
    if !other.source.isNonBlocking || (way == .splice && !source.isNonBlocking) {
      throw SystemError(call: "splice", code: Errno.invalid)
    }
    let moved =
      way == .sendFile
      ? try SystemCall.sendFile.check(cmx_sendfile(other.source.fd, source.fd, count))
      : try SystemCall.splice.check(cmx_splice(source.fd, other.source.fd, count))
    state.bytesRead &+= UInt64(moved)
    other.state.bytesWritten &+= UInt64(moved)
    if moved == 0 { endReading() }
    return moved
  }
}
