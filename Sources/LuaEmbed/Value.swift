// Conversions between Swift types and Lua values.

internal import CLuaShims

/// A type that can be read from a Lua value.
public protocol LuaReadable {
  /// What messages call it: "integer", "string", "table".
  static var luaTypeName: String { get }
  /// Reads the value at an index, or returns nil if it is of another type. Must not raise, and must
  /// leave the stack as it was.
  static func read(_ stack: LuaStack, _ index: Int32) -> Self?
}

/// A type that can be handed to Lua.
public protocol LuaPushable {
  /// Pushes one value.
  func push(on stack: LuaStack)
}

/// A type that crosses both ways.
public typealias LuaConvertible = LuaReadable & LuaPushable

extension Int: LuaConvertible {
  /// What messages call it.
  public static var luaTypeName: String { "integer" }
  /// Reads the value at an index; nil if it is of another type.
  @inlinable
  public static func read(_ stack: LuaStack, _ index: Int32) -> Int? { stack.integer(index) }
  /// Pushes the value. [-0, +1, raises: -]
  @inlinable
  public func push(on stack: LuaStack) { stack.push(self) }
}

extension Double: LuaConvertible {
  /// What messages call it.
  public static var luaTypeName: String { "number" }
  /// Reads the value at an index; nil if it is of another type.
  @inlinable
  public static func read(_ stack: LuaStack, _ index: Int32) -> Double? { stack.number(index) }
  /// Pushes the value. [-0, +1, raises: -]
  @inlinable
  public func push(on stack: LuaStack) { stack.push(self) }
}

extension Bool: LuaConvertible {
  /// What messages call it.
  public static var luaTypeName: String { "boolean" }
  /// Reads the value at an index; nil if it is of another type.
  public static func read(_ stack: LuaStack, _ index: Int32) -> Bool? {
    stack.type(index) == .boolean ? stack.boolean(index) : nil
  }
  /// Pushes the value. [-0, +1, raises: -]
  public func push(on stack: LuaStack) { stack.push(self) }
}

extension String: LuaConvertible {
  /// What messages call it.
  public static var luaTypeName: String { "string" }
  /// Reads the value at an index; nil if it is of another type.
  public static func read(_ stack: LuaStack, _ index: Int32) -> String? {
    if let value = stack.string(index) { return value }
    guard stack.type(index) == .number else { return nil }
    // As Lua does; not by Lua, which would change the value in its place.
    if cml_isinteger(stack.L, index) != 0, let value = stack.integer(index) { return "\(value)" }
    return stack.number(index).map { "\($0)" }
  }
  /// Pushes the value. [-0, +1, raises: -]
  public func push(on stack: LuaStack) { stack.push(self) }
}

extension Optional: LuaReadable where Wrapped: LuaReadable {
  /// What messages call it.
  public static var luaTypeName: String { "\(Wrapped.luaTypeName) or nil" }
  /// Reads the value at an index; nil if it is of another type.
  public static func read(_ stack: LuaStack, _ index: Int32) -> Wrapped?? {
    switch stack.type(index) {
    case .none, .nil: return .some(nil)
    default:
      guard let value = Wrapped.read(stack, index) else { return nil }
      return .some(value)
    }
  }
}

extension Optional: LuaPushable where Wrapped: LuaPushable {
  /// Pushes the value. [-0, +1, raises: -]
  public func push(on stack: LuaStack) {
    if let self { self.push(on: stack) } else { stack.pushNil() }
  }
}
