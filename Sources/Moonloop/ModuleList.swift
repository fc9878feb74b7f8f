// The module `moonloop`: which functions it has, and how a script gets it.

internal import LuaEmbed
internal import MoonloopCore

/// The functions of the module itself.
private let moduleFunctions: [(name: String, function: LuaRawFunction)] = [
  ("current", moduleCurrent),
  ("now", moduleNow),
  ("timer", moduleTimer),
  ("sleep", moduleSleep),
  ("timeout", moduleTimeout),
  ("source", moduleSource),
  ("fd", moduleDescriptor),
  ("observer", moduleObserver),
  ("port", modulePort),
]

extension Runtime {
  /// Makes the module and puts it where `require "moonloop"` finds it.
  func openModules() {
    let stack = state.stack
    stack.newTable(fields: Int32(moduleFunctions.count))
    for (name, function) in moduleFunctions {
      stack.push(name)
      stack.push(function: function)
      stack.rawSet(-3)
    }
    stack.push("await" as StaticString)
    stack.push(function: moduleAwait, then: moduleAwaitSecond)
    stack.rawSet(-3)
    state.popLoaded("moonloop", on: stack)
  }
}

/// `ml.current()`: the loop of this thread, always the same handle (D1).
private let moduleCurrent: LuaRawFunction = { L, context in
  host(L, context, "current") { call in
    call.stack.push(ref: call.runtime.loopRef)
    return 1
  }
}

/// `ml.now()`: seconds on the loop's clock (D7).
private let moduleNow: LuaRawFunction = { L, context in
  let runtime = Runtime.of(context)
  LuaStack(L: L!, state: runtime.state).push(Double(runtime.loop.kernel.now()) / 1e9)
  return 1
}
