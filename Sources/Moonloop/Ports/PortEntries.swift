// What scripts see of ports, replies and perform requests.

internal import LuaEmbed

/// What a port handle offers.
let portEntries: [LuaEntry] =
  [
    .method("send") { host($0, $1, "port:send", portSend) },
    .method("request") { host($0, $1, "port:request", portRequest) },
    .method("on") { host($0, $1, "port:on", portOn) },
    .method("receive") { host($0, $1, "port:receive", portReceive) },
    .field("waiting") { hostValue($0, $1, "port.waiting") { try $0.selfPort().1.waiting } },
    .field("capacity") { hostValue($0, $1, "port.capacity") { try $0.selfPort().1.capacity } },
  ] + itemEntries

/// What the reply of a message offers: it is called.
let replyEntries: [LuaEntry] = [
  .metamethod("__call") { hostValue($0, $1, "reply", replyCall) },
  .metamethod("__tostring") { hostValue($0, $1, "tostring", replyToString) },
]

/// What the handle of a request offers.
let requestEntries: [LuaEntry] = [
  // Whether it was still waiting (R115).
  .method("cancel") {
    hostValue($0, $1, "request:cancel") { $0.runtime.requests.cancel(try $0.selfRequest()) }
  },
  .method("invalidate", requestInvalidate),
  .method("is_pending", requestIsPending),
  .method("is_valid", requestIsPending),
  .metamethod("__close", requestInvalidate),
  .metamethod("__tostring") { hostValue($0, $1, "tostring", requestToString) },
]
