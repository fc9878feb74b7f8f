// What scripts see of `ml.port`.

internal import LuaEmbed

/// The functions of `ml.port`.
let namedPortEntries: [LuaEntry] = [
  .function("listen") { host($0, $1, "ml.port.listen", portListen) },
  .function("connect") { host($0, $1, "ml.port.connect", portConnect) },
]
