// What scripts see of workers and of ports of other states.

internal import LuaEmbed

/// What the handle of a worker offers.
let workerEntries: [LuaEntry] =
  [
    .field("port", workerPort),
    .method("await", workerAwait),
    // Asks it to end.
    .method("stop") {
      hostAction($0, $1, "worker:stop") { Worker.of(try $0.selfWorker())?.stop() }
    },
    .field("status", workerStatus),
    // Whether its loop sleeps (R5).
    .field("is_waiting") {
      hostValue($0, $1, "worker.is_waiting") {
        Worker.of(try $0.selfWorker())?.link.isWaiting ?? false
      }
    },
    .metamethod("__close", workerClose),
    .metamethod("__tostring", workerToString),
  ] + itemEntries.filter { !["__close", "__tostring"].contains("\($0.name)") }

/// What the handle of a port of another state offers.
let remotePortEntries: [LuaEntry] =
  portEntries.filter { ["send", "request"].contains("\($0.name)") } + [
    .method("invalidate", remotePortInvalidate),
    .method("is_valid", remotePortIsValid),
    .field("name", remotePortName),
    .metamethod("__close", remotePortInvalidate),
    .metamethod("__tostring", remotePortToString),
  ]
