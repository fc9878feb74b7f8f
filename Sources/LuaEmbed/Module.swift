// Modules of functions that `require` returns, and modules in Lua.

internal import CLuaShims

/// A module: a table of functions that `require` returns.
package struct LuaModule: Sendable {
  package let name: String
  let entries: [LuaEntry]

  package init(_ name: String, _ entries: [LuaEntry]) {
    self.name = name
    self.entries = entries
  }
}

extension LuaState {
  /// Pushes a new table with the functions of a module. [-0, +1, raises: -]
  package func push(module: LuaModule, on stack: LuaStack) {
    stack.newTable(fields: Int32(module.entries.count))
    for entry in module.entries where entry.form != .field {  // set by the code that opens it
      stack.push(entry.name)
      if let second = entry.second {
        stack.push(function: entry.function, then: second)
      } else {
        stack.push(function: entry.function)
      }
      stack.rawSet(-3)
    }
  }

  /// Makes `require(name)` return the module; its table is made now. [-0, +0, raises: -]
  package func preload(_ module: LuaModule) {
    let stack = self.stack
    push(module: module, on: stack)
    let reference = LuaReference(popping: stack)
    LuaHostFunction(module.name) { stack in
      stack.push(reference)
      return 1
    }.push(on: stack)
    cml_preload(stack.L, module.name)
  }

  /// Makes `require(name)` return what a function pushes. [-0, +0, raises: -]
  package func preload(_ name: String, loader: LuaRawFunction) {
    stack.push(function: loader)
    cml_preload(stack.L, name)
  }

  /// Makes `require` ask a function for what is not preloaded: it gets a table and the name of the
  /// module, and pushes a loader or nothing. [-0, +0, raises: -]
  package func preload(by function: LuaRawFunction) {
    stack.push(function: function)
    cml_preload_by(stack.L)
  }
}

extension LuaStack {
  /// Pushes a loader that compiles and runs text that the program holds forever.
  /// [-0, +1, raises: -]
  /// - Parameter chunkName: Such as `@moonloop/task.lua`.
  package func push(
    loaderOf source: UnsafeBufferPointer<CChar>, chunkName: UnsafePointer<CChar>
  ) {
    cml_push_source(L, source.baseAddress, source.count, chunkName)
  }

  /// Pushes a function of C that Lua calls without the host in between, so that it may raise.
  /// [-0, +1, raises: -]
  package func push(cFunction: @convention(c) (OpaquePointer?) -> Int32) {
    cml_push_c_function(L, cFunction)
  }
}
