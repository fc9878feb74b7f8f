// What scripts see of streams.

internal import LuaEmbed
internal import MoonloopSystem

/// What a stream's handle offers.
let streamEntries: [LuaEntry] =
  streamReadingEntries + streamWritingEntries + streamLifeEntries + streamFieldEntries

private let streamReadingEntries: [LuaEntry] = [
  .method("read") { host($0, $1, "stream:read", readStream) },
  .method("read_some") { host($0, $1, "stream:read_some", readSomeOfStream) },
  .method("receive_fd") { host($0, $1, "stream:receive_fd", streamReceiveDescriptor) },
  .method("lines") { host($0, $1, "stream:lines", linesOfStream) },
]

private let streamWritingEntries: [LuaEntry] = [
  .method("write") { host($0, $1, "stream:write", writeStream) },
  .method("flush") { host($0, $1, "stream:flush", streamFlush) },
  .method("copy_to") { host($0, $1, "stream:copy_to", streamCopyTo) },
  .method("send_fd") { host($0, $1, "stream:send_fd", streamSendDescriptor) },
  .method("shutdown") { host($0, $1, "stream:shutdown", streamShutdown) },
  .method("starttls") { host($0, $1, "stream:starttls", streamStartTLS) },
]

private let streamLifeEntries: [LuaEntry] = [
  .method("close", streamClose),
  .method("invalidate", itemInvalidate),
  .method("is_valid") { hostValue($0, $1, "stream:is_valid", streamIsValid) },
  .method("on") { host($0, $1, "stream:on", streamOn) },
  .method("set_timeout") { host($0, $1, "stream:set_timeout", streamSetTimeout) },
  .method("keep_alive") { host($0, $1, "stream:keep_alive", streamKeepAlive) },
  .method("modes", itemModes),
]

private let streamFieldEntries: [LuaEntry] = [
  .field("timeout", streamTimeout, set: streamSetTimeoutField),
  .field("fd") { hostValue($0, $1, "stream.fd", streamNumber) },
  .field("failure") { hostValue($0, $1, "stream.failure") { try $0.selfStream().lastFailure } },
  .field("peer") { host($0, $1, "stream.peer", streamPeer) },
  .field("tls") { host($0, $1, "stream.tls", streamTLS) },
  .field("buffered") {
    hostValue($0, $1, "stream.buffered") { try $0.selfStream().state.input.count }
  },
  .field("queued") {
    hostValue($0, $1, "stream.queued") { try $0.selfStream().state.output.count }
  },
  .field("bytes_read") {
    hostValue($0, $1, "stream.bytes_read") {
      Int(truncatingIfNeeded: try $0.selfStream().state.bytesRead)
    }
  },
  .field("bytes_written") {
    hostValue($0, $1, "stream.bytes_written") {
      Int(truncatingIfNeeded: try $0.selfStream().state.bytesWritten)
    }
  },
  .field("name", itemName),
  .field("fires", itemFires),
  .field("on_error", itemOnError, set: itemSetOnError),
  .metamethod("__close", streamClose),
  .metamethod("__tostring", itemToString),
]

/// What the function from `stream:lines` offers: it can be called.
let linesEntries: [LuaEntry] = [.metamethod("__call", linesNext, then: linesSecond)]
