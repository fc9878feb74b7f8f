// What scripts see of items that the program made in Swift.

internal import LuaEmbed

/// What a handle of a program's item offers.
let programItemEntries: [LuaEntry] = [
  .method("signal") { hostAction($0, $1, "item:signal", programItemSignal) },
  .method("invalidate", programItemInvalidate),
  .method("is_valid") { hostValue($0, $1, "item:is_valid") { try $0.programItem().isValid } },
  .method("modes") { host($0, $1, "item:modes", programItemModes) },
  .field("name") { hostValue($0, $1, "item.name") { try $0.programItem().name } },
  .field("signalled") { hostValue($0, $1, "item.signalled", programItemSignalled) },
  .field("next_fire", programItemNextFire, set: programItemSetNextFire),
  .metamethod("__close", programItemInvalidate),
  .metamethod("__tostring") { hostValue($0, $1, "tostring", programItemToString) },
]
