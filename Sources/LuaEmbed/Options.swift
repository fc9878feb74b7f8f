// Tables of options: fields are read by keys interned beforehand, and a key that nobody knows is
// an error with the nearest spelling.

internal import CLuaShims

/// The names of the options that one function takes, interned in a state.
package final class LuaOptionKeys {
  package let names: [String]
  let refs: [Int32]
  /// C's view of the names, for the search of an unknown one; owned.
  private let words: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>

  package init(_ names: [String], in state: LuaState) {
    self.names = names
    let stack = state.stack
    refs = names.map { name in
      stack.push(name)
      return stack.popRef()
    }
    words = .allocate(capacity: max(1, names.count))
    for (i, name) in names.enumerated() {
      let bytes = Array(name.utf8CString)
      let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
      _ = copy.initialize(from: bytes)
      words[i] = UnsafePointer(copy.baseAddress!)
    }
  }

  deinit {
    for i in names.indices { words[i]?.deallocate() }
    words.deallocate()
  }

  /// Pushes a key of the table that is none of the names.
  func pushUnknown(_ stack: LuaStack, _ index: Int32) -> Bool {
    cml_unknown_key(stack.L, index, words.baseAddress, Int32(names.count))
  }
}

/// One table of options while it is read. Read every option, then call `finish`.
package struct LuaOptions: ~Copyable {
  package let stack: LuaStack
  private let table: Int32
  private let keys: LuaOptionKeys
  private var found: Int32 = 0

  /// - Parameter index: A table; check it with `LuaStack.table` first.
  package init(_ stack: LuaStack, _ index: Int32, _ keys: LuaOptionKeys) {
    self.stack = stack
    self.keys = keys
    table = cml_absindex(stack.L, index)
  }

  /// Pushes an option; nothing, and false, if it is not there. [-0, +(0|1), raises: -]
  package mutating func push(_ key: Int) -> Bool {
    _ = cml_rawgeti(stack.L, registryIndex, Int64(keys.refs[key]))
    if cml_rawget(stack.L, table) != CML_TNIL {
      found += 1
      return true
    }
    stack.pop()
    return false
  }

  /// Pushes a positional value, such as the handler at 1. [-0, +(0|1), raises: -]
  package mutating func push(item: Int64) -> Bool {
    if cml_rawgeti(stack.L, table, item) != CML_TNIL {
      found += 1
      return true
    }
    stack.pop()
    return false
  }

  /// The option's name in messages.
  package func name(_ key: Int) -> String { "'\(keys.names[key])'" }

  package mutating func seconds(_ key: Int, _ rule: LuaSecondsRule = .notNegative)
    throws(LuaArgumentError) -> Int64?
  {
    guard push(key) else { return nil }
    defer { stack.pop() }
    return try stack.seconds(-1, name(key), rule)
  }

  package mutating func integer(_ key: Int, in range: ClosedRange<Int64> = .min ... .max)
    throws(LuaArgumentError) -> Int64?
  {
    guard push(key) else { return nil }
    defer { stack.pop() }
    return try stack.integer(-1, name(key), in: range)
  }

  package mutating func text(_ key: Int) throws(LuaArgumentError) -> String? {
    guard push(key) else { return nil }
    defer { stack.pop() }
    return try stack.text(-1, name(key))
  }

  package mutating func flag(_ key: Int) throws(LuaArgumentError) -> Bool? {
    guard push(key) else { return nil }
    defer { stack.pop() }
    return try stack.flag(-1, name(key))
  }

  /// One name or a list of names; false if the option is not there.
  @discardableResult
  package mutating func names(_ key: Int, _ body: (Int32) throws(LuaArgumentError) -> Void)
    throws(LuaArgumentError) -> Bool
  {
    guard push(key) else { return false }
    defer { stack.pop() }
    try stack.names(-1, name(key), body)
    return true
  }

  /// Pushes a function option; nothing, and false, if it is not there. [-0, +(0|1), raises: -]
  package mutating func pushFunction(_ key: Int) throws(LuaArgumentError) -> Bool {
    guard push(key) else { return false }
    try stack.function(-1, name(key))
    return true
  }

  /// Pushes the handler: the first element. [-0, +1, raises: -]
  package mutating func pushHandler() throws(LuaArgumentError) {
    guard push(item: 1) else {
      throw LuaArgumentError("handler missing: the first element must be a function")
    }
    try stack.function(-1, "the handler ([1])")
  }

  /// Throws if the table holds an option that nobody knows. Costs a walk over the table.
  package consuming func finish() throws(LuaArgumentError) {
    guard cml_count_entries(stack.L, table) != found else { return }
    guard keys.pushUnknown(stack, table) else { return }
    defer { stack.pop() }
    guard let word = stack.string(-1) else {
      throw LuaArgumentError("unknown option of type \(stack.type(-1).name)")
    }
    throw .unknown("option", LuaText.clean(word), among: keys.names)
  }
}
