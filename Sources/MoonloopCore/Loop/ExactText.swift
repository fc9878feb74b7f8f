// Text as a key: Lua's strings are the same where their bytes are, Swift's where their signs are.

/// A text that equals another where its bytes do: "é" in one sign is not "é" in two.
package struct ExactText: Hashable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (one: Self, other: Self) -> Bool { one.text.isSame(as: other.text) }
}

extension String {
  /// Whether the bytes are the same. The usual hash will do: the same bytes have the same.
  @inline(__always)
  func isSame(as other: String) -> Bool {
    _isIdentical(to: other) || (self == other && hasSameBytes(as: other))
  }

  @inline(never)
  private func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
