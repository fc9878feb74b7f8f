// The one owner of a descriptor, which closes it exactly once.

internal import CLinuxShims

/// An open descriptor that belongs to whoever holds this value.
package struct Descriptor: ~Copyable, Sendable {
  package let number: Int32

  package init(owning number: Int32) { self.number = number }

  deinit { cmx_close(number) }

  /// Gives the descriptor up without closing it.
  package consuming func release() -> Int32 {
    let number = number
    discard self
    return number
  }
}
