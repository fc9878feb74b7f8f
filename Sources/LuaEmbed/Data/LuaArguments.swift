// Any number of arguments and results.

internal import CLuaShims

/// All arguments from some position on, or all results of a call.
///
/// ```swift
/// lua.register("log") { (level: String, rest: LuaArguments) in print(level, rest.values) }
/// lua.register("swap") { (all: LuaArguments) in LuaArguments(all.values.reversed()) }
/// ```
public struct LuaArguments: LuaReadable, LuaResults {
  /// The values, including nil; arguments omitted at the end are missing.
  public var values: [LuaValue]

  /// Makes a list of results.
  public init(_ values: [LuaValue]) { self.values = values }

  /// What messages call it.
  public static var luaTypeName: String { "values" }

  /// Reads the value in a slot and all after it.
  /// - Complexity: O(n) in the values.
  public static func read(_ slot: borrowing LuaSlot) -> LuaArguments? {
    let (stack, first) = (slot.stack, slot.index)
    let end = cml_gettop(stack.L)
    guard first > 0, first <= end else { return LuaArguments([]) }
    return LuaArguments((first...end).map { LuaValue.read(stack, $0) ?? .nil })
  }

  /// How many there are.
  public var count: Int { values.count }

  /// The value at an index, counted from 0; `.nil` after the last.
  public subscript(_ place: Int) -> LuaValue {
    values.indices.contains(place) ? values[place] : .nil
  }

  /// The results in their order.
  public var results: LuaArguments { self }
}

/// The result type of a closure with several results: `LuaArguments`, or a type of your own.
public protocol LuaResults {
  /// The results in their order.
  var results: LuaArguments { get }
}

extension LuaStack {
  /// Pushes the results of a closure, and returns how many there are. [-0, +n, raises: -]
  package func results<each R: LuaPushable>(
    _ values: repeat each R
  ) throws(LuaArgumentError) -> Int {
    var count = 0
    for value in repeat each values {
      guard reserve(8) else { throw LuaArgumentError("too many results") }
      value.push(on: self)
      count += 1
    }
    return count
  }

  /// The same for results in a list.
  func results(in list: some LuaResults) throws(LuaArgumentError) -> Int {
    let values = list.results.values
    guard reserve(values.count + 8) else { throw LuaArgumentError("too many results") }
    for value in values { value.push(on: self) }
    return values.count
  }

  /// Decodes the next argument, or throws what is wrong with it.
  func decoded<T: Decodable>(_ type: T.Type, _ index: inout Int32) throws(LuaArgumentError) -> T {
    try next(LuaCoded<T>.self, &index).value
  }
}

// MARK: - Closures without an object before their arguments

/// Reads arguments and pushes results, by their Swift types.
func plain<each A: LuaReadable, each R: LuaPushable>(
  _ body: @escaping (repeat each A) throws -> (repeat each R)
) -> LuaHostFunction.Body {
  { stack in
    var index: Int32 = 0
    let results = try body(repeat stack.next((each A).self, &index))
    return try stack.results(repeat each results)
  }
}

/// Reads arguments by their Swift types, and pushes a list of results.
func listing<each A: LuaReadable, R: LuaResults>(
  _ body: @escaping (repeat each A) throws -> R
) -> LuaHostFunction.Body {
  { stack in
    var index: Int32 = 0
    return try stack.results(in: body(repeat stack.next((each A).self, &index)))
  }
}

/// Decodes arguments and encodes results.
func coded<each A: Decodable, each R: Encodable>(
  _ body: @escaping (repeat each A) throws -> (repeat each R)
) -> LuaHostFunction.Body {
  { stack in
    var index: Int32 = 0
    let results = try body(repeat stack.decoded((each A).self, &index))
    return try stack.push(coded: repeat each results)
  }
}

extension LuaState {
  /// Makes a Swift closure with any number of results a global function.
  public func register<each A: LuaReadable, R: LuaResults>(
    _ name: String, _ body: @escaping (repeat each A) throws -> R
  ) { setFunction(name, listing(body)) }

  /// Makes a closure that gets this state first a global function, with any number of results.
  public func register<each A: LuaReadable, R: LuaResults>(
    _ name: String, _ body: @escaping (LuaState, repeat each A) throws -> R
  ) {
    guard self.body.isUsable("register") else { return }
    setFunction(name) { [unowned state = inner] stack in  // lives until the state is closed
      var index: Int32 = 0
      return try stack.results(in: body(state, repeat stack.next((each A).self, &index)))
    }
  }

