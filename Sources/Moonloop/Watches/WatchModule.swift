// Watching files and folders in Lua: `loop:watch`, `ml.watch` (D31).

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// What a watch handle offers.
let watchEntries: [LuaEntry] =
  [
    .field("path") { host($0, $1, "watch.path", watchPath) }
  ] + itemEntries

private let watchOptions: [StaticString] = [
  "debounce", "recursive", "name", "modes", "keep_alive", "on_error", "handler",
]

/// How long it must be quiet before changes are reported; the default.
private let defaultDebounce: Int64 = 50_000_000

/// `loop:watch { path, handler, debounce, recursive, name, modes, … }`
func makeWatch(_ call: HostCall, _ entry: ItemEntry) throws -> Int32 {
  try call.requireRoom()
  let first = "the path is the first element: { \"app.lua\", function(watch, changes) … end }"
  let options = try call.options(
    entry.options, watchOptions,
    example: "{ \"app.lua\", function(watch, changes) … end }", unnamed: 2,
    hints: ["path": first, "watch": first])
  let path = try call.watchedPath(entry.options)
  let debounce = try options.seconds("debounce", .notNegative) ?? defaultDebounce
  let isRecursive = try options.boolean("recursive") ?? false
  let name = try options.name() ?? String(decoding: path, as: UTF8.self)
  let modes = try call.modesOption(options, entry)
  try options.pushSecondHandler()
  let kept = try call.remake(WatchKind.self, name, handlers: 1, options, modes: modes) { source in
    guard let watch = ScriptWatch.of(source) else { return false }
    return watch.given == path && watch.files.isRecursive == isRecursive
      && watch.debounce == debounce
  }
  if kept != nil { return 1 }
  let watch = try call.watch(path, isRecursive: isRecursive, name: name, debounce: debounce)
  watch.source.maker.state = watch
  call.push(call.kind(WatchKind.self), watch.source, handlers: 1)
  return try call.finish(watch.source, options, modes: modes)
}

extension HostCall {
  /// The path of the options at an index, without slashes at its end.
  fileprivate func watchedPath(_ index: Int32) throws(ScriptMistake) -> [UInt8] {
    defer { stack.pop() }
    guard stack.rawGet(index, item: 1) == .string,
      var path = stack.withBytes(-1, { Array($0) }), !path.isEmpty
    else {
      throw mistake("the path, the first element of the table, must be a string, got \(given(-1))")
    }
    if path.contains(0) {
      throw mistake("the path, the first element of the table, must not contain a zero byte")
    }
    while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
    return path
  }

  fileprivate func watch(
    _ path: [UInt8], isRecursive: Bool, name: String, debounce: Int64
  ) throws(OperatingFailure) -> ScriptWatch {
    guard loop.kernel is LinuxKernel else {
      throw OperatingFailure("\(self.name): a simulated system has no files", "ENOSYS")
    }
    do throws(SystemError) {
      let runtime = runtime
      let service: WatchService
      if let old = runtime.watches { service = old } else { service = try WatchService(loop) }
      runtime.watches = service
      let root = try WatchedPath(path)
      let files = try FileWatch(
        root, isRecursive: isRecursive, in: service.hub, limit: max(0, state.memoryLeft))
      return ScriptWatch(
        runtime, service, files, given: path, name: name, debounce: debounce)
    } catch {
      let failure = ScriptWatch.failure(error, path)
      throw OperatingFailure("\(self.name): \(failure.message)", failure.code)
    }
  }
}

/// `watch.path`: as it was given.
func watchPath(_ call: HostCall) throws -> Int32 {
  guard let watch = ScriptWatch.of(try call.selfItem(of: WatchKind.self)) else {
    call.stack.pushNil()
    return 1
  }
  watch.given.withUnsafeBytes { call.stack.push(bytes: $0) }
  return 1
}
