// What scripts see of ports, replies and perform requests.

internal import LuaEmbed

/// What a port handle offers.
let portEntries: [LuaEntry] =
  [
    .method("send", portSend),
    .method("request", portRequest),
    .method("on", portOn),
    .method("receive", portReceive),
    .field("waiting", portWaiting),
    .field("capacity", portCapacity),
  ] + itemEntries

/// What the reply of a message offers: it is called.
let replyEntries: [LuaEntry] = [
  .metamethod("__call", replyCall),
  .metamethod("__tostring", replyToString),
]

/// What the handle of a request offers.
let requestEntries: [LuaEntry] = [
  .method("cancel", requestCancel),
  .method("invalidate", requestInvalidate),
  .method("is_pending", requestIsPending),
  .method("is_valid", requestIsPending),
  .metamethod("__close", requestInvalidate),
  .metamethod("__tostring", requestToString),
]
