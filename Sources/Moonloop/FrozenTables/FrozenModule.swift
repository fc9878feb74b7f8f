// Frozen tables in Lua: read like tables, by proxies that hold a reference.

internal import LuaEmbed
internal import MoonloopCore

let frozenEntries: [LuaEntry] = [
  .metamethod("__index") { host($0, $1, "frozen table", frozenIndex) },
  .metamethod("__newindex") { host($0, $1, "frozen table", frozenSet) },
  .metamethod("__len") { hostValue($0, $1, "frozen table") { try $0.selfFrozen().items.count } },
  .metamethod("__pairs") { host($0, $1, "pairs", frozenPairs) },
  .metamethod("__tostring") { hostValue($0, $1, "tostring") { _ in "frozen table" } },
]

/// `ml.freeze(table)`: a copy that never changes; states share it.
func moduleFreeze(_ call: HostCall) throws -> Int32 {
  if call.frozenTable(1) != nil {
    call.stack.setCount(1)
    return 1
  }
  if call.stack.type(1) != .table {
    throw call.mistake("takes a table, got \(call.given(1))")
  }
  call.state.noteReturns()
  var freezer = FrozenTable.Freezer(
    call.stack, frozen: { call.frozenTable($0) },
    charge: { call.state.charge($0, leaves: true) },
    limit: call.state.limits.memory ?? .max, mustStop: { call.state.mustStop })
  do throws(FrozenTable.Obstacle) {
    let table = try freezer.freeze(1)
    call.runtime.kinds.push(table, on: call.stack)
    return 1
  } catch { throw call.mistake("\(error.path) is \(error.what), which cannot be frozen") }
}

extension HostCall {
  /// The frozen table at an index; nil if it is something else.
  func frozenTable(_ index: Int32) -> FrozenTable? { runtime.kinds.frozenTable(stack, index) }

  fileprivate func selfFrozen() throws(ScriptMistake) -> FrozenTable {
    guard let table = frozenTable(1) else { throw notSelf("frozen table") }
    return table
  }
}

extension Kinds {
  func frozenTable(_ stack: LuaStack, _ index: Int32) -> FrozenTable? {
    frozen.handle(stack.L, index)?.object(as: FrozenTable.self)
  }

  /// Pushes the proxy of a table: the same one as long as it lives. [-0, +1]
  func push(_ table: FrozenTable, on stack: LuaStack) {
    let pointer = Unmanaged.passUnretained(table).toOpaque()
    if stack.pushKnown(pointer) { return }
    frozen.push(stack.L).hold(table)
    stack.makeKnown(pointer)
  }

  fileprivate func push(_ value: FrozenTable.Value, of table: FrozenTable, on stack: LuaStack) {
    switch value {
    case .boolean(let isTrue): stack.push(isTrue)
    case .integer(let number): stack.push(number)
    case .float(let number): stack.push(number)
    case .text(let range): table.withText(range) { stack.push(bytes: $0) }
    case .table(let inner): push(inner, on: stack)
    }
  }
}

extension LuaStack {
  /// Runs a body with the key at an index; nil: no frozen table has such a key.
  fileprivate func withKey<Result>(
    _ index: Int32, _ body: (FrozenTable.Key) -> Result?
  ) -> Result? {
    switch type(index) {
    case .boolean: return body(.boolean(boolean(index)))
    case .string: return withBytes(index) { body(.text($0)) } ?? nil
    case .number:
      if let number = exactInteger(index) { return body(.integer(number)) }
      let number = number(index) ?? 0
      // As Lua does: a float that is a whole number stands for the integer.
      return body(Int(exactly: number).map { .integer($0) } ?? .float(number))
    default: return nil
    }
  }
}

private func frozenIndex(_ call: HostCall) throws -> Int32 {
  let table = try call.selfFrozen()
  guard let value = call.stack.withKey(2, { table[$0] }) else {
    call.stack.pushNil()
    return 1
  }
  call.runtime.kinds.push(value, of: table, on: call.stack)
  return 1
}

private func frozenSet(_ call: HostCall) throws -> Int32 {
  throw call.mistake("it cannot be changed", hint: "change a copy, and freeze that")
}

/// `pairs(frozen)`: items in order, then the fields.
private func frozenPairs(_ call: HostCall) throws -> Int32 {
  _ = try call.selfFrozen()
  call.stack.push(function: frozenNext)
  call.stack.pushValue(1)
  call.stack.pushNil()
  return 3
}

/// What follows a key: the iterator of `pairs`.
private let frozenNext: LuaRawFunction = { L, context in
  host(L, context, "next") { call in
    let table = try call.selfFrozen()
    let count = table.items.count
    let place: Int?
    if call.isAbsent(2) {
      place = 0
    } else {
      place = call.stack.withKey(2) { key in
        if case .integer(let number) = key, number > 0, number <= count { return number }
        return table.place(of: key).map { count + $0 + 1 }
      }
    }
    guard let place else { throw call.mistake("the key is not in the table") }
    if place < count {
      call.stack.push(place + 1)
      call.runtime.kinds.push(table.items[place], of: table, on: call.stack)
    } else if place - count < table.fields.count {
      let field = table.fields[place - count]
      call.runtime.kinds.push(field.key, of: table, on: call.stack)
      call.runtime.kinds.push(field.value, of: table, on: call.stack)
    } else {
      call.stack.pushNil()
      return 1
    }
    return 2
  }
}
