// What an item of the core is for scripts, when it is more than the core knows: a descriptor may be
// that of a signal or of a child process.

internal import LuaEmbed
internal import MoonloopCore

/// Kept with the item. Loop thread only.
class ItemNature {
  /// The word for it in messages and in `loop:dump`: the name of its kind of handle.
  let word: String

  init(word: String) { self.word = word }

  /// What it does now, in a few words, for `loop:dump`.
  func stateText(_ item: Loop.Item) -> String { "" }

  /// Why it is not called, when nothing of the loop is in its way.
  func obstacle(_ item: Loop.Item) -> String { "nothing has come for it" }

  /// The item has ended: lets go of what it had. Perhaps the collector calls: Lua is left alone.
  func itemEnded() {}
}

extension Loop.Item {
  /// What it is for scripts, if the core does not know.
  var nature: ItemNature? { maker.state as? ItemNature }
}
