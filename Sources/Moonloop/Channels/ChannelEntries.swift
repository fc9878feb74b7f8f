// What scripts see of channels.

internal import LuaEmbed

let channelEntries: [LuaEntry] = [
  .method("send", channelSend),
  .method("try_send", channelTrySend),
  .method("receive", channelReceive),
  .method("try_receive", channelTryReceive),
  .method("items", channelItems),
  .method("close") {
    hostAction($0, $1, "channel:close") { try $0.selfChannel().close($0.runtime) }
  },
  .method("invalidate", channelInvalidate),
  .method("is_valid") {
    hostValue($0, $1, "channel:is_valid") { !(try $0.selfChannel().isClosed) }
  },
  .field("name") { hostValue($0, $1, "channel.name") { try $0.selfChannel().name } },
  .field("capacity") { hostValue($0, $1, "channel.capacity") { try $0.selfChannel().capacity } },
  .field("count", channelCount),
  .metamethod("__len", channelCount),
  .metamethod("__close", channelInvalidate),
  .metamethod("__tostring", channelToString),
]
