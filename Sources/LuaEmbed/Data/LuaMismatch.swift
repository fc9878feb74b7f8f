// What is wrong with a value that does not have the right type, and where inside it.

internal import CLuaShims

/// What a value must be but is not, for an error: `must be an integer, got "x"`.
public struct LuaMismatch: Sendable, Equatable {
  /// Where in the value, such as `routes[2].port`; empty for the value itself.
  public var place: String
  /// What is wrong.
  public var problem: String

  /// A mistake at a place in a value.
  public init(_ problem: String, at place: String = "") {
    self.place = place
    self.problem = problem
  }

  /// The same, seen from a list or table that contains the value.
  func under(_ outer: String) -> LuaMismatch {
    let joint = place.isEmpty || place.hasPrefix("[") ? "" : "."
    return LuaMismatch(problem, at: outer + joint + place)
  }

  /// The message for a value that has a name in messages: `argument 1[3] must be a string`.
  func message(of subject: String) -> String {
    if place.isEmpty { return "\(subject) \(problem)" }
    let joint = place.hasPrefix("[") ? "" : "."
    return "\(subject)\(joint)\(place) \(problem)"
  }
}

extension LuaReadable {
  /// What is wrong with the value in a slot. By default, what it must be.
  public static func mismatch(_ slot: borrowing LuaSlot) -> LuaMismatch {
    LuaMismatch(slot.stack.mustBe(LuaText.withArticle(luaTypeName), slot.index))
  }
}

extension LuaStack {
  @usableFromInline
  @inline(never)
  func mistake<T: LuaReadable>(_ index: Int32, _ type: T.Type) -> LuaArgumentError {
    LuaArgumentError(T.mismatch(LuaSlot(self, index)).message(of: argumentName(index)))
  }
}

extension LuaStack {
  /// Why a value that is right in each of its parts is refused.
  var refusal: LuaMismatch? {
    let record = cml_state_of(L)
    if cml_made_too_much(record) {
      let limit = state.limits.memory ?? 0
      return LuaMismatch("must not be larger than the memory limit of \(limit) bytes")
    }
    return cml_must_stop(record) ? LuaMismatch("takes too long to read") : nil
  }

  /// Begins to read a value that has parts, which ends with `cml_end_making`.
  func beginMaking() -> OpaquePointer? {
    let record = cml_state_of(L)
    cml_begin_making(record)
    return record
  }

  /// Counts a part of the value that is being read.
  /// - Returns: false if there must be no more.
  @inline(__always)
  func make(_ record: OpaquePointer?, _ index: Int32) -> Bool {
    var size = 0
    _ = cml_string(L, index, &size)
    return cml_make(record, 16 + size)
  }
}

extension Array where Element: LuaReadable {
  /// The first item that is not of the type, in a table that is a list.
  static func itemMismatch(_ slot: borrowing LuaSlot) -> LuaMismatch? {
    let (stack, index) = (slot.stack, slot.stack.absolute(slot.index))
    guard stack.type(index) == .table, stack.reserve(8) else { return nil }
    for item in 0..<Int64(stack.listCount(index)) {
      _ = cml_rawgeti(stack.L, index, item + 1)
      defer { stack.pop() }
      let top = cml_gettop(stack.L)
      if Element.read(stack, top) == nil {
        return Element.mismatch(LuaSlot(stack, top)).under("[\(item + 1)]")
      }
    }
    return nil
  }
}

extension Dictionary where Key == String, Value: LuaReadable {
  /// A field that is not of the type, in a table whose keys are strings.
  static func fieldMismatch(_ slot: borrowing LuaSlot) -> LuaMismatch? {
    let (stack, index) = (slot.stack, slot.stack.absolute(slot.index))
    guard stack.type(index) == .table, stack.reserve(8) else { return nil }
    guard let names = stack.names(index) else { return keyMismatch(stack, index) }
    for name in names {
      stack.push(name)
      _ = cml_rawget(stack.L, index)
      defer { stack.pop() }
      let top = cml_gettop(stack.L)
      if Value.read(stack, top) == nil {
        return Value.mismatch(LuaSlot(stack, top)).under(LuaKey.text(of: [LuaKey.field(name, nil)]))
      }
    }
    return nil
  }

  /// The first key that is not a name.
  private static func keyMismatch(_ stack: LuaStack, _ index: Int32) -> LuaMismatch? {
    stack.pushNil()
    while stack.next(index) {
      stack.pop()
      if stack.text(-1) == nil {
        defer { stack.pop() }
        return LuaMismatch("must have names as keys, got \(stack.given(-1))")
      }
    }
    return nil
  }
}
