// The name of a mode: a free string, compared by value.

/// The name of a mode of a loop.
///
/// A mode comes into being with its first use by an item, a block or an observer, and does not go
/// away (R89). Counterpart: `CFRunLoopMode`.
public struct ModeName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name as text.
  public let rawValue: String

  /// A mode by its name; modes are one where the bytes of their names are, as Lua's strings are.
  public init(_ rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral value: String) { rawValue = value }

  /// The mode that is meant when none is named. Counterpart: `kCFRunLoopDefaultMode`.
  public static let `default`: ModeName = "default"

  /// The pseudo-mode that stands for all common modes; items are scheduled in it, no loop runs in
  /// it (R22). Counterpart: `kCFRunLoopCommonModes`.
  public static let common: ModeName = "common"

  public static func == (one: ModeName, other: ModeName) -> Bool {
    one.rawValue.isSame(as: other.rawValue)
  }

  public var description: String { rawValue }
}
