// Globals, and Lua functions that Swift calls.

internal import CLuaShims

/// A Lua function that Swift keeps; it may be dropped on any thread.
///
/// It is not Sendable. What the compiler does not see is checked: a call on a thread that is not
/// the state's stops the program and names both.
public struct LuaFunction: LuaReadable, LuaPushable {
  let reference: LuaReference

  /// What messages call it.
  public static var luaTypeName: String { "function" }

  /// Reads the value in a slot; nil if it is of another type.
  public static func read(_ slot: borrowing LuaSlot) -> LuaFunction? {
    let (stack, index) = (slot.stack, slot.index)
    guard stack.type(index) == .function else { return nil }
    cml_pushvalue(stack.L, index)
    return LuaFunction(reference: LuaReference(popping: stack))
  }

  /// Puts the value in a seat.
  public func push(to seat: inout LuaSeat) { reference.push(to: &seat) }

  /// Calls the function; its results are dropped.
  /// - Throws: `LuaError`; of kind `.nesting` if calls are nested too deeply.
  public func callAsFunction<each A: LuaPushable>(_ arguments: repeat each A) throws(LuaError) {
    try reference.state(for: "LuaFunction").withCall(
      "LuaFunction",
      push: { stack throws(LuaError) in try pushCall(stack, repeat each arguments) },
      read: { (_, _) throws(LuaError) in })
  }

  /// Calls the function and reads its first result.
  /// - Throws: `LuaError`, also when the result is not of the type.
  public func callAsFunction<each A: LuaPushable, R: LuaReadable>(_ arguments: repeat each A)
    throws(LuaError) -> R
  {
    try reference.state(for: "LuaFunction").withCall(
      "LuaFunction",
      push: { stack throws(LuaError) in try pushCall(stack, repeat each arguments) },
      read: { (stack, _) throws(LuaError) in try stack.result(1) })
  }

  func pushCall<each A: LuaPushable>(_ stack: LuaStack, _ arguments: repeat each A)
    throws(LuaError) -> Int
  {
    push(on: stack)
    var count = 0
    for argument in repeat each arguments {
      guard stack.reserve(8) else { throw LuaError(message: "too many arguments") }
      argument.push(on: stack)
      count += 1
    }
    return count
  }
}

/// The global names of a state, read and written without metamethods.
public struct LuaGlobals {
  let state: LuaState

  /// A global function, or nil if there is none with that name.
  public subscript(function name: String) -> LuaFunction? { self[name] }

  /// A global of a type, or nil if it is of another.
  public subscript<Value: LuaReadable>(name: String) -> Value? {
    guard state.body.isUsable("globals") else { return nil }
    state.body.beginCall()
    defer { state.body.endCall() }
    let stack = state.stack
    stack.requireRoom("globals")
    stack.pushGlobal(name)
    defer { stack.pop() }
    return Value.read(stack, -1)
  }
}

extension LuaState {
  /// The global names.
  public var globals: LuaGlobals { LuaGlobals(state: self) }

  /// Compiles a file and runs it. A first line that begins with `#` is skipped; binary chunks are
  /// refused.
  /// - Throws: `LuaError` of kind `.file` if it cannot be read, `.syntax`, or what running it
  /// raises.
  public func run(file path: String) throws(LuaError) {
    try evaluate("run", file: path) { (_, _) throws(LuaError) in }
  }

  /// Runs a file and reads its results.
  package func evaluate<R>(
    _ what: StaticString, file path: String, _ read: (LuaStack, Int) throws(LuaError) -> R
  ) throws(LuaError) -> R {
    try withCall(
      what,
      push: { stack throws(LuaError) in
        try load(file: path, on: stack)
        return 0
      },
      read: read)
  }

  /// Pushes the compiled file; nil is standard input. [-0, +1, raises: -]
  func load(file path: String?, on stack: LuaStack) throws(LuaError) {
    let status =
      path.map { cml_load_file(stack.L, $0, "t") } ?? cml_load_file(stack.L, nil, "t")
    guard status == 0 else {
      let message = LuaText.clean(stack.string(-1) ?? "cannot load")
      stack.pop()
      throw LuaError(kind: status == 6 ? .file : .syntax, message: message)  // 6: LUA_ERRFILE
    }
  }
}

extension LuaReference: LuaPushable {
  /// Puts the value in a seat.
  public func push(to seat: inout LuaSeat) { put(on: seat.take()) }
}
