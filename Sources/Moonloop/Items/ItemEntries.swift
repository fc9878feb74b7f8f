// What scripts see of every item (timer, source, fd, observer, port).

internal import LuaEmbed

/// What a handle of a source, descriptor, observer or port offers in addition to its own entries.
let itemEntries: [LuaEntry] = [
  .method("invalidate", itemInvalidate),
  .method("is_valid") { hostValue($0, $1, "item:is_valid") { try $0.selfItem().item.isValid } },
  .method("modes", itemModes),
  .method("keep_alive") { host($0, $1, "item:keep_alive", itemKeepAlive) },
  .field("name", itemName),
  .field("fires", itemFires),
  .field("on_error", itemOnError, set: itemSetOnError),
  .metamethod("__close", itemInvalidate),
  .metamethod("__tostring", itemToString),
]
