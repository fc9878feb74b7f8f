// What scripts see of the network.

internal import LuaEmbed

/// The functions of `ml.net`.
let netEntries: [LuaEntry] = [
  .function("listen", netListen),
  .function("connect", netConnect),
  .function("resolve", netResolve),
  .function("udp", netUDP),
]

/// What a server's handle offers.
let serverEntries: [LuaEntry] =
  [
    .method("accept", serverAccept),
    .field("port", serverPort),
    .field("address", serverAddress),
    .field("connections", serverConnections),
    .field("tls_failures", serverFailures),
    .field("tls_failure", serverFailure),
  ] + itemEntries

/// What the handle of a datagram socket offers.
let datagramEntries: [LuaEntry] =
  [
    .method("send", datagramSend),
    .method("receive", datagramReceive),
    .field("port", datagramPort),
  ] + itemEntries
