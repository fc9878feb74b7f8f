// What scripts see of channels.

internal import LuaEmbed

let channelEntries: [LuaEntry] = [
  .method("send", channelSend),
  .method("try_send", channelTrySend),
  .method("receive", channelReceive),
  .method("try_receive", channelTryReceive),
  .method("items", channelItems),
  .method("close", channelClose),
  .method("invalidate", channelInvalidate),
  .method("is_valid", channelIsValid),
  .field("name", channelName),
  .field("capacity", channelCapacity),
  .field("count", channelCount),
  .metamethod("__len", channelCount),
  .metamethod("__close", channelInvalidate),
  .metamethod("__tostring", channelToString),
]
