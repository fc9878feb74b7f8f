// Lists, dictionaries and bytes.

internal import CLuaShims

/// A value of a type that generic code has found to be another one, as that type.
@inline(__always)
private func same<A, B>(_ value: A) -> B {
  unsafeBitCast(value, to: B.self)  // both are the same type
}

extension Array: LuaReadable where Element: LuaReadable {
  /// What messages call it.
  public static var luaTypeName: String { Element.luaListName }

  /// Reads the value in a slot; nil if it is of another type. Bytes are a string, not a table.
  /// - Complexity: O(n) in the items.
  public static func read(_ slot: borrowing LuaSlot) -> [Element]? {
    let (stack, index) = (slot.stack, slot.stack.absolute(slot.index))
    if Element.self == UInt8.self { return stack.withBytes(index) { same([UInt8]($0)) } }
    guard stack.type(index) == .table, stack.reserve(8) else { return nil }
    let count = stack.listCount(index)
    let record = stack.beginMaking()
    defer { cml_end_making(record) }
    guard cml_make(record, count * MemoryLayout<Element>.stride) else { return nil }
    if Element.self == Int.self { return same(stack.integers(index, count)) }
    if Element.self == Double.self { return same(stack.numbers(index, count)) }
    var list: [Element] = []
    list.reserveCapacity(count)
    for item in 0..<count {
      _ = cml_rawgeti(stack.L, index, Int64(item) + 1)
      defer { stack.pop() }
      guard stack.make(record, cml_gettop(stack.L)),
        let element = Element.read(stack, cml_gettop(stack.L))
      else { return nil }
      list.append(element)
    }
    return list
  }

  /// What is wrong with the value in a slot, and where inside it.
  public static func mismatch(_ slot: borrowing LuaSlot) -> LuaMismatch {
    slot.stack.refusal ?? (Element.self == UInt8.self ? nil : itemMismatch(slot))
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
      let bytes: [UInt8] = same(self)
      return bytes.withUnsafeBytes { stack.push(bytes: $0) }
    }
    guard stack.reserve(8) else { return stack.pushNil() }
    if Element.self == Int.self { return stack.push(integers: same(self)) }
    if Element.self == Double.self { return stack.push(numbers: same(self)) }
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

  /// What is wrong with the value in a slot, and where inside it.
  public static func mismatch(_ slot: borrowing LuaSlot) -> LuaMismatch {
    slot.stack.refusal ?? fieldMismatch(slot)
      ?? LuaMismatch(slot.stack.mustBe(LuaText.withArticle(luaTypeName), slot.index))
  }

  /// Reads the value in a slot; nil if it is of another type.
  /// - Complexity: O(n) in the fields.
  public static func read(_ slot: borrowing LuaSlot) -> [String: Value]? {
    let (stack, index) = (slot.stack, slot.stack.absolute(slot.index))
    guard stack.type(index) == .table, stack.reserve(8) else { return nil }
    let record = stack.beginMaking()
    defer { cml_end_making(record) }
    if Value.self == Int.self { return same(stack.fields(index) { stack.integer($0) }) }
    if Value.self == Double.self { return same(stack.fields(index) { stack.number($0) }) }
    if Value.self == String.self { return same(stack.fields(index) { String.read(stack, $0) }) }
    // Other types may run code that changes the table, so its keys are taken first.
    guard let names = stack.names(index) else { return nil }
    var fields: [String: Value] = [:]
    fields.reserveCapacity(names.count)
    for name in names {
      stack.push(name)
      _ = cml_rawget(stack.L, index)
      defer { stack.pop() }
      guard stack.make(record, cml_gettop(stack.L)),
        let value = Value.read(stack, cml_gettop(stack.L))
      else { return nil }
      fields[name] = value
    }
    return fields
  }
}

extension LuaStack {
  /// The items of a list; nil if one is not an integer.
  fileprivate func integers(_ index: Int32, _ count: Int) -> [Int]? {
    let list = [Int](unsafeUninitializedCapacity: count) { room, read in
      read = room.baseAddress.map { cml_get_integers(L, index, $0, count) } ?? 0
    }
    return list.count == count ? list : nil
  }

