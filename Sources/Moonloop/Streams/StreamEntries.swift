// What scripts see of streams.

internal import LuaEmbed
internal import MoonloopSystem

/// What a stream's handle offers.
let streamEntries: [LuaEntry] =
  streamReadingEntries + streamWritingEntries + streamLifeEntries + streamFieldEntries

private let streamReadingEntries: [LuaEntry] = [
  .method("read", streamRead),
  .method("read_some", streamReadSome),
  .method("receive_fd", streamReceiveDescriptor),
  .method("lines", streamLines),
]

private let streamWritingEntries: [LuaEntry] = [
  .method("write", streamWrite),
  .method("flush", streamFlush),
  .method("copy_to", streamCopyTo),
  .method("send_fd", streamSendDescriptor),
  .method("shutdown", streamShutdown),
  .method("starttls", streamStartTLS),
]

private let streamLifeEntries: [LuaEntry] = [
  .method("close", streamClose),
  .method("invalidate", itemInvalidate),
  .method("is_valid", streamIsValid),
  .method("on", streamOn),
  .method("set_timeout", streamSetTimeout),
  .method("keep_alive", streamKeepAlive),
  .method("modes", itemModes),
]

private let streamFieldEntries: [LuaEntry] = [
  .field("timeout", streamTimeout, set: streamSetTimeoutField),
  .field("fd", streamNumber),
  .field("failure", streamFailure),
  .field("peer", streamPeer),
  .field("tls", streamTLS),
  .field("buffered", streamBuffered),
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
