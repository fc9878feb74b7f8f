// The modules that are written in Lua: loaded by `require`, by a field of the module, or by
// one of its functions.

internal import Glibc
internal import LuaEmbed
internal import MoonloopCompat
internal import MoonloopCore
internal import MoonloopLua

/// The fields of `moonloop` that are modules in Lua, loaded when first asked for.
private let lazyFields: [(field: StaticString, module: StaticString)] = [
  ("http", "moonloop.http"),
  ("fs", "moonloop.fs"),
  ("inspect", "moonloop.inspect"),
  ("json", "moonloop.json"),
  ("log", "moonloop.log"),
  ("workers", "moonloop.workers"),
]

/// Modules for use by our own.
let hiddenModules = [
  posixModule, filesModule, tapeModule, generationModule, sinkModule, warningModule, logCountModule,
  leavingModule,
]

/// The loader of a module of ours, by its name: what `require` finds in `package.preload`.
let sourceIndex: LuaRawFunction = { L, context in
  host(L, context, "index") { call in
    guard let name = call.stack.string(2) else { return LuaStatus.results(0) }
    if !call.runtime.granted.capabilities.allowsModule(name) { return call.pushOwnModule(name) }
    if let module = hiddenModules.first(where: { $0.name == name }) {
      let state = call.state
      call.stack.push(closure: name) { [unowned state] stack in  // the state has the closure
        state.push(module: module, on: stack)
        return 1
      }
      return LuaStatus.results(1)
    }
    if name == "moonloop.http.heads" {
      call.stack.push(cFunction: cmo_open_heads)
      return LuaStatus.results(1)
    }
    guard let source = source(of: name) else {
      guard call.state.hasProgramHooks else { return LuaStatus.results(0) }
      // These stop the loop while they wait, which a program reports.
      if name == "socket.core" {
        try call.pushSource("return require('moonloop.compat.socket.stock').open(...)")
      } else if name.hasPrefix("luasql.") {
        try call.pushSource("return require('moonloop.compat.luasql').open(...)")
      } else {
        return LuaStatus.results(0)
      }
      return LuaStatus.results(1)
    }
    call.stack.push(
      loaderOf: UnsafeBufferPointer(start: source.text, count: strlen(source.text)),
      chunkName: source.chunk)
    return LuaStatus.results(1)
  }
}

private func source(of name: String) -> cmo_source? {
  for sources in sourceLists {
    if let found = sources.first(where: { String(cString: $0.module) == name }) { return found }
  }
  return nil
}

/// The text of a module of ours; nil if there is none with this name.
func sourceText(of name: String) -> String? {
  source(of: name).map { String(cString: $0.text) }
}

private var sourceLists: [UnsafeBufferPointer<cmo_source>] {
  [cmo_sources, cmo_compat_sources].map { list in
    var count = 0
    return UnsafeBufferPointer(start: list(&count), count: count)
  }
}

/// Reads a field that the module does not have: one of `lazyFields`, or else a mistake.
let moduleIndex: LuaRawFunction = { L, context in
  host(L, context, "ml") { call in
    let stack = call.stack
    guard stack.type(2) == .string, let key = stack.string(2) else { return LuaStatus.results(0) }
    guard let found = lazyFields.first(where: { "\($0.field)" == key }) else {
      if key == "parent" { return LuaStatus.results(0) }  // only workers have one
      throw call.unknownField(key)
    }
    try call.pushSource("return (require(...))")
    stack.push(found.module)
    return LuaStatus.call(arguments: 1)
  }
}

/// The second half: what `require` returned becomes the field; a table gets no fields but its own.
let moduleIndexSecond: LuaRawFunction = { L, context in
  let stack = LuaStack(L: L!)
  if stack.type(3) == .table { setFieldNames(on: stack) }
  stack.pushValue(2)
  stack.pushValue(3)
  stack.rawSet(1)
  stack.pushValue(3)
  return LuaStatus.results(1)
}

