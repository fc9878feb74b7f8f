// What scripts see of channels.

internal import LuaEmbed

let channelEntries: [LuaEntry] = [
  .method("send") { host($0, $1, "channel:send", channelSend) },
  .method("try_send") { host($0, $1, "channel:try_send", channelTrySend) },
  .method("receive") { host($0, $1, "channel:receive", channelReceive) },
  .method("try_receive") { host($0, $1, "channel:try_receive", channelTryReceive) },
  .method("items") { host($0, $1, "channel:items", channelItems) },
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
  .metamethod("__tostring") { hostValue($0, $1, "tostring", channelToString) },
]
