// A Lua value as the target or sender of something.

internal import LuaEmbed

/// Any value but nil, compared as by `rawequal`. It is kept, so that no other gets its address.
final class ScriptTarget: Hashable {
  private enum Word: Hashable {
    case address(UnsafeRawPointer)
    case bytes([UInt8])
    case integer(Int)
    case number(Double)
    case boolean(Bool)
  }

  private let word: Word
  let value: LuaReference

  /// - Returns: nil if there is nothing at the index, or nil.
  init?(_ stack: LuaStack, _ index: Int32) {
    switch stack.type(index) {
    case .none, .nil: return nil
    case .string: word = .bytes(stack.withBytes(index) { [UInt8]($0) } ?? [])
    case .number:
      word = stack.integer(index).map { .integer($0) } ?? .number(stack.number(index) ?? 0)
    case .boolean: word = .boolean(stack.boolean(index))
    default: word = .address(stack.address(index))
    }
    stack.pushValue(index)
    value = LuaReference(popping: stack)
  }

  static func == (one: ScriptTarget, other: ScriptTarget) -> Bool { one.word == other.word }

  func hash(into hasher: inout Hasher) { word.hash(into: &hasher) }
}

extension Options {
  /// A field that may be anything; nil if it is not there.
  func target(_ name: StaticString) -> ScriptTarget? {
    let type = push(name)
    defer { call.stack.pop() }
    return type == .nil ? nil : ScriptTarget(call.stack, call.stack.absolute(-1))
  }
}
