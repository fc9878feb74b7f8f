// The name of what is no item: a task, a channel, a semaphore.

internal import LuaEmbed

/// A name that its owner keeps; a long one counts as script memory.
struct HandleName {
  /// Bytes of a name that do not count.
  static let free = 64
  static let none = HandleName()

  let text: String
  private let charge: MemoryCharge?

  private init() { (text, charge) = ("", nil) }

  var isLong: Bool { charge != nil }

  init(_ text: String, _ state: LuaState) {
    self.text = text
    charge = text.utf8.count > Self.free ? state.charge(text.utf8.count) : nil
  }
}
