// What scripts see of the network.

internal import LuaEmbed
internal import MoonloopSystem

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
    .field("connections") {
      hostValue($0, $1, "server.connections") { try $0.selfServer().connections }
    },
    .field("tls_failures", serverFailures),
    .field("tls_failure", serverFailure),
  ] + itemEntries

/// What the handle of a datagram socket offers.
let datagramEntries: [LuaEntry] =
  [
    .method("send", datagramSend),
    .method("receive", datagramReceive),
    .field("port") {
      hostValue($0, $1, "socket.port") {
        Sockets.name(of: try $0.selfDatagrams().source.fd)?.port ?? 0
      }
    },
  ] + itemEntries
