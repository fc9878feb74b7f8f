// The module `moonloop`: how a script gets it, and its smallest functions.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// The functions of the module itself; the kinds of items add theirs.
let moduleEntries: [LuaEntry] = [
  .function("current") { host($0, $1, "ml.current", moduleCurrent) },
  .function("now", moduleNow),
  .function("configure", moduleConfigure, then: sourceResults),
  .function("limit") { hostAction($0, $1, "ml.limit", moduleLimit) },
  .function("break_here", moduleBreakHere, then: sourceResults),
  .function("wall_time", moduleWallTime),
  .function("sleep") { host($0, $1, "ml.sleep", moduleSleep) },
  .function("timeout") { host($0, $1, "ml.timeout", moduleTimeout) },
  .function("await", moduleAwait, then: moduleAwaitSecond),
  .function("channel") { host($0, $1, "ml.channel", moduleChannel) },
  .function("semaphore") { host($0, $1, "ml.semaphore", moduleSemaphore) },
  .function("freeze") { host($0, $1, "ml.freeze", moduleFreeze) },
]

extension LuaState {
  /// Makes the module and puts it where `require "moonloop"` finds it.
  func openModules() -> LuaReference {
    push(module: LuaModule("moonloop", moduleEntries + moduleKindEntries), on: stack)
    for module in innerModules {
      stack.push(module.name)
      push(module: module, on: stack)
      let isPort = module.name == "port"
      setMetatable(isPort ? modulePort : nil, then: isPort ? sourceResults : nil, on: stack)
      stack.rawSet(-3)
    }
    pushReloading(on: stack)
    stack.pushValue(-1)
    let module = LuaReference(popping: stack)
    stack.newTable(fields: 1)
    stack.setField("__index") { stack.push(function: moduleIndex, then: moduleIndexSecond) }
    stack.popMetatable(of: -2)
    popLoaded("moonloop", on: stack)
    preloadMessages()
    preload(by: sourceIndex)
    return module
  }

  /// Gives the table on top a metatable, so that it can be called and has no other fields.
  /// `ml.port { … }` makes a port; its fields are for named ones. [-0, +0, raises: -]
  /// - Parameter then: The second half of a function that may call one of our Lua modules.
  fileprivate func setMetatable(
    _ function: LuaRawFunction?, then: LuaRawFunction? = nil, on stack: LuaStack
  ) {
    setFieldNames(on: stack) {
      guard let function else { return }
      stack.push("__call")
      if let then {
        stack.push(function: function, then: then)
      } else {
        stack.push(function: function)
      }
      stack.rawSet(-3)
    }
  }

  /// Puts `ml.reload`, which is called and has functions, into the module on top of the stack.
  private func pushReloading(on stack: LuaStack) {
    stack.push("reload")
    push(module: LuaModule("reload", reloadEntries), on: stack)
    setMetatable(moduleReload, on: stack)
    stack.rawSet(-3)
  }
}

/// Gives the table on top a metatable, so that reading a missing field raises an error with the
/// nearest name. [-0, +0, raises: -]
/// - Parameter more: Sets more fields of the metatable, which is on top.
func setFieldNames(on stack: LuaStack, _ more: () -> Void = {}) {
  stack.newTable(fields: 2)
  more()
  stack.setField("__index") { stack.push(function: innerModuleIndex) }
  stack.popMetatable(of: -2)
}

/// `ml.current()`: the loop of this thread, always the same handle (D1).
func moduleCurrent(_ call: HostCall) throws -> Int32 {
  call.runtime.names.pushLoop(call.stack)
  return 1
}

/// `ml.wall_time()`: seconds since 1970, by the wall clock as the loop's clock sees it.
let moduleWallTime: LuaRawFunction = { L, context in
  LuaStack(L: L!).push(Double(Runtime.of(context).loop.kernel.wallTime()) / 1e9)
  return 1
}

/// `ml.now()`: seconds on the loop's clock (D7).
let moduleNow: LuaRawFunction = { L, context in
  let nanoseconds = Runtime.with(context) { $0.withLoop { $0.now.nanoseconds } }
  LuaStack(L: L!).push(Double(nanoseconds) / 1e9)
  return 1
}

/// The tables of functions in the module, such as `ml.process`.
private let innerModules: [LuaModule] = [
  LuaModule("process", processModuleEntries),
  LuaModule("tty", terminalModuleEntries),
  LuaModule("net", netEntries),
  LuaModule("port", namedPortEntries),
]
