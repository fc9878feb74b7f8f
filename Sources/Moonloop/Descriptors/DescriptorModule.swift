// Descriptors in Lua: `loop:fd`, `ml.fd`, signalled by the kernel (D11). Reading is in
// `DescriptorReading`.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// What an fd handle offers.
let descriptorEntries: [LuaEntry] =
  [
    .method("read") { host($0, $1, "fd:read", descriptorRead) },
    .method("write") { host($0, $1, "fd:write", descriptorWrite) },
    // Both return the handle.
    .method("enable") { host($0, $1, "fd:enable") { try $0.setEvents(isEnabled: true) } },
    .method("disable") { host($0, $1, "fd:disable") { try $0.setEvents(isEnabled: false) } },
    .field("fd") { hostValue($0, $1, "fd.fd") { Int(try $0.selfDescriptor().1.fd) } },
    .field("enabled") { host($0, $1, "fd.enabled", descriptorEnabled) },
  ] + itemEntries

private let descriptorOptions: [StaticString] = [
  "fd", "read", "write", "name", "modes", "close", "reenable", "line_limit", "order", "keep_alive",
  "on_error",
]

private let eventNames: [(name: String, value: Loop.DescriptorSource.Events)] = [
  ("read", .read), ("write", .write),
]

/// `loop:fd { fd, read, write, name, modes, close, reenable, line_limit, order, keep_alive,
/// on_error }`
func makeDescriptor(_ call: HostCall, _ entry: ItemEntry) throws -> Int32 {
  try call.requireRoom()
  let options = try call.options(
    entry.options, descriptorOptions, example: "{ fd = 0, read = function(fd) … end }")
  guard let fd = try options.integer("fd", in: 0...Int(Int32.max)) else {
    throw call.mistake("needs 'fd', the number of an open descriptor")
  }
  let name = try options.name() ?? ""
  let closes = try options.boolean("close") ?? false
  let reenabled = try options.names("reenable", eventNames, "event")
  let lineLimit = try options.integer("line_limit", in: 1...(1 << 30))
  // Ready ones take turns, whatever their order is (R54).
  _ = try options.integer("order", in: .min ... .max)
  let modes = try call.modesOption(options, entry)
  let hasRead = try options.pushHandlerOrNil("read")
  let hasWrite = try options.pushHandlerOrNil("write")
  if !hasRead && !hasWrite { throw call.mistake("needs a handler: 'read', 'write' or both") }
  let kind = call.kind(DescriptorKind.self)
  let kept = try call.remake(
    DescriptorKind.self, name.isEmpty ? "#\(fd)" : name, handlers: 2, options,
    modes: modes
  ) { $0.fd == Int32(fd) && $0.closesDescriptor == closes }
  if let kept {
    if hasRead { kept.enable(.read) } else { kept.disable(.read) }
    if !hasWrite { kept.disable(.write) }
    return 1
  }
  let source = Loop.DescriptorSource(
    Int32(fd), closesDescriptor: closes, events: hasRead ? .read : [],
    reenabled: reenabled.map { $0.reduce([]) { $0.union($1) } } ?? .read, name: name,
    handler: kind.event)
  source.onFailure = kind.failure
  do throws(SystemError) { try source.inspect(call.loop.kernel) } catch {
    throw OperatingFailure(
      "\(call.name): descriptor \(fd) cannot be watched: \(error.message) (\(error.name))",
      error.name)
  }
  call.push(kind, source, handlers: 2)
  if let lineLimit { ReadAhead.of(source).input.lineLimit = lineLimit }
  return try call.finish(source, options, modes: modes)
}

// MARK: Methods

extension HostCall {
  @inline(__always)
  func selfDescriptor() throws(ScriptMistake) -> (LuaHandle, Loop.DescriptorSource) {
    let handle = try selfHandle(kinds.fd)
    return (handle, handle.item(as: Loop.DescriptorSource.self))
  }

