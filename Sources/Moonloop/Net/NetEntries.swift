// What scripts see of the network.

internal import LuaEmbed
internal import MoonloopSystem

/// The functions of `ml.net`.
let netEntries: [LuaEntry] = [
  .function("listen") { host($0, $1, "ml.net.listen", netListen) },
  .function("connect") { host($0, $1, "ml.net.connect", netConnect) },
  .function("resolve") { host($0, $1, "ml.net.resolve", netResolve) },
  .function("udp") { host($0, $1, "ml.net.udp", netUDP) },
]

/// What a server's handle offers.
let serverEntries: [LuaEntry] =
  [
    .method("accept") { host($0, $1, "server:accept", serverAccept) },
    .field("port") { hostValue($0, $1, "server.port") { try $0.selfServer().address.port } },
    .field("address") { host($0, $1, "server.address", serverAddress) },
    .field("connections") {
      hostValue($0, $1, "server.connections") { try $0.selfServer().connections }
    },
    .field("tls_failures") { hostValue($0, $1, "server.tls_failures", serverFailures) },
    .field("tls_failure") { hostValue($0, $1, "server.tls_failure", serverFailure) },
  ] + itemEntries

/// What the handle of a datagram socket offers.
let datagramEntries: [LuaEntry] =
  [
    .method("send") { host($0, $1, "socket:send", datagramSend) },
    .method("receive") { host($0, $1, "socket:receive", datagramReceive) },
    .field("port") {
      hostValue($0, $1, "socket.port") {
        Sockets.name(of: try $0.selfDatagrams().source.fd)?.port ?? 0
      }
    },
  ] + itemEntries
