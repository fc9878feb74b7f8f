// Lua values that have left their state.

internal import CLuaShims

/// A copy of a Lua value, which may go to any thread and any state.
///
/// ```swift
/// let found: LuaCopy = try await host.call("find", "moon")
/// ```
/// Functions and objects cannot be copied: a value that contains one is refused, as are tables
/// nested more than 200 deep and copies of more than 4 million values.
public enum LuaCopy: Sendable, Hashable {
  case `nil`
  case boolean(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  /// A string that is not UTF-8.
  case bytes([UInt8])
  /// A table whose keys are 1 to n, or an empty one.
  case list([LuaCopy])
  /// Any other table.
  case table([LuaCopy: LuaCopy])
}

extension LuaCopy: LuaReadable, LuaPushable {
  /// What messages call it.
  public static var luaTypeName: String { "value that can be copied" }

  /// Reads the value in a slot; nil if it cannot be copied.
  /// - Complexity: O(n) in the values in it.
  public static func read(_ slot: borrowing LuaSlot) -> LuaCopy? {
    LuaCopying.copy(slot).value
  }

  /// What cannot be copied, and where inside the value it is.
  public static func mismatch(_ slot: borrowing LuaSlot) -> LuaMismatch {
    LuaCopying.copy(slot).mismatch ?? LuaMismatch("must be a \(luaTypeName)")
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
    case .list(let items): items.push(to: &seat)
    case .table(let fields):
      let stack = seat.take()
      stack.requireRoom("LuaCopy")
      stack.newTable(fields: Int32(clamping: fields.count))
      for (key, value) in fields {
        key.push(on: stack)
        guard stack.isKey(-1) else {
          stack.pop()
          continue
        }
        value.push(on: stack)
        stack.rawSet(-3)
      }
    }
  }
}

/// One copy in the making.
private struct LuaCopying {
  let stack: LuaStack
  var mismatch: LuaMismatch?
  private var room = 1 << 22
  /// Bytes that may still be copied, if the state has a limit of memory: what Lua has once may be
  /// in a value many times.
  private var bytes: Int

  /// Copies the value in a slot.
  static func copy(_ slot: borrowing LuaSlot) -> (value: LuaCopy?, mismatch: LuaMismatch?) {
    let record = cml_state_of(slot.stack.L)
    let room = cml_begin_making(record)
    defer { cml_end_making(record) }
    var copying = LuaCopying(stack: slot.stack, bytes: room)
    let value = copying.copy(slot.stack.absolute(slot.index), 0)
    _ = cml_make(record, room - copying.bytes)
    return (value, copying.mismatch)
  }

  private init(stack: LuaStack, bytes: Int) {
    (self.stack, self.bytes) = (stack, bytes)
  }

  private mutating func copy(_ index: Int32, _ depth: Int) -> LuaCopy? {
    room -= 1
    guard room >= 0 else { return refuse("must have at most \(1 << 22) values") }
    bytes -= stack.type(index) == .string ? 16 + Int(cml_rawlen(stack.L, index)) : 16
    guard bytes >= 0 else {
      let limit = stack.state.limits.memory ?? 0
      return refuse("must not be larger than the memory limit of \(limit) bytes")
    }
    switch stack.type(index) {
    case .none, .nil: return .nil
    case .boolean: return .boolean(stack.boolean(index))
    case .number:
      return stack.exactInteger(index).map(LuaCopy.integer) ?? .number(stack.number(index) ?? 0)
    case .string:
      return stack.text(index).map(LuaCopy.string)
        ?? .bytes(stack.withBytes(index) { Array($0) } ?? [])
    case .table:
      guard depth < 200, stack.reserve(8) else { return refuse("must be at most 200 tables deep") }
      return isList(index) ? list(index, depth) : table(index, depth)
    case .function, .userdata, .lightuserdata, .thread:
      return refuse(stack.mustBe("a \(LuaCopy.luaTypeName)", index))
    }
  }

  private mutating func refuse(_ problem: String) -> LuaCopy? {
    mismatch = mismatch ?? LuaMismatch(problem)
    return nil
  }

  /// Whether a table has no other fields than its list's items.
  private func isList(_ index: Int32) -> Bool {
    var count = stack.listCount(index)
    stack.pushNil()
    while stack.next(index) {
      stack.pop()
      count -= 1
    }
    return count == 0
  }

  private mutating func list(_ index: Int32, _ depth: Int) -> LuaCopy? {
    var items: [LuaCopy] = []
    for item in 1..<Int64(stack.listCount(index)) + 1 {
      _ = stack.rawGet(index, item: item)
      defer { stack.pop() }
      guard let copy = copy(stack.absolute(-1), depth + 1) else {
        mismatch = mismatch?.under("[\(item)]")
        return nil
      }
      items.append(copy)
    }
    return .list(items)
  }

  private mutating func table(_ index: Int32, _ depth: Int) -> LuaCopy? {
    var fields: [LuaCopy: LuaCopy] = [:]
    stack.pushNil()
    while stack.next(index) {
      let value = stack.absolute(-1)
      guard let key = copy(value - 1, depth + 1), let copy = copy(value, depth + 1) else {
        let name = stack.text(value - 1).map { LuaKey.text(of: [LuaKey.field($0, nil)]) }
        mismatch = mismatch?.under(name ?? "[\(stack.given(value - 1))]")
        stack.pop(2)
        return nil
      }
      fields[key] = copy
      stack.pop()
    }
    return .table(fields)
  }
}