  /// Event names at 2: one, or a list of them.
  private func events(_ handle: LuaHandle) throws(ScriptMistake) -> Loop.DescriptorSource.Events {
    var events: Loop.DescriptorSource.Events = []
    if stack.type(2) == .table {
      var place: Int64 = 1
      while stack.rawGet(2, item: place) != .nil {
        defer { stack.pop() }
        events.formUnion(try event(stack.absolute(-1)))
        place += 1
      }
      stack.pop()
    } else {
      events = try event(2)
    }
    return events
  }

  private func event(_ index: Int32) throws(ScriptMistake) -> Loop.DescriptorSource.Events {
    if let text = stack.string(index), let found = eventNames.first(where: { $0.name == text }) {
      return found.value
    }
    throw mistake("unknown event \(given(index))", hint: "use \"read\", \"write\" or a list")
  }

  /// Throws unless there is a handler for an event.
  private func requireHandler(
    _ events: Loop.DescriptorSource.Events, _ event: Loop.DescriptorSource.Events, slot: Int32
  ) throws(ScriptMistake) {
    guard events.contains(event) else { return }
    stack.pushSlot(slot, of: 1)
    defer { stack.pop() }
    if stack.type(-1) != .function {
      throw mistake("there is no '\(event)' handler to call for it")
    }
  }

  fileprivate func setEvents(isEnabled: Bool) throws -> Int32 {
    let (handle, source) = try selfDescriptor()
    let events = try events(handle)
    try requireValid(handle)
    if isEnabled {
      try requireHandler(events, .read, slot: 1)
      try requireHandler(events, .write, slot: 2)
      source.enable(events)
    } else {
      source.disable(events)
    }
    stack.setCount(1)
    return 1
  }
}

func descriptorEnabled(_ call: HostCall) throws -> Int32 {
  let source = try call.selfDescriptor().1
  call.stack.newTable(items: 2)
  var place: Int64 = 1
  for (name, event) in eventNames where source.enabled.contains(event) {
    call.stack.push(name)
    call.stack.rawSet(-2, item: place)
    place += 1
  }
  return 1
}

/// `fd:write(string, …)`: how many bytes were written, perhaps not all; never waits.
func descriptorWrite(_ call: HostCall) throws -> Int32 {
  let handle = try call.selfHandle(call.kinds.fd)
  let count = call.count
  try call.checkWritable(from: 2, through: count)
  try call.requireValid(handle)
  let written = try handle.withItem(as: Loop.DescriptorSource.self) { source in
    var (written, index) = (0, Int32(2))
    while index <= count {
      let (size, done) = try call.write(source, index, after: written)
      written += done
      if done < size { break }
      index += 1
    }
    return written
  }
  call.stack.push(written)
  return 1
}

extension HostCall {
  /// Writes one argument; a number as Lua writes it.
  /// - Returns: How many bytes it has, and how many of them were written.
  fileprivate func write(
    _ source: Loop.DescriptorSource, _ index: Int32, after written: Int
  ) throws -> (size: Int, done: Int) {
    guard let bytes = stack.bytes(index), !bytes.isEmpty else { return (0, 0) }
    let result = withLoop { loop in
      Result { () throws(SystemError) in try loop.write(source, bytes) }
    }
    switch result {
    case .success(let done): return (bytes.count, done)
    case .failure(let error):
      if written > 0 { return (bytes.count, 0) }  // the next write says why
      throw failure(error, of: source)
    }
  }

  /// A failed read or write as a value for the script.
  func failure(_ error: SystemError, of source: Loop.DescriptorSource) -> OperatingFailure {
    let label = source.name.isEmpty ? "descriptor \(source.fd)" : "fd '\(source.name)'"
    if error.name == "EAGAIN" {
      let what = error.call == "read" ? "there is nothing to read" : "there is no room to write"
      return OperatingFailure("\(label): \(what) now", error.name)
    }
    return OperatingFailure(
      "\(label): \(error.call) failed: \(error.message) (\(error.name))", error.name)
  }
}
