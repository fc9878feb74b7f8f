// Codable values to Lua: each value is written in place, on the stack or in a table.

internal import CLuaShims

/// One value being encoded. It cannot be used afterwards.
final class LuaEncoding {
  let stack: LuaStack
  var L: OpaquePointer { stack.L }
  private(set) var path: [LuaKey] = []
  private var failed: [any CodingKey]?
  /// The values that are being written, each inside the one before.
  private var frames = LuaFrames()
  private let body: LuaStateBody
  /// The calls into the state, this one included: what is written here waits while others run.
  private let depth: Int
  /// Whether something was left out because the stack cannot grow.
  private var isFull = false

  private init(_ stack: LuaStack, _ body: LuaStateBody) {
    (self.stack, self.body, depth) = (stack, body, body.calls)
  }

  /// Pushes a value. [-0, +1, raises: -]
  /// - Throws: `LuaError`; nothing is pushed then.
  static func push<T: Encodable>(_ value: T, on stack: LuaStack) throws(LuaError) {
    // A type may close the state: it closes when the value is written.
    let body = stack.state.body
    body.beginCall()
    defer { body.endCall() }
    let work = LuaEncoding(stack, body)
    let top = cml_gettop(stack.L)
    do {
      guard stack.reserve(8) else { throw work.failure(value, "too much at once") }
      stack.pushNil()
      try work.write(value, .slot(top + 1), key: nil)
      cml_settop(stack.L, top + 1)
    } catch {
      cml_settop(stack.L, top)
      throw work.luaError(error)
    }
  }

  /// Writes a value to a place; what it needs on the stack is removed again.
  func write<T: Encodable>(_ value: T, _ seat: LuaSeatOfValue, key: LuaKey?) throws {
    if try writeSimple(value, seat, key) { return }
    if let key { path.append(key) }
    defer { if key != nil { path.removeLast() } }
    let top = cml_gettop(L)
    defer { cml_settop(L, top) }
    do {
      guard !frames.isFull, stack.reserve(12) else {
        throw failure(value, "is nested more than \(LuaFrames.deepest) deep")
      }
      frames.begin()
      defer { frames.end() }
      try writeWhole(value, seat)
    } catch {
      if failed == nil { failed = path }
      throw error
    }
  }

  /// Writes a value that needs no encoder; false for all others.
  private func writeSimple<T: Encodable>(
    _ value: T, _ seat: LuaSeatOfValue, _ key: LuaKey?
  ) throws -> Bool {
    switch value {
    case let value as String: set(seat) { $0.push(value) }
    case let value as Double: set(seat) { $0.push(value) }
    case let value as Bool: set(seat) { $0.push(value) }
    case let value as Float: set(seat) { $0.push(Double(value)) }
    case let value as any FixedWidthInteger:
      guard let number = Int(exactly: value) else {
        throw failure(value, "\(value) is too large for an integer of Lua", key)
      }
      set(seat) { $0.push(number) }
    case let value as Duration:
      let (seconds, rest) = value.attoseconds.quotientAndRemainder(
        dividingBy: 1_000_000_000_000_000_000)
      set(seat) { $0.push(Double(seconds) + Double(rest) * 1e-18) }
    case let value as [UInt8]:
      value.withUnsafeBytes { bytes in set(seat) { $0.push(bytes: bytes) } }
    default: return false
    }
    return true
  }

  /// Whether the next dictionary to be written has numbers as keys.
  var hasNumbers = false

  private func writeWhole<T: Encodable>(_ value: T, _ seat: LuaSeatOfValue) throws {
    if let bytes = value as? any RandomAccessCollection<UInt8> {
      Array(bytes).withUnsafeBytes { bytes in set(seat) { $0.push(bytes: bytes) } }
    } else if T.self == LuaDates.type {
      let writer = LuaDates.Writer()
      try value.encode(to: writer)
      if let seconds = writer.seconds { set(seat) { $0.push(seconds) } }
    } else {
      hasNumbers = T.self is any LuaNumberKeyed.Type
      try value.encode(to: LuaValueEncoder(self, seat))
    }
  }

