// Conversions between Swift types and Lua values.

internal import CLuaShims

/// Where one Lua value is read, for one conversion: do not keep it.
public struct LuaSlot: ~Copyable {
  @usableFromInline package let stack: LuaStack
  @usableFromInline package let index: Int32

  @inlinable
  package init(_ stack: LuaStack, _ index: Int32) {
    self.stack = stack
    self.index = index
  }
}

/// Where one Lua value goes, for one conversion: do not keep it.
///
/// A second value replaces the first; without any it is nil.
public struct LuaSeat: ~Copyable {
  @usableFromInline let stack: LuaStack
  @usableFromInline var isTaken = false

  @inlinable
  init(_ stack: LuaStack) { self.stack = stack }

  /// The stack that exactly one value must be pushed on.
  @inlinable
  package mutating func take() -> LuaStack {
    if isTaken { stack.pop() }
    isTaken = true
    return stack
  }

  @inlinable
  consuming func finish() {
    if !isTaken { stack.pushNil() }
  }
}

/// A type that can be read from a Lua value.
///
/// A type of your own reads another one and converts it, such as
/// `Double.read(slot).map(Celsius.init)`.
public protocol LuaReadable {
  /// What messages call it: "integer", "string", "table".
  static var luaTypeName: String { get }
  /// What messages call a list of them.
  static var luaListName: String { get }
  /// Reads the value in a slot, or returns nil if it is of another type.
  static func read(_ slot: borrowing LuaSlot) -> Self?
  /// What is wrong with a value that `read` refuses.
  static func mismatch(_ slot: borrowing LuaSlot) -> LuaMismatch
}

/// A type that can be passed to Lua.
///
/// A type of your own passes another one, such as `degrees.push(to: &seat)`.
public protocol LuaPushable {
  /// Puts the value in a seat.
  func push(to seat: inout LuaSeat)
}

extension LuaReadable {
  /// Reads the value at an index. [-0, +0, raises: -]
  @inlinable
  package static func read(_ stack: LuaStack, _ index: Int32) -> Self? {
    read(LuaSlot(stack, index))
  }
}

extension LuaPushable {
  /// Pushes the value. [-0, +1, raises: -]
  @inlinable
  package func push(on stack: LuaStack) {
    var seat = LuaSeat(stack)
    push(to: &seat)
    seat.finish()
  }
}

/// A type that crosses both ways.
public typealias LuaConvertible = LuaReadable & LuaPushable

extension Int: LuaConvertible {
  /// What messages call it.
  public static var luaTypeName: String { "integer" }
  /// Reads the value in a slot; nil if it is of another type.
  @inlinable
  public static func read(_ slot: borrowing LuaSlot) -> Int? { slot.stack.integer(slot.index) }
  /// Puts the value in a seat.
  @inlinable
  public func push(to seat: inout LuaSeat) { seat.take().push(self) }
}

extension Double: LuaConvertible {
  /// What messages call it.
  public static var luaTypeName: String { "number" }
  /// Reads the value in a slot; nil if it is of another type.
  @inlinable
  public static func read(_ slot: borrowing LuaSlot) -> Double? { slot.stack.number(slot.index) }
  /// Puts the value in a seat.
  @inlinable
  public func push(to seat: inout LuaSeat) { seat.take().push(self) }
}

extension Bool: LuaConvertible {
  /// What messages call it.
  public static var luaTypeName: String { "boolean" }
  /// Reads the value in a slot; nil if it is of another type.
  public static func read(_ slot: borrowing LuaSlot) -> Bool? {
    slot.stack.type(slot.index) == .boolean ? slot.stack.boolean(slot.index) : nil
  }
  /// Puts the value in a seat.
  @inlinable
  public func push(to seat: inout LuaSeat) { seat.take().push(self) }
}

extension String: LuaConvertible {
  /// What messages call it.
  public static var luaTypeName: String { "string" }
  /// Reads the value in a slot; nil if it is of another type, or not UTF-8.
  public static func read(_ slot: borrowing LuaSlot) -> String? {
    let (stack, index) = (slot.stack, slot.index)
    return stack.text(index) ?? number(stack, index)
  }
  /// A number as text: as Lua does it, but not by Lua, which would change the value in place.
  @inline(never)
  private static func number(_ stack: LuaStack, _ index: Int32) -> String? {
    guard stack.type(index) == .number else { return nil }
    if cml_isinteger(stack.L, index) != 0, let value = stack.integer(index) { return "\(value)" }
    return stack.number(index).map { "\($0)" }
  }
  /// Puts the value in a seat.
  @inlinable
  public func push(to seat: inout LuaSeat) { seat.take().push(self) }
}

extension StaticString: LuaPushable {
  /// Puts the value in a seat.
  @inlinable
  public func push(to seat: inout LuaSeat) { seat.take().push(self) }
}

extension Optional: LuaReadable where Wrapped: LuaReadable {
  /// What messages call it.
  public static var luaTypeName: String { "\(Wrapped.luaTypeName) or nil" }
  /// Reads the value in a slot; nil if it is of another type.
  public static func read(_ slot: borrowing LuaSlot) -> Wrapped?? {
    switch slot.stack.type(slot.index) {
    case .none, .nil: return .some(nil)
    default:
      guard let value = Wrapped.read(slot) else { return nil }
      return .some(value)
    }
  }
  /// What is wrong with the value in a slot, and where inside it.
  public static func mismatch(_ slot: borrowing LuaSlot) -> LuaMismatch {
    if let refusal = slot.stack.refusal { return refusal }
    let inner = Wrapped.mismatch(slot)
    if !inner.place.isEmpty { return inner }
    return LuaMismatch(slot.stack.mustBe(LuaText.withArticle(luaTypeName), slot.index))
  }
}

extension Optional: LuaPushable where Wrapped: LuaPushable {
  /// Puts the value in a seat.
  public func push(to seat: inout LuaSeat) {
    if let self { self.push(to: &seat) } else { seat.take().pushNil() }
  }
}
