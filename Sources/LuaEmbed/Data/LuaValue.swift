// Any Lua value, and tables as Swift reads and writes them.

internal import CLuaShims

/// Any Lua value.
///
/// Plain values are copies; tables, functions and other objects are references, for use on the
/// thread of their state. `LuaCopy` is a value that may leave it.
public enum LuaValue {
  case `nil`
  case boolean(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  /// A string that is not UTF-8.
  case bytes([UInt8])
  case table(LuaTable)
  case function(LuaFunction)
  /// A userdata or a coroutine.
  case object(LuaReference)
}

extension LuaValue: LuaReadable, LuaPushable {
  /// What messages call it.
  public static var luaTypeName: String { "value" }

  /// Reads the value in a slot; any value will do.
  public static func read(_ slot: borrowing LuaSlot) -> LuaValue? {
    let (stack, index) = (slot.stack, slot.index)
    switch stack.type(index) {
    case .none, .nil: return .nil
    case .boolean: return .boolean(stack.boolean(index))
    case .number:
      return stack.exactInteger(index).map(LuaValue.integer)
        ?? .number(stack.number(index) ?? 0)
    case .string:
      return stack.text(index).map(LuaValue.string)
        ?? .bytes(stack.withBytes(index) { Array($0) } ?? [])
    case .table: return LuaTable.read(slot).map(LuaValue.table)
    case .function: return LuaFunction.read(slot).map(LuaValue.function)
    case .userdata, .lightuserdata, .thread:
      cml_pushvalue(stack.L, index)
      return .object(LuaReference(popping: stack))
    }
  }

  /// Puts the value in a seat.
  public func push(to seat: inout LuaSeat) {
    switch self {
    case .nil: seat.take().pushNil()
    case .boolean(let value): value.push(to: &seat)
    case .integer(let value): value.push(to: &seat)
    case .number(let value): value.push(to: &seat)
    case .string(let value): value.push(to: &seat)
    case .bytes(let value): value.push(to: &seat)
    case .table(let value): value.push(to: &seat)
    case .function(let value): value.push(to: &seat)
    case .object(let value): value.push(to: &seat)
    }
  }
}

extension LuaValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral
{
  public init(nilLiteral: ()) { self = .nil }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(integerLiteral value: Int) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(stringLiteral value: String) { self = .string(value) }
}

extension LuaValue: CustomStringConvertible {
  /// The value as a script would write it; others by their type.
  public var description: String {
    switch self {
    case .nil: "nil"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .string(let value): "\"\(value)\""
    case .bytes(let value): "a string of \(value.count) bytes"
    case .table: "a table"
    case .function: "a function"
    case .object: "an object"
    }
  }
}

/// A Lua table that Swift reads and writes, without metamethods.
///
/// It is not Sendable, but may be dropped on any thread. What the compiler does not see is checked:
/// a use on a thread that is not the state's stops the program and names both. After `shutDown`
/// reads return nil and writes have no effect.
public struct LuaTable: LuaReadable, LuaPushable {
  let reference: LuaReference

  /// What messages call it.
  public static var luaTypeName: String { "table" }

  /// Reads the value in a slot; nil if it is not a table.
  public static func read(_ slot: borrowing LuaSlot) -> LuaTable? {
    guard slot.stack.type(slot.index) == .table else { return nil }
    cml_pushvalue(slot.stack.L, slot.index)
    return LuaTable(reference: LuaReference(popping: slot.stack))
  }

  /// Puts the table in a seat.
  public func push(to seat: inout LuaSeat) { reference.push(to: &seat) }

  /// Pushes the table while a closure runs; nil if the state is closed.
  private func open<R>(_ body: (LuaStack, Int32) throws -> R?) rethrows -> R? {
    guard let state = try? reference.state(for: "LuaTable") else { return nil }
    state.body.beginCall()
    defer { state.body.endCall() }
    let stack = state.stack
    let top = cml_gettop(stack.L)
    defer { cml_settop(stack.L, top) }
    guard stack.reserve(8) else { return nil }
    stack.push(reference)
    return try body(stack, top + 1)
  }

  /// The value of a key, which is a name, a number or any value; nil if it is of another type.
  ///
  /// Setting nil removes it. Keys that no table can have, nil and nan, are ignored.
  public subscript<Key: LuaPushable, Value: LuaConvertible>(key: Key) -> Value? {
    get {
      open { stack, table in
        key.push(on: stack)
        _ = cml_rawget(stack.L, table)
        return Value.read(stack, table + 1)
      }
    }
    nonmutating set {
      _ = open { stack, table in
        key.push(on: stack)
        guard stack.isKey(-1) else { return }
        newValue.push(on: stack)
        cml_rawset(stack.L, table)
      }
    }
  }

