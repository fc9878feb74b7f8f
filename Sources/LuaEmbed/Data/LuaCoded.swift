// Codable types as arguments and results, with or without a wrapper.

/// A Codable value that crosses as a table.
///
/// Functions whose arguments and results are all Codable do not need it; it is for functions with
/// other arguments as well, such as `(LuaFunction, LuaCoded<Request>)`.
///
/// In tables, enumeration cases are `{ circle = { radius = 2 } }`, or `"none"` without
/// values; dates and durations are seconds; `[UInt8]` and `Data` are strings.
public struct LuaCoded<Value> {
  /// The value.
  public var value: Value

  /// Wraps a value.
  public init(_ value: Value) { self.value = value }
}

extension LuaCoded: Sendable where Value: Sendable {}

extension LuaCoded: LuaReadable where Value: Decodable {
  /// What messages call it.
  public static var luaTypeName: String { "table" }

  /// Reads the value in a slot; nil if it does not fit.
  public static func read(_ slot: borrowing LuaSlot) -> LuaCoded? {
    (try? slot.stack.decode(Value.self, slot.index)).map { LuaCoded($0) }
  }

  /// What is wrong with the value in a slot, and where inside it.
  public static func mismatch(_ slot: borrowing LuaSlot) -> LuaMismatch {
    do {
      _ = try slot.stack.decode(Value.self, slot.index)
      return LuaMismatch("must be a table")
    } catch {
      return LuaMismatch(error.problem, at: error.place)
    }
  }
}

extension LuaCoded: LuaPushable where Value: Encodable {
  /// Puts the value in a seat.
  ///
  /// A value that cannot be encoded, such as a number too large for Lua, becomes nil here. If that
  /// can happen, leave out the wrapper, so that the call throws.
  public func push(to seat: inout LuaSeat) {
    let stack = seat.take()
    do throws(LuaError) { try LuaEncoding.push(value, on: stack) } catch {
      stack.pushNil()
    }
  }
}

// A type of your own needs no code for this: `struct Request: Codable, LuaConvertible {}`.

extension LuaReadable where Self: Decodable {
  /// What messages call it.
  public static var luaTypeName: String { "table" }
  /// Reads the value in a slot; nil if it does not fit.
  public static func read(_ slot: borrowing LuaSlot) -> Self? {
    LuaCoded<Self>.read(slot)?.value
  }
  /// What is wrong with the value in a slot, and where inside it.
  public static func mismatch(_ slot: borrowing LuaSlot) -> LuaMismatch {
    LuaCoded<Self>.mismatch(slot)
  }
}

extension LuaPushable where Self: Encodable {
  /// Puts the value in a seat.
  public func push(to seat: inout LuaSeat) { LuaCoded(self).push(to: &seat) }
}

// Enumerations with raw values cross as those: `enum Level: String, LuaConvertible`.

extension LuaReadable where Self: RawRepresentable, RawValue: LuaReadable {
  /// What messages call it.
  public static var luaTypeName: String { RawValue.luaTypeName }
  /// Reads the value in a slot; nil if it is no case's raw value.
  public static func read(_ slot: borrowing LuaSlot) -> Self? {
    RawValue.read(slot).flatMap(Self.init(rawValue:))
  }
  /// What is wrong with the value in a slot.
  public static func mismatch(_ slot: borrowing LuaSlot) -> LuaMismatch {
    if RawValue.read(slot) == nil { return RawValue.mismatch(slot) }
    return LuaMismatch("must be a \(Self.self), got \(slot.stack.given(slot.index))")
  }
}

extension LuaPushable where Self: RawRepresentable, RawValue: LuaPushable {
  /// Puts the raw value in a seat.
  public func push(to seat: inout LuaSeat) { rawValue.push(to: &seat) }
}

extension LuaReadable where Self: RawRepresentable & Decodable, RawValue: LuaReadable {
  /// What messages call it.
  public static var luaTypeName: String { RawValue.luaTypeName }
  /// Reads the value in a slot; nil if it is no case's raw value.
  public static func read(_ slot: borrowing LuaSlot) -> Self? {
    RawValue.read(slot).flatMap(Self.init(rawValue:))
  }
  /// What is wrong with the value in a slot.
  public static func mismatch(_ slot: borrowing LuaSlot) -> LuaMismatch {
    if RawValue.read(slot) == nil { return RawValue.mismatch(slot) }
    return LuaMismatch("must be a \(Self.self), got \(slot.stack.given(slot.index))")
  }
}

extension LuaPushable where Self: RawRepresentable & Encodable, RawValue: LuaPushable {
  /// Puts the raw value in a seat.
  public func push(to seat: inout LuaSeat) { rawValue.push(to: &seat) }
}