  /// The same for numbers.
  fileprivate func numbers(_ index: Int32, _ count: Int) -> [Double]? {
    let list = [Double](unsafeUninitializedCapacity: count) { room, read in
      read = room.baseAddress.map { cml_get_numbers(L, index, $0, count) } ?? 0
    }
    return list.count == count ? list : nil
  }

  /// Pushes a list. [-0, +1, raises: -]
  fileprivate func push(integers list: [Int]) {
    list.withUnsafeBufferPointer { cml_push_integers(L, $0.baseAddress, $0.count) }
  }

  /// The same for numbers. [-0, +1, raises: -]
  fileprivate func push(numbers list: [Double]) {
    list.withUnsafeBufferPointer { cml_push_numbers(L, $0.baseAddress, $0.count) }
  }

  /// The fields of a table, read by a closure that runs no foreign code; nil if a key is not a
  /// name, or a value is refused.
  fileprivate func fields<Value>(
    _ index: Int32, _ read: (Int32) -> Value?
  ) -> [String: Value]? {
    var fields: [String: Value] = [:]
    fields.reserveCapacity(cml_count_fields(L, index))
    let record = cml_state_of(L)
    pushNil()
    let value = cml_gettop(L) + 1
    while next(index) {
      guard make(record, value), make(record, value - 1), let name = text(value - 1),
        let field = read(value)
      else {
        pop(2)
        return nil
      }
      fields[name] = field
      pop()
    }
    return fields
  }

  /// Pushes a table of fields, whose values a closure pushes. [-0, +1, raises: -]
  fileprivate func push<Value>(fields: [String: Value], _ push: (Value) -> Void) {
    cml_newtable(L, 0, Int32(clamping: fields.count))
    for (name, value) in fields {
      self.push(name)
      push(value)
      cml_rawset(L, -3)
    }
  }

  /// The keys of a table; nil if one is not a name.
  func names(_ index: Int32) -> [String]? {
    var names: [String] = []
    let record = cml_state_of(L)
    pushNil()
    while next(index) {
      pop()
      guard make(record, cml_gettop(L)), let name = text(-1) else {
        pop()
        return nil
      }
      names.append(name)
    }
    return names
  }
}

extension Dictionary: LuaPushable where Key == String, Value: LuaPushable {
  /// Puts the value in a seat.
  public func push(to seat: inout LuaSeat) {
    let stack = seat.take()
    guard stack.reserve(8) else { return stack.pushNil() }
    if Value.self == Int.self { return stack.push(fields: same(self)) { stack.push($0 as Int) } }
    if Value.self == Double.self {
      return stack.push(fields: same(self)) { stack.push($0 as Double) }
    }
    if Value.self == String.self {
      return stack.push(fields: same(self)) { stack.push($0 as String) }
    }
    stack.push(fields: self) { $0.push(on: stack) }
  }
}

// MARK: - Bytes

/// A byte is an integer, but a list of bytes is a string, with any content.
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

/// A Lua string that Swift keeps and reads in place, for long ones.
///
/// It is not Sendable, and may be dropped on any thread.
public struct LuaBytes: LuaReadable, LuaPushable {
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

  /// Passes the bytes to a closure, without a copy.
  /// - Throws: What the closure throws; `LuaError` of kind `.closed`. Stops the program on a thread
  ///   that is not the state's.
  public func withSpan<R>(_ body: (RawSpan) throws -> R) throws -> R {
    let state = try reference.state(for: "LuaBytes")
    state.body.beginCall()
    defer { state.body.endCall() }
    let stack = state.stack
    guard stack.reserve(8) else { throw LuaError(message: "too many values at once") }
    stack.push(reference)
    defer { stack.pop() }
    return try stack.withBytes(-1) { try body($0.bytes) }!  // it is a string
  }
}
