// What scripts see of `ml.port`.

internal import LuaEmbed

/// The functions of `ml.port`.
let namedPortEntries: [LuaEntry] = [
  .function("listen", portListen),
  .function("connect", portConnect),
]