  /// Makes a Swift closure whose arguments and result are Codable a global function; see
  /// `LuaCoded`. If the arguments are plain and the closure is one expression, declare its result:
  /// `{ (id: Int) -> Reply in … }`.
  @_disfavoredOverload
  public func register<each A: Decodable, R: Encodable>(
    _ name: String, _ body: @escaping (repeat each A) throws -> R
  ) { setFunction(name, coded(body)) }

  /// Makes a Swift closure with Codable arguments, and no result, or several, a global function.
  @_disfavoredOverload
  public func register<each A: Decodable, each R: Encodable>(
    _ name: String, _ body: @escaping (repeat each A) throws -> (repeat each R)
  ) { setFunction(name, coded(body)) }

  /// Makes a closure with Codable values that gets this state first a global function.
  @_disfavoredOverload
  public func register<each A: Decodable, R: Encodable>(
    _ name: String, _ body: @escaping (LuaState, repeat each A) throws -> R
  ) { registerWithState(name, coded: body) }

  /// Makes a closure with Codable values that gets this state first a global function.
  ///
  /// It has no result, or several in a tuple.
  @_disfavoredOverload
  public func register<each A: Decodable, each R: Encodable>(
    _ name: String, _ body: @escaping (LuaState, repeat each A) throws -> (repeat each R)
  ) { registerWithState(name, coded: body) }

  private func registerWithState<each A: Decodable, each R: Encodable>(
    _ name: String,
    coded body: @escaping (LuaState, repeat each A) throws -> (repeat each R)
  ) {
    guard self.body.isUsable("register") else { return }
    setFunction(name) { [unowned state = inner] stack in  // lives until the state is closed
      var index: Int32 = 0
      let results = try body(state, repeat stack.decoded((each A).self, &index))
      return try stack.push(coded: repeat each results)
    }
  }

  /// Makes a Lua function from a Swift closure, for use as an argument, a result or a field.
  /// - Parameters:
  ///   - name: What errors call it.
  ///   - body: What it does.
  /// - Throws: `LuaError` if the state has ended.
  public func function<each A: LuaReadable, R: LuaPushable>(
    _ name: String = "function", _ body: @escaping (repeat each A) throws -> R
  ) throws(LuaError) -> LuaFunction { try make(name, plain(body)) }

  /// Makes a Lua function from a Swift closure without a result, or with several in a tuple.
  /// - Throws: `LuaError` if the state has ended.
  public func function<each A: LuaReadable, each R: LuaPushable>(
    _ name: String = "function", _ body: @escaping (repeat each A) throws -> (repeat each R)
  ) throws(LuaError) -> LuaFunction { try make(name, plain(body)) }

  /// Makes a Lua function from a Swift closure with any number of results.
  /// - Throws: `LuaError` if the state has ended.
  public func function<each A: LuaReadable, R: LuaResults>(
    _ name: String = "function", _ body: @escaping (repeat each A) throws -> R
  ) throws(LuaError) -> LuaFunction { try make(name, listing(body)) }

  /// Makes a Lua function from a Swift closure whose arguments and result are Codable.
  /// - Throws: `LuaError` if the state has ended.
  @_disfavoredOverload
  public func function<each A: Decodable, R: Encodable>(
    _ name: String = "function", _ body: @escaping (repeat each A) throws -> R
  ) throws(LuaError) -> LuaFunction { try make(name, coded(body)) }

  /// Makes a Lua function from a Swift closure with Codable arguments, and no result, or several.
  /// - Throws: `LuaError` if the state has ended.
  @_disfavoredOverload
  public func function<each A: Decodable, each R: Encodable>(
    _ name: String = "function", _ body: @escaping (repeat each A) throws -> (repeat each R)
  ) throws(LuaError) -> LuaFunction { try make(name, coded(body)) }

  private func make(
    _ name: String, _ body: @escaping (LuaStack) throws -> Int
  ) throws(LuaError) -> LuaFunction {
    try self.body.requireOpen("function")
    self.body.beginCall()
    defer { self.body.endCall() }
    LuaHostFunction(name, body).push(on: stack)
    return LuaFunction(reference: LuaReference(popping: stack))
  }
}

// MARK: - Results