  /// Puts one value, which a closure pushes, into a place.
  func set(_ seat: LuaSeatOfValue, _ push: (LuaStack) -> Void) {
    switch seat {
    case .slot(let index):
      push(stack)
      cml_copy(L, -1, index)
      stack.pop()
    case .field(let table, let name):
      stack.push(name)
      push(stack)
      cml_rawset(L, table.index)
    case .item(let table, let place):
      push(stack)
      cml_rawseti(L, table.index, Int64(place) &+ 1)
    }
  }

  /// Puts a new table into a place and leaves it on the stack; an existing one is used again,
  /// because a type may request its container twice. [-0, +1, raises: -]
  /// - Returns: nil if the value that contains the place is over, or the stack is full.
  func open(_ seat: LuaSeatOfValue, in outer: LuaFrame) -> LuaOpenTable? {
    guard writes(outer, seat) else { return nil }
    guard stack.reserve(8) else {
      isFull = true
      return nil
    }
    switch seat {
    case .slot(let index): cml_pushvalue(L, index)
    case .field(let table, let name):
      stack.push(name)
      _ = cml_rawget(L, table.index)
    case .item(let table, let place): _ = cml_rawgeti(L, table.index, Int64(place) &+ 1)
    }
    if stack.type(-1) != .table {
      stack.pop()
      stack.newTable()
      let index = cml_gettop(L)
      set(seat) { cml_pushvalue($0.L, index) }
    }
    return LuaOpenTable(stack, cml_gettop(L))
  }

  /// The innermost value that is being written, for containers that are valid only during that.
  var frame: LuaFrame { frames.innermost }

  /// Whether a value is still being written, and the place in it is still on the stack.
  func writes(_ frame: LuaFrame, _ seat: LuaSeatOfValue) -> Bool {
    guard frames.contains(frame), body.calls == depth else { return false }
    switch seat {
    case .slot: return true
    case .field(let table, _), .item(let table, _): return table.isOpen(stack)
    }
  }

  func requireUse(_ frame: LuaFrame, _ seat: LuaSeatOfValue, for value: Any) throws {
    if writes(frame, seat) { return }
    throw failure(
      value,
      isFull
        ? "too much at once"
        : "this encoder has expired: it can be used only while it encodes, and while no other "
          + "value crosses")
  }

  private func failure(_ value: Any, _ text: String, _ key: LuaKey? = nil) -> any Error {
    let steps = key.map { path + [$0] } ?? path
    if failed == nil { failed = steps }
    return EncodingError.invalidValue(value, .init(codingPath: steps, debugDescription: text))
  }

  private func luaError(_ error: any Error) -> LuaError {
    let text =
      switch error as? EncodingError {
      case .invalidValue(_, let context)?: context.debugDescription
      default: "\(error)"
      }
    let place = LuaKey.text(of: failed ?? [])
    return LuaError(
      message: LuaText.clean(place.isEmpty ? text : "\(place): \(text)"), underlying: error)
  }
}

extension LuaStack {
  /// Pushes Codable values. [-0, +n, raises: -]
  /// - Throws: `LuaError` if one cannot be written.
  package func push<each A: Encodable>(coded values: repeat each A) throws(LuaError) -> Int {
    var count = 0
    for value in repeat each values {
      try LuaEncoding.push(value, on: self)
      count += 1
    }
    return count
  }
}

/// Dictionaries with numeric keys: a string that looks like a number has the same coding key.
private protocol LuaNumberKeyed {}
extension Dictionary: LuaNumberKeyed where Key == Int {}

/// Where a value is written.
enum LuaSeatOfValue {
  /// A place on the stack.
  case slot(Int32)
  case field(LuaOpenTable, String)
  /// An item of a list, counted from 0.
  case item(LuaOpenTable, Int)
}

/// One value, for the type that writes it. Once that is over, calls have no effect.
struct LuaValueEncoder: Encoder, SingleValueEncodingContainer {
  let work: LuaEncoding
  let seat: LuaSeatOfValue
  private let frame: LuaFrame

