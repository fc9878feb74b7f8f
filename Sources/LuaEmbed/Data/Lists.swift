// Lists, dictionaries and bytes.

internal import CLuaShims

extension Array: LuaReadable where Element: LuaReadable {
  /// What messages call it.
  public static var luaTypeName: String { Element.luaListName }

  /// Reads the value in a slot; nil if it is of another type. Bytes are a string, not a table.
  public static func read(_ slot: borrowing LuaSlot) -> [Element]? {
    let (stack, index) = (slot.stack, slot.stack.absolute(slot.index))
    if Element.self == UInt8.self {
      // The two types are the same.
      return stack.withBytes(index) { unsafeBitCast([UInt8]($0), to: [Element].self) }
    }
    guard stack.type(index) == .table, stack.reserve(8) else { return nil }
    let count = stack.listCount(index)
    var list: [Element] = []
    list.reserveCapacity(count)
    for item in 0..<count {
      _ = cml_rawgeti(stack.L, index, Int64(item) + 1)
      defer { stack.pop() }
      guard let element = Element.read(stack, cml_gettop(stack.L)) else { return nil }
      list.append(element)
    }
    return list
  }

  /// What is wrong with the value in a slot, and where in it.
  public static func mismatch(_ slot: borrowing LuaSlot) -> LuaMismatch {
    (Element.self == UInt8.self ? nil : itemMismatch(slot))
      ?? LuaMismatch(slot.stack.mustBe(LuaText.withArticle(luaTypeName), slot.index))
  }
}

extension LuaReadable {
  /// What messages call a list of them.
  public static var luaListName: String { "list of \(luaTypeName)s" }
}

extension Array: LuaPushable where Element: LuaPushable {
  /// Puts the value in a seat.
  public func push(to seat: inout LuaSeat) {
    let stack = seat.take()
    if Element.self == UInt8.self {
      // The two types are the same.
      return unsafeBitCast(self, to: [UInt8].self).withUnsafeBytes { stack.push(bytes: $0) }
    }
    guard stack.reserve(8) else { return stack.pushNil() }
    cml_newtable(stack.L, Int32(clamping: count), 0)
    for (item, element) in enumerated() {
      element.push(on: stack)
      cml_rawseti(stack.L, -2, Int64(item) + 1)
    }
  }
}

extension Dictionary: LuaReadable where Key == String, Value: LuaReadable {
  /// What messages call it.
  public static var luaTypeName: String { "table of \(Value.luaTypeName)s by name" }

  /// What is wrong with the value in a slot, and where in it.
  public static func mismatch(_ slot: borrowing LuaSlot) -> LuaMismatch {
    fieldMismatch(slot)
      ?? LuaMismatch(slot.stack.mustBe(LuaText.withArticle(luaTypeName), slot.index))
  }

  /// Reads the value in a slot; nil if it is of another type.
  public static func read(_ slot: borrowing LuaSlot) -> [String: Value]? {
    let (stack, index) = (slot.stack, slot.stack.absolute(slot.index))
    guard stack.type(index) == .table, stack.reserve(8) else { return nil }
    var fields: [String: Value] = [:]
    stack.pushNil()
    while stack.next(index) {
      guard let key = stack.text(-2), let value = Value.read(stack, cml_gettop(stack.L)) else {
        stack.pop(2)
        return nil
      }
      fields[key] = value
      stack.pop()
    }
    return fields
  }
}

extension Dictionary: LuaPushable where Key == String, Value: LuaPushable {
  /// Puts the value in a seat.
  public func push(to seat: inout LuaSeat) {
    let stack = seat.take()
    guard stack.reserve(8) else { return stack.pushNil() }
    cml_newtable(stack.L, 0, Int32(clamping: count))
    for (key, value) in self {
      stack.push(key)
      value.push(on: stack)
      cml_rawset(stack.L, -3)
    }
  }
}

// MARK: - Bytes

/// A byte is an integer; a list of bytes is a string, whatever it has in it.
extension UInt8: LuaConvertible {
  /// What messages call it.
  public static var luaTypeName: String { "integer from 0 to 255" }
  /// Reads the value in a slot; nil if it is of another type.
  public static func read(_ slot: borrowing LuaSlot) -> UInt8? {
    slot.stack.integer(slot.index).flatMap { UInt8(exactly: $0) }
  }
  /// Puts the value in a seat.
  public func push(to seat: inout LuaSeat) { seat.take().push(Int(self)) }
  /// What messages call a list of bytes.
  public static var luaListName: String { "string" }
}

/// A string of Lua that Swift keeps and reads in its place, for long ones.
public struct LuaBytes: Sendable, LuaReadable, LuaPushable {
  private let reference: LuaReference

  /// What messages call it.
  public static var luaTypeName: String { "string" }
  /// Reads the value in a slot; nil if it is no string.
  public static func read(_ slot: borrowing LuaSlot) -> LuaBytes? {
    guard slot.stack.type(slot.index) == .string else { return nil }
    cml_pushvalue(slot.stack.L, slot.index)
    return LuaBytes(reference: LuaReference(popping: slot.stack))
  }
  /// Puts the string in a seat.
  public func push(to seat: inout LuaSeat) { reference.push(to: &seat) }

  /// Gives the bytes to a closure, without a copy.
  /// - Throws: What the closure throws; `LuaError` of kind `.closed`. Stops the program on a thread
  ///   that is not the state's.
  public func withSpan<R>(_ body: (RawSpan) throws -> R) throws -> R {
    let state = try reference.state(for: "LuaBytes")
    state.body.beginCall()
    defer { state.body.endCall() }
    let stack = state.stack
    stack.push(reference)
    defer { stack.pop() }
    return try stack.withBytes(-1) { try body($0.bytes) }!  // It is a string.
  }
}