extension LuaState {
  /// Compiles text, runs it, and reads all its results.
  /// - Throws: `LuaError`.
  public func evaluate(_ chunk: String, name: String = "=chunk") throws(LuaError) -> LuaArguments {
    try evaluate(chunk, name) { (stack, _) throws(LuaError) in
      LuaArguments.read(stack, 1) ?? LuaArguments([])
    }
  }

  /// Compiles text, runs it, and reads as many results as the tuple has.
  /// - Throws: `LuaError`, also when a result is not of its type.
  @_disfavoredOverload
  public func evaluate<each R: LuaReadable>(_ chunk: String, name: String = "=chunk")
    throws(LuaError) -> (repeat each R)
  {
    try evaluate(chunk, name) { (stack, _) throws(LuaError) in
      var index: Int32 = 0
      do throws(LuaArgumentError) {
        return (repeat try stack.next((each R).self, &index))
      } catch {
        throw LuaError(message: "result" + error.problem.dropFirst("argument".count))
      }
    }
  }

  /// Compiles text, runs it, and decodes its first result.
  /// - Throws: `LuaError` that names the place, such as `routes[2].port: must be an integer`.
  @_disfavoredOverload
  public func evaluate<R: Decodable>(_ chunk: String, name: String = "=chunk") throws(LuaError)
    -> R
  {
    try evaluate(chunk, name) { (stack, _) throws(LuaError) in
      do throws(LuaDataFailure) { return try stack.decode(R.self, 1) } catch {
        throw error.error()
      }
    }
  }

  func evaluate<R>(
    _ chunk: String, _ name: String, _ read: (LuaStack, Int) throws(LuaError) -> R
  ) throws(LuaError) -> R {
    try withCall(
      "evaluate",
      push: { stack throws(LuaError) in
        try load(chunk, name: name, on: stack)
        return 0
      },
      read: read)
  }

  /// Encodes a value as a global.
  /// - Throws: `LuaError` if it cannot be encoded, such as a number too large for Lua.
  @_disfavoredOverload
  public func set<Value: Encodable>(_ name: String, _ value: Value) throws(LuaError) {
    try body.requireOpen("set")
    body.beginCall()
    defer { body.endCall() }
    let stack = self.stack
    stack.requireRoom("set")
    try LuaEncoding.push(value, on: stack)
    setGlobal(name, on: stack)
  }

  /// Decodes a global.
  /// - Throws: `LuaError` that names the place, such as `config.routes[2].port: must be …`.
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self, global name: String)
    throws(LuaError) -> Value
  {
    try body.requireOpen("decode")
    body.beginCall()
    defer { body.endCall() }
    let stack = self.stack
    stack.requireRoom("decode")
    stack.pushGlobal(name)
    defer { stack.pop() }
    do throws(LuaDataFailure) { return try stack.decode(Value.self, -1) } catch {
      throw error.error(at: name)
    }
  }
}

extension LuaFunction {
  /// Calls the function and decodes its first result.
  /// - Throws: `LuaError`, also when the result does not fit.
  @_disfavoredOverload
  public func callAsFunction<each A: LuaPushable, R: Decodable>(_ arguments: repeat each A)
    throws(LuaError) -> R
  {
    let result: LuaCoded<R> = try self(repeat each arguments)
    return result.value
  }

  /// Calls the function and reads all its results.
  /// - Throws: `LuaError`: what the function raises.
  @_disfavoredOverload
  public func callAsFunction<each A: LuaPushable>(_ arguments: repeat each A) throws(LuaError)
    -> LuaArguments
  {
    try reference.state(for: "LuaFunction").withCall(
      "LuaFunction",
      push: { stack throws(LuaError) in try pushCall(stack, repeat each arguments) },
      read: { (stack, _) throws(LuaError) in LuaArguments.read(stack, 1) ?? LuaArguments([]) })
  }

  /// Calls the function with a list of arguments and reads all its results.
  /// - Throws: `LuaError`: what the function raises.
  @discardableResult
  public func callAsFunction(_ arguments: LuaArguments) throws(LuaError) -> LuaArguments {
    try reference.state(for: "LuaFunction").withCall(
      "LuaFunction",
      push: { stack throws(LuaError) in
        push(on: stack)
        do throws(LuaArgumentError) { return try stack.results(in: arguments) } catch {
          throw LuaError(message: "too many arguments")
        }
      },
      read: { (stack, _) throws(LuaError) in LuaArguments.read(stack, 1) ?? LuaArguments([]) })
  }
}
