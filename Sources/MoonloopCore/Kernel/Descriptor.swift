// The one owner of a descriptor, which closes it exactly once.

internal import CLinuxShims

/// An open descriptor that belongs to the holder of this value.
package struct Descriptor: ~Copyable, Sendable {
  package let number: Int32

  package init(owning number: Int32) { self.number = number }

  /// Another number for the same open file; both are closed on their own.
  package init(duplicateOf number: Int32) throws(SystemError) {
    self = try SystemCall.fcntl.descriptor(cmx_duplicate(number))
  }

  deinit { cmx_close(number) }

  /// Gives the descriptor up without closing it.
  package consuming func release() -> Int32 {
    let number = number
    discard self
    return number
  }
}
