// What scripts see of custom sources, descriptors, observers and ports.

internal import LuaEmbed

/// What a source handle offers.
let sourceEntries: [LuaEntry] =
  [
    .method("signal", sourceSignal),
    .field("signalled", sourceSignalled),
    .field("order", sourceOrder),
  ] + itemEntries

/// What an fd handle offers.
let descriptorEntries: [LuaEntry] =
  [
    .method("read", descriptorRead),
    .method("write", descriptorWrite),
    .method("enable", descriptorEnable),
    .method("disable", descriptorDisable),
    .field("fd") { hostValue($0, $1, "fd.fd") { Int(try $0.selfDescriptor().1.fd) } },
    .field("enabled", descriptorEnabled),
  ] + itemEntries

/// What an observer handle offers.
let observerEntries: [LuaEntry] =
  [
    .field("order", observerOrder),
    .field("repeats", observerRepeats),
  ] + itemEntries
