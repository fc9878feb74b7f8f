// Swift closures as Lua functions. Swift returns a status; the C side raises once there is no Swift
// frame left to jump over.

internal import CLuaShims

/// A Swift closure that Lua holds: it reads its arguments from the stack and pushes its results.
@usableFromInline
final class LuaHostFunction {
  /// Returns how many results it pushed.
  @usableFromInline typealias Body = (LuaStack) throws -> Int
  let name: String
  let body: Body

  init(_ name: String, _ body: @escaping Body) {
    self.name = name
    self.body = body
  }

  /// Pushes it as a function. [-0, +1, raises: -]
  func push(on stack: LuaStack) {
    cml_push_function(
      stack.L, callHostFunction, Unmanaged.passRetained(self).toOpaque(), releaseHostFunction)
  }

  /// Pushes it as the bare cell that a kind uses for getters and setters. [-0, +1, raises: -]
  func pushCell(on stack: LuaStack) {
    cml_push_cell(
      stack.L, callHostFunction, Unmanaged.passRetained(self).toOpaque(), releaseHostFunction)
  }
}

private func callHostFunction(_ L: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
  // Lua's cell keeps the function: no reference is counted here.
  Unmanaged<LuaHostFunction>.fromOpaque(context!)._withUnsafeGuaranteedRef { function in
    let stack = LuaStack(L: L!)
    do {
      return Int32(truncatingIfNeeded: try function.body(stack))
    } catch {
      return stack.state.raise(error, in: function.name, on: stack)
    }
  }
}

private func releaseHostFunction(_ context: UnsafeMutableRawPointer?) {
  Unmanaged<LuaHostFunction>.fromOpaque(context!).release()
}

extension LuaState {
  /// Leaves on the stack what a thrown error becomes, and returns the status for C.
  @inline(never)
  package func raise(_ error: any Error, in name: String, on stack: LuaStack) -> Int32 {
    switch error {
    case let failure as LuaFailure:
      stack.pushNil()
      stack.push(failure.message)
      if let code = failure.code { stack.push(code) } else { stack.pushNil() }
      return 3
    case let mistake as LuaArgumentError:
      stack.push(mistake.message(in: name, site: stack.site))
      return Int32(CML_RAISE)
    default:
      push(error: error, on: stack)
      return Int32(CML_RAISE)
    }
  }

  /// Makes a Swift closure a global function.
  ///
  /// Arguments and result are converted by their Swift types; a missing or wrong argument is an
  /// error at the caller's line. A thrown `LuaFailure` becomes `nil, message, code`; any other
  /// error is raised and, if it comes back to Swift, is still the same error.
  @inlinable
  public func register<each A: LuaReadable, R: LuaPushable>(
    _ name: String, _ body: @escaping (repeat each A) throws -> R
  ) {
    setFunction(name) { stack in
      var index: Int32 = 0
      try body(repeat stack.next((each A).self, &index)).push(on: stack)
      return 1
    }
  }

  /// Makes a Swift closure without a result, or with several in a tuple, a global function.
  public func register<each A: LuaReadable, each R: LuaPushable>(
    _ name: String, _ body: @escaping (repeat each A) throws -> (repeat each R)
  ) { setFunction(name, plain(body)) }

  /// Makes a Swift closure that gets this state first a global function.
  ///
  /// So it need not capture the state, which would keep it alive forever.
  public func register<each A: LuaReadable, R: LuaPushable>(
    _ name: String, _ body: @escaping (LuaState, repeat each A) throws -> R
  ) { registerWithState(name, body) }

  /// Makes a closure that gets this state first a global function.
  ///
  /// It has no result, or several in a tuple.
  public func register<each A: LuaReadable, each R: LuaPushable>(
    _ name: String, _ body: @escaping (LuaState, repeat each A) throws -> (repeat each R)
  ) { registerWithState(name, body) }

  private func registerWithState<each A: LuaReadable, each R: LuaPushable>(
    _ name: String, _ body: @escaping (LuaState, repeat each A) throws -> (repeat each R)
  ) {
    guard self.body.isUsable("register") else { return }
    setFunction(name) { [unowned state = inner] stack in  // lives until the state is closed
      var index: Int32 = 0
      let results = try body(state, repeat stack.next((each A).self, &index))
      return try stack.results(repeat each results)
    }
  }

  @usableFromInline
  func setFunction(_ name: String, _ body: @escaping (LuaStack) throws -> Int) {
    guard self.body.isUsable("register") else { return }
    self.body.beginCall()
    defer { self.body.endCall() }
    let stack = self.stack
    LuaHostFunction(name, body).push(on: stack)
    setGlobal(name, on: stack)
  }

  /// Defines what `require(name)` returns: a table of what the closure registers and sets.
  ///
  /// ```swift
  /// lua.module("app") { app in
  ///   app.register("version") { () in "1.2" }
  /// }
  /// ```
  /// - Parameters:
  ///   - name: The module's name. A script that has already loaded it keeps what it got.
  ///   - define: Gets this state; `register` and `set` go to the module meanwhile.
  /// - Throws: What the closure throws; the module is then not defined.
  /// - Note: For the state's thread.
  public func module(_ name: String, _ define: (LuaState) throws -> Void) rethrows {
    guard body.isUsable("module") else { return }
    body.beginCall()
    defer { body.endCall() }
    let stack = self.stack
    stack.newTable()
    let table = LuaReference(popping: stack)
    let outer = body.definition
    body.definition = table
    defer { body.definition = outer }
    try define(self)
    LuaHostFunction(name) { stack in
      stack.push(table)
      return 1
    }.push(on: stack)
    cml_preload(stack.L, name)
  }

  /// Pops the top value into a global, or into the module under definition, without
  /// metamethods. [-1, +0, raises: -]
  package func setGlobal(_ name: String, on stack: LuaStack) {
    if let definition = body.definition {
      stack.push(definition)
    } else {
      _ = cml_rawgeti(stack.L, registryIndex, 2)  // LUA_RIDX_GLOBALS
    }
    stack.push(name)
    cml_rotate(stack.L, -3, -1)
    cml_rawset(stack.L, -3)
    stack.pop()
  }
}

extension LuaStack {
  /// Reads the next argument, or throws what is wrong with it.
  @inlinable
  package func next<T: LuaReadable>(_ type: T.Type, _ index: inout Int32) throws(LuaArgumentError)
    -> T
  {
    index += 1
    guard let value = T.read(self, index) else { throw mistake(index, T.self) }
    return value
  }

  func mismatch(_ index: Int32, _ expected: String) -> LuaArgumentError {
    LuaArgumentError(
      argumentName(index), mustBe: LuaText.withArticle(expected), got: given(index))
  }

  /// " (app.lua:12)" where the script called, or "".
  package var site: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(CML_SITE_BYTES)) { buffer in
      cml_site(L, buffer.baseAddress!)
      return String(cString: buffer.baseAddress!)
    }
  }
}