  /// - Parameter outer: The value that contains this one; nil: the one that is being written.
  init(_ work: LuaEncoding, _ seat: LuaSeatOfValue, _ outer: LuaFrame? = nil) {
    (self.work, self.seat) = (work, seat)
    frame = outer ?? work.frame
  }

  var codingPath: [any CodingKey] { work.path }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(LuaNewFields<Key>(work, seat, frame))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { LuaNewItems(work, seat, frame) }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() throws {
    if work.writes(frame, seat) { work.set(seat) { $0.pushNil() } }
  }

  func encode<T: Encodable>(_ value: T) throws {
    try work.requireUse(frame, seat, for: value)
    try work.write(value, seat, key: nil)
  }
}

/// The fields of a new table. Nil values are left out.
struct LuaNewFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let work: LuaEncoding
  private let table: LuaOpenTable
  private let frame: LuaFrame
  private let hasNumbers: Bool

  /// - Parameter outer: The value that contains the table; if that is over, so is this.
  init(_ work: LuaEncoding, _ seat: LuaSeatOfValue, _ outer: LuaFrame) {
    self.work = work
    let open = work.open(seat, in: outer)
    frame = open == nil ? .none : work.frame
    table = open ?? .none
    (hasNumbers, work.hasNumbers) = (work.hasNumbers, false)
  }

  var codingPath: [any CodingKey] { work.path }

  private func seat(_ key: some CodingKey) -> LuaSeatOfValue {
    if hasNumbers, let number = key.intValue { return .item(table, number &- 1) }
    return .field(table, key.stringValue)
  }

  func encodeNil(forKey key: Key) {}

  // The most common types, without going through generic code.

  func encode(_ value: String, forKey key: Key) throws { try set(key, value) { $0.push(value) } }

  func encode(_ value: Int, forKey key: Key) throws { try set(key, value) { $0.push(value) } }

  func encode(_ value: Double, forKey key: Key) throws { try set(key, value) { $0.push(value) } }

  func encode(_ value: Bool, forKey key: Key) throws { try set(key, value) { $0.push(value) } }

  @inline(__always)
  private func set<T>(_ key: Key, _ value: T, _ push: (LuaStack) -> Void) throws {
    let seat = seat(key)
    try work.requireUse(frame, seat, for: value)
    work.set(seat, push)
  }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    let seat = seat(key)
    try work.requireUse(frame, seat, for: value)
    try work.write(value, seat, key: LuaKey(key))
  }

  func nestedContainer<Nested>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(LuaNewFields<Nested>(work, seat(key), frame))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    LuaNewItems(work, seat(key), frame)
  }

  func superEncoder() -> any Encoder { LuaValueEncoder(work, seat(LuaKey.superclass), frame) }

  func superEncoder(forKey key: Key) -> any Encoder { LuaValueEncoder(work, seat(key), frame) }
}

/// The items of a new list. A nil value leaves its place empty.
struct LuaNewItems: UnkeyedEncodingContainer {
  private let work: LuaEncoding
  private let table: LuaOpenTable
  private let frame: LuaFrame
  private(set) var count = 0

  /// - Parameter outer: As for `LuaNewFields`.
  init(_ work: LuaEncoding, _ seat: LuaSeatOfValue, _ outer: LuaFrame) {
    self.work = work
    let open = work.open(seat, in: outer)
    frame = open == nil ? .none : work.frame
    table = open ?? .none
  }

  var codingPath: [any CodingKey] { work.path }

  private mutating func next() -> LuaSeatOfValue {
    defer { count += 1 }
    return .item(table, count)
  }

  mutating func encodeNil() { count += 1 }

  mutating func encode(_ value: String) throws {
    try work.requireUse(frame, .item(table, count), for: value)
    work.set(next()) { $0.push(value) }
  }

  mutating func encode<T: Encodable>(_ value: T) throws {
    try work.requireUse(frame, .item(table, count), for: value)
    let key = LuaKey.item(count)
    try work.write(value, next(), key: key)
  }

  mutating func nestedContainer<Nested>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(LuaNewFields<Nested>(work, next(), frame))
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    LuaNewItems(work, next(), frame)
  }

  mutating func superEncoder() -> any Encoder { LuaValueEncoder(work, next(), frame) }
}
