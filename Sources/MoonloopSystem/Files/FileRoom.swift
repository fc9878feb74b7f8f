// How much memory the answer to a file call may take.

internal import MoonloopCore

/// Asked before a file is read, and kept as long as what was read. Any thread.
package final class FileRoom: Sendable {
  /// What to keep with this many bytes; nil if there is no room for them.
  private let claim: @Sendable (_ bytes: Int) -> (any Sendable)?
  private let claims = Guarded<[any Sendable]>([])

  package init(_ claim: @escaping @Sendable (_ bytes: Int) -> (any Sendable)?) {
    self.claim = claim
  }

  func take(_ bytes: Int) -> Bool {
    guard let one = claim(bytes) else { return false }
    claims.withLock { $0.append(one) }
    return true
  }
}
