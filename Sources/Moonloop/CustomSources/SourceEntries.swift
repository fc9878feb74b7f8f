// What scripts see of custom sources, descriptors, observers and ports.

internal import LuaEmbed

/// What a source handle offers.
let sourceEntries: [LuaEntry] =
  [
    .method("signal") { host($0, $1, "source:signal", sourceSignal) },
    .field("signalled") { hostValue($0, $1, "source.signalled", sourceSignalled) },
    .field("order") { hostValue($0, $1, "source.order", sourceOrder) },
  ] + itemEntries

/// What an fd handle offers.
let descriptorEntries: [LuaEntry] =
  [
    .method("read") { host($0, $1, "fd:read", descriptorRead) },
    .method("write") { host($0, $1, "fd:write", descriptorWrite) },
    .method("enable", descriptorEnable),
    .method("disable", descriptorDisable),
    .field("fd") { hostValue($0, $1, "fd.fd") { Int(try $0.selfDescriptor().1.fd) } },
    .field("enabled") { host($0, $1, "fd.enabled", descriptorEnabled) },
  ] + itemEntries

/// What an observer handle offers.
let observerEntries: [LuaEntry] =
  [
    .field("order") { hostValue($0, $1, "observer.order", observerOrder) },
    .field("repeats") { hostValue($0, $1, "observer.repeats", observerRepeats) },
  ] + itemEntries