  /// The value of a key.
  /// - Throws: `LuaError` that says what is there instead; `.closed` after `shutDown`.
  public func get<Key: LuaPushable, Value: LuaReadable>(
    _ key: Key, as type: Value.Type = Value.self
  ) throws(LuaError) -> Value {
    let state = try reference.state(for: "LuaTable")
    state.body.beginCall()
    defer { state.body.endCall() }
    let stack = state.stack
    let top = cml_gettop(stack.L)
    defer { cml_settop(stack.L, top) }
    guard stack.reserve(8) else { throw LuaError(message: "too many values at once") }
    stack.push(reference)
    key.push(on: stack)
    let name = stack.type(-1) == .string ? "'\(stack.string(-1)!)'" : "[\(stack.given(-1))]"
    _ = cml_rawget(stack.L, top + 1)
    if let value = Value.read(stack, top + 2) { return value }
    throw LuaError(
      message: Value.mismatch(LuaSlot(stack, top + 2)).message(of: "the field \(name)"))
  }

  /// The length of its list, as `#` gives it.
  /// - Complexity: O(log n) in the items.
  public var count: Int { open { Int(clamping: cml_rawlen($0.L, $1)) } ?? 0 }

  /// All keys with their values, in no particular order; changes by the closure are not seen.
  /// - Throws: What the closure throws; the other keys are then left out.
  public func forEach(_ body: (LuaValue, LuaValue) throws -> Void) rethrows {
    for (key, value) in pairs { try body(key, value) }
  }

  /// All keys with their values, in no particular order.
  /// - Complexity: O(n) in the keys.
  public var pairs: [(key: LuaValue, value: LuaValue)] {
    open { stack, table in
      var pairs: [(key: LuaValue, value: LuaValue)] = []
      stack.pushNil()
      while stack.next(table) {
        let key = LuaValue.read(stack, table + 1) ?? .nil
        pairs.append((key, LuaValue.read(stack, table + 2) ?? .nil))
        stack.pop()
      }
      return pairs
    } ?? []
  }

  /// The items of its list, up to the first nil.
  /// - Complexity: O(n) in the items.
  public var items: [LuaValue] {
    open { stack, table in
      var items: [LuaValue] = []
      while cml_rawgeti(stack.L, table, Int64(items.count) + 1) > 0 {
        items.append(LuaValue.read(stack, table + 1) ?? .nil)
        stack.pop()
      }
      return items
    } ?? []
  }

  /// Its metatable. One with `__gc` cannot be set from here: a script does that.
  public var metatable: LuaTable? {
    get {
      open { stack, table in
        guard cml_getmetatable(stack.L, table) != 0 else { return nil }
        return LuaTable.read(LuaSlot(stack, table + 1))
      }
    }
    nonmutating set {
      _ = open { stack, table in
        newValue.push(on: stack)
        if stack.type(-1) == .table {
          stack.push("__gc")
          guard cml_rawget(stack.L, -2) == 0 else { return }
          stack.pop()
        }
        stack.popMetatable(of: table)
      }
    }
  }
}

extension LuaStack {
  /// Whether a value can be a table key.
  func isKey(_ index: Int32) -> Bool {
    switch type(index) {
    case .none, .nil: false
    case .number: !(number(index) ?? .nan).isNaN
    default: true
    }
  }
}

extension LuaState {
  /// Makes an empty table.
  /// - Throws: `LuaError` if the state has ended.
  /// - Note: For the state's thread.
  public func table() throws(LuaError) -> LuaTable {
    try body.requireOpen("table")
    body.beginCall()
    defer { body.endCall() }
    let stack = self.stack
    stack.newTable()
    return LuaTable(reference: LuaReference(popping: stack))
  }

  /// Makes a table from a list or a dictionary, or from any Codable value that is a table.
  /// - Throws: `LuaError`, also when the value is not written as a table.
  /// - Note: For the state's thread.
  public func table<Value: Encodable>(_ value: Value) throws(LuaError) -> LuaTable {
    try body.requireOpen("table")
    body.beginCall()
    defer { body.endCall() }
    let stack = self.stack
    try LuaEncoding.push(value, on: stack)
    defer { stack.pop() }
    guard let table = LuaTable.read(LuaSlot(stack, cml_gettop(stack.L))) else {
      throw LuaError(message: "\(stack.mustBe("a table", -1))")
    }
    return table
  }
}
