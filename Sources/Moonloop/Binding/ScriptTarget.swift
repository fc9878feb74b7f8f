// A Lua value as the target or sender of something.

internal import LuaEmbed

/// Any value but nil, compared as by `rawequal`. It is kept alive, so that its address is not
/// reused.
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

  /// - Returns: nil if the value is nil or missing.
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
  /// A field of any type; nil if there is none.
  func target(_ name: StaticString) -> ScriptTarget? {
    let type = push(name)
    defer { call.stack.pop() }
    return type == .nil ? nil : ScriptTarget(call.stack, call.stack.absolute(-1))
  }
}