/// The first half of a function in a Lua module: its chunk is called with the arguments.
func callSource(
  _ L: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ name: StaticString,
  _ chunk: StaticString
) -> Int32 {
  host(L, context, name) { call in try call.callSource(chunk) }
}

/// The second half: the results, unchanged.
let sourceResults: LuaRawFunction = { L, _ in LuaStatus.results(Int32(LuaStack(L: L!).count)) }

/// What other libraries call our functions, where the spelling alone would lead astray.
private let wordsElsewhere = [
  "ml.fs": [
    "exists": "stat", "is_file": "stat", "isfile": "stat", "is_dir": "stat", "isdir": "stat",
    "size": "stat", "lstat": "stat", "unlink": "remove", "rm": "remove", "rmdir": "remove",
    "delete": "remove", "cp": "copy", "mv": "rename", "move": "rename", "readdir": "list",
    "scandir": "list", "dir": "list", "ls": "list", "read_file": "read", "readfile": "read",
    "write_file": "write", "writefile": "write", "symlink": "link", "readlink": "target",
  ],
  "ml.process": ["exec": "run", "execute": "run", "system": "run", "popen": "spawn"],
]

/// Reads a field that a table of functions does not have, such as one of `ml.net`.
let innerModuleIndex: LuaRawFunction = { L, context in
  host(L, context, "ml") { call in
    guard call.stack.type(2) == .string, let key = call.stack.string(2) else { return 0 }
    let table = call.nameOfTable()
    let hint =
      wordsElsewhere[table]?[key].map { "did you mean '\($0)'?" }
      ?? suggestion(for: key, among: call.names(), list: "there are ")
    let mistake = call.mistake("unknown field '\(key)'", hint: hint)
    return call.state.raise(mistake, in: table, on: call.stack)
  }
}

extension HostCall {
  /// The module has no field of this name: suggests the nearest word, possibly a method of the
  /// loop.
  fileprivate func unknownField(_ key: String) -> ScriptMistake {
    let ofLoop = loopEntries.first { "\($0.name)" == key && $0.form != .metamethod }
    if let ofLoop {
      let call = ofLoop.form == .field ? ".\(key)" : ":\(key)(…)"
      return mistake("unknown field '\(key)'", hint: "loops have it: ml.current()\(call)")
    }
    let names = Set(names() + lazyFields.map { "\($0.field)" }).sorted()
    if LuaText.nearest(to: key, among: ["loop"] + names) == "loop" {
      return mistake("unknown field '\(key)'", hint: "the loop of this thread is ml.current()")
    }
    return mistake(
      "unknown field '\(key)'", hint: suggestion(for: key, among: names, list: "there are "))
  }

  /// What the module calls the table at 1, for an error.
  fileprivate func nameOfTable() -> String {
    stack.push(runtime.module)
    stack.pushNil()
    while stack.next(-2) {
      if stack.isSame(-1, 1), let name = stack.string(-2) { return "ml.\(name)" }
      stack.pop()
    }
    return "ml"
  }

  /// The names of the fields of the table at 1, in order.
  fileprivate func names() -> [String] {
    var names: [String] = []
    stack.pushNil()
    while stack.next(1) {
      stack.pop()
      if stack.type(-1) == .string, let name = stack.string(-1) { names.append(name) }
    }
    return names.sorted()
  }

  /// Calls one of our chunks with the arguments.
  func callSource(_ chunk: StaticString) throws -> Int32 {
    try pushSource(chunk)
    stack.rotate(1, 1)  // below its arguments
    return LuaStatus.call(arguments: count - 1)
  }

  /// Compiles a line of ours and pushes the function. [-0, +1]
  fileprivate func pushSource(_ chunk: StaticString) throws {
    do { try state.load("\(chunk)", name: "=moonloop", on: stack) } catch {
      throw OperatingFailure(error.message, "ENOMEM")
    }
  }
}
