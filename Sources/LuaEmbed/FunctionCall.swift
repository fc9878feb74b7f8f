// Calls of Lua functions with up to three arguments: the same as the general form in `Globals`, but
// written out, because the compiler does not specialise parameter packs in the program that calls.

internal import CLuaShims

/// A Lua function call that has begun: first its arguments are pushed, then it runs, then it ends.
///
/// It keeps its state open, and its own coroutine; do not store it.
@usableFromInline
struct LuaFunctionCall {
  private let body: Unmanaged<LuaStateBody>  // alive while a call is under way
  private let task: Int32
  /// Where the arguments go, and the results come from.
  @usableFromInline let stack: LuaStack

  @usableFromInline
  init(_ function: borrowing LuaFunction) throws(LuaError) {
    let list = function.reference.list
    try list.requireUse("LuaFunction")
    body = list.body
    var task: Int32 = 0
    let ref = function.reference.ref
    // Begun in here, so that no reference is counted: a call counts none.
    stack = body._withUnsafeGuaranteedRef { body in
      body.beginCall()
      return LuaStack(L: cml_task_take_with(body.record, ref, &task))
    }
    self.task = task
  }

  /// Runs the function.
  /// - Throws: What it raised; then the call is over.
  @usableFromInline
  func run(_ arguments: Int32) throws(LuaError) {
    let result = body._withUnsafeGuaranteedRef { cml_run($0.record, task, arguments, true) }
    if result.outcome != Int32(CML_RETURNED.rawValue) { throw failed(result) }
  }

  /// Ends a call that has returned.
  @usableFromInline
  func end() {
    body._withUnsafeGuaranteedRef { body in
      cml_task_give_back(body.record, task)
      body.endCall()
    }
  }

  @inline(never)
  private func failed(_ result: cml_result) -> LuaError {
    let body = body.takeUnretainedValue()
    defer { body.endCall() }
    return body.inner?.error(of: result, task) ?? .closed
  }

  /// Reads the result and ends the call.
  @inlinable
  func result<R: LuaReadable>() throws(LuaError) -> R {
    let value = R.read(stack, 1)
    guard let value else { throw misfit(R.self) }
    end()
    return value
  }

  @usableFromInline
  @inline(never)
  func misfit<R: LuaReadable>(_ type: R.Type) -> LuaError {
    defer { end() }
    return stack.misfit(type, 1)
  }
}

extension LuaFunction {
  /// Calls the function without arguments; its results are dropped.
  /// - Throws: `LuaError`; of kind `.nesting` if calls are nested too deeply.
  @inlinable
  public func callAsFunction() throws(LuaError) {
    let call = try LuaFunctionCall(self)
    try call.run(0)
    call.end()
  }

  /// Calls the function without arguments and reads its first result.
  /// - Throws: `LuaError`, also when the result is not of the type.
  @inlinable
  public func callAsFunction<R: LuaReadable>() throws(LuaError) -> R {
    let call = try LuaFunctionCall(self)
    try call.run(0)
    return try call.result()
  }

  /// Calls the function with an argument; its results are dropped.
  /// - Throws: `LuaError`: what the function raises.
  @inlinable
  public func callAsFunction<A: LuaPushable>(_ a: A) throws(LuaError) {
    let call = try LuaFunctionCall(self)
    a.push(on: call.stack)
    try call.run(1)
    call.end()
  }

  /// Calls the function with an argument and reads its first result.
  /// - Throws: `LuaError`, also when the result is not of the type.
  @inlinable
  public func callAsFunction<A: LuaPushable, R: LuaReadable>(_ a: A) throws(LuaError) -> R {
    let call = try LuaFunctionCall(self)
    a.push(on: call.stack)
    try call.run(1)
    return try call.result()
  }

  /// Calls the function with two arguments; its results are dropped.
  /// - Throws: `LuaError`: what the function raises.
  @inlinable
  public func callAsFunction<A: LuaPushable, B: LuaPushable>(_ a: A, _ b: B) throws(LuaError) {
    let call = try LuaFunctionCall(self)
    a.push(on: call.stack)
    b.push(on: call.stack)
    try call.run(2)
    call.end()
  }

  /// Calls the function with two arguments and reads its first result.
  /// - Throws: `LuaError`, also when the result is not of the type.
  @inlinable
  public func callAsFunction<A: LuaPushable, B: LuaPushable, R: LuaReadable>(
    _ a: A, _ b: B
  ) throws(LuaError) -> R {
    let call = try LuaFunctionCall(self)
    a.push(on: call.stack)
    b.push(on: call.stack)
    try call.run(2)
    return try call.result()
  }

  /// Calls the function with three arguments; its results are dropped.
  /// - Throws: `LuaError`: what the function raises.
  @inlinable
  public func callAsFunction<A: LuaPushable, B: LuaPushable, C: LuaPushable>(
    _ a: A, _ b: B, _ c: C
  ) throws(LuaError) {
    let call = try LuaFunctionCall(self)
    a.push(on: call.stack)
    b.push(on: call.stack)
    c.push(on: call.stack)
    try call.run(3)
    call.end()
  }

  /// Calls the function with three arguments and reads its first result.
  /// - Throws: `LuaError`, also when the result is not of the type.
  @inlinable
  public func callAsFunction<A: LuaPushable, B: LuaPushable, C: LuaPushable, R: LuaReadable>(
    _ a: A, _ b: B, _ c: C
  ) throws(LuaError) -> R {
    let call = try LuaFunctionCall(self)
    a.push(on: call.stack)
    b.push(on: call.stack)
    c.push(on: call.stack)
    try call.run(3)
    return try call.result()
  }
}
