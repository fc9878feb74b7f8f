// The decoder and its containers: views of tables on the stack.

internal import CLuaShims

/// One value, for the type that decodes itself from it.
struct LuaValueDecoder: Decoder {
  let work: LuaDecoding
  let index: Int32
  /// The requested fields, if they must be checked.
  let names: LuaAskedNames?
  /// The type's own fields, if some may be missing.
  let defaults: LuaFieldTraits?
  var containers: [LuaKey] = []
  private let frame: LuaFrame

  init(
    _ work: LuaDecoding, _ index: Int32, _ names: LuaAskedNames? = nil,
    _ defaults: LuaFieldTraits? = nil, containers: [LuaKey] = []
  ) {
    self.work = work
    frame = work.frame
    self.index = index
    self.names = names
    self.defaults = defaults
    self.containers = containers
  }

  var codingPath: [any CodingKey] { containers }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try work.requireUse(frame)
    return KeyedDecodingContainer(
      try LuaFields<Key>(work, index, names: names, defaults: defaults, containers: containers))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try work.requireUse(frame)
    return try LuaItems(work, index, containers: containers)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    try work.requireUse(frame)
    return self
  }
}

extension LuaValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { !work.reads(frame) || work.isNil(index) }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try work.requireUse(frame)
    return try work.value(type, index) { LuaPlace(containers: containers) }
  }
}

extension LuaDecoding {
  func isNil(_ index: Int32) -> Bool {
    switch stack.type(index) {
    case .nil, .none: true
    default: false
    }
  }
}

/// The table that fields are read from, for keys of any type.
///
/// A string stands for the table of a case without values: `"none"` is `{ none = {} }`.
struct LuaFieldTable {
  let work: LuaDecoding
  let index: Int32
  private let frame: LuaFrame
  /// nil: a word.
  private let table: LuaOpenTable?
  var isWord: Bool { table == nil }
  private let names: LuaAskedNames?
  private let defaults: LuaFieldTraits?
  let containers: [LuaKey]

  init(
    _ work: LuaDecoding, _ index: Int32, names: LuaAskedNames? = nil,
    defaults: LuaFieldTraits? = nil, containers: [LuaKey], isWord: (String) -> Bool
  ) throws {
    self.work = work
    self.index = index
    frame = work.frame
    self.names = names
    self.defaults = defaults
    self.containers = containers
    switch work.stack.type(index) {
    case .table: table = LuaOpenTable(work.stack, index)
    case .string where isWord(work.stack.string(index) ?? ""): table = nil
    default:
      throw work.mismatch(
        [String: Any].self, "a table", index, LuaPlace(containers: containers))
    }
  }

  /// Pushes the value of a field, or its default. [-0, +1, raises: -]
  func push(_ name: String, _ number: Int?) throws -> Int32 {
    try work.requireUse(frame, table)
    let stack = work.stack  // With room reserved for what stays on it.
    names?.add(name)
    if isWord {
      // The string itself is its only field, without values.
      if stack.string(index) == name { stack.newTable() } else { stack.pushNil() }
      return cml_gettop(work.L)
    }
    stack.push(name)
    if cml_rawget(work.L, index) == 0 { try pushOther(name, number) }
    return cml_gettop(work.L)
  }

  /// Looks up a missing field in other ways: by its number; for a case's unnamed values by
  /// position; its default. [-1, +1, raises: -]
  private func pushOther(_ name: String, _ number: Int?) throws {
    let isPlace = name.utf8.first == UInt8(ascii: "_")
    if let place = number ?? (isPlace ? Int(name.dropFirst()).map { $0 &+ 1 } : nil) {
      work.stack.pop()
      if cml_rawgeti(work.L, index, Int64(place)) != 0 { return }
    }
    if let defaults {
      work.stack.pop()
      try defaults.pushDefault(name, work)
    }
  }

  /// Whether the table is still there.
  var isOpen: Bool { work.reads(frame, table) }

  func contains(_ name: String, _ number: Int?) -> Bool {
    if !isOpen { return false }
    let top = cml_gettop(work.L)
    defer { cml_settop(work.L, top) }
    guard let found = try? push(name, number) else { return false }
    return !work.isNil(found)
  }

  /// Reads a field with a function, which gets the value's index and the field's key.
  @inline(__always)
  func read<T>(
    _ name: String, _ number: Int?,
    _ body: (Int32, () -> LuaPlace) throws -> T
  ) throws -> T {
    let found = try push(name, number)
    defer { cml_settop(work.L, found - 1) }
    return try body(found) { LuaPlace(containers: containers, key: .field(name, number)) }
  }

  /// The path to the container at a key.
  func inside(_ key: some CodingKey) -> [LuaKey] { containers + [LuaKey(key)] }

  // The most common types, without going through generic code.

  func text(_ name: String, _ number: Int?) throws -> String {
    try read(name, number) { try work.text($0, $1) }
  }

  func integer(_ name: String, _ number: Int?) throws -> Int {
    try read(name, number) { try work.integer($0, $1) }
  }

  func number(_ name: String, _ number: Int?) throws -> Double {
    try read(name, number) { try work.number($0, $1) }
  }

  func flag(_ name: String, _ number: Int?) throws -> Bool {
    try read(name, number) { try work.flag($0, $1) }
  }
}

/// The fields of a table.
struct LuaFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let table: LuaFieldTable

  init(
    _ work: LuaDecoding, _ index: Int32, names: LuaAskedNames? = nil,
    defaults: LuaFieldTraits? = nil, containers: [LuaKey]
  ) throws {
    table = try LuaFieldTable(
      work, index, names: names, defaults: defaults, containers: containers,
      isWord: { Key(stringValue: $0) != nil })
  }

  var codingPath: [any CodingKey] { table.containers }

  var allKeys: [Key] {
    let stack = table.work.stack
    if !table.isOpen || !stack.reserve(8) { return [] }
    if table.isWord {
      return [Key(stringValue: stack.string(table.index) ?? "")].compactMap(\.self)
    }
    // A key's initializer may use the state, also this table.
    var found: [LuaValue] = []
    stack.pushNil()
    while stack.next(table.index) {
      stack.pop()
      if stack.type(-1) == .string {
        if let name = stack.text(-1) { found.append(.string(name)) }
      } else if let number = stack.exactInteger(-1) {
        found.append(.integer(number))
      }
    }
    return found.compactMap {
      switch $0 {
      case .string(let name): Key(stringValue: name)
      case .integer(let number): Key(intValue: number)
      default: nil
      }
    }
  }

  func contains(_ key: Key) -> Bool { table.contains(key.stringValue, key.intValue) }

  func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try table.text(key.stringValue, key.intValue)
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try table.integer(key.stringValue, key.intValue)
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try table.number(key.stringValue, key.intValue)
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try table.flag(key.stringValue, key.intValue)
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try table.read(key.stringValue, key.intValue) { found, place in
      try table.work.value(type, found, at: place)
    }
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try table.read(key.stringValue, key.intValue) { found, place in
      table.work.isNil(found) ? nil : try table.work.value(type, found, at: place)
    }
  }

  // These containers read values that stay on the stack until the whole value is made.

  private func push(_ key: some CodingKey) throws -> Int32 {
    guard !table.isOpen || table.work.stack.reserve(12) else {
      throw table.work.failure("too much at once")
    }
    return try table.push(key.stringValue, key.intValue)
  }

  func nestedContainer<Nested>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    KeyedDecodingContainer(
      try LuaFields<Nested>(table.work, push(key), containers: table.inside(key)))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try LuaItems(table.work, push(key), containers: table.inside(key))
  }

  /// The field `super`; if there is none, the fields of this table.
  func superDecoder() throws -> any Decoder {
    let found = try push(LuaKey.superclass)
    if !table.work.isNil(found) {
      return LuaValueDecoder(table.work, found, containers: table.inside(LuaKey.superclass))
    }
    return LuaValueDecoder(table.work, table.index, containers: table.containers)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    try LuaValueDecoder(table.work, push(key), containers: table.inside(key))
  }
}

/// The items of a list, or the bytes of a string.
struct LuaItems: UnkeyedDecodingContainer {
  private let work: LuaDecoding
  private let index: Int32
  private let frame: LuaFrame
  private let containers: [LuaKey]
  private let bytes: [UInt8]?
  /// nil: a string.
  private let table: LuaOpenTable?
  private let size: Int
  private(set) var currentIndex = 0

  init(_ work: LuaDecoding, _ index: Int32, containers: [LuaKey]) throws {
    self.work = work
    self.index = index
    frame = work.frame
    self.containers = containers
    bytes = work.stack.withBytes(index) { Array($0) }
    size = try bytes?.count ?? work.listCount(index, containers)
    try work.charge(size)
    table = bytes == nil ? LuaOpenTable(work.stack, index) : nil
  }

  var codingPath: [any CodingKey] { containers }
  var count: Int? { size }
  var isAtEnd: Bool { currentIndex >= size }

  private var place: LuaPlace { LuaPlace(containers: containers, key: .item(currentIndex)) }

  /// Pushes the next item. [-0, +1, raises: -]
  private func push() throws -> Int32 {
    try work.requireUse(frame, table)
    guard work.stack.reserve(8) else { throw work.failure("too much at once") }
    if isAtEnd {
      throw DecodingError.valueNotFound(
        Any.self,
        .init(codingPath: codingPath, debugDescription: "must have more than \(size) items"))
    }
    if let bytes {
      work.stack.push(Int(bytes[currentIndex]))
    } else {
      _ = cml_rawgeti(work.L, index, Int64(currentIndex) + 1)
    }
    return cml_gettop(work.L)
  }

  mutating func decodeNil() throws -> Bool {
    let found = try push()
    defer { cml_settop(work.L, found - 1) }
    guard work.isNil(found) else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode(_ type: String.Type) throws -> String {
    let found = try push()
    defer { cml_settop(work.L, found - 1) }
    if bytes != nil { throw notList(String.self) }
    let text = try work.text(found) { place }
    currentIndex += 1
    return text
  }

  /// A string counts as a list only for types that take bytes.
  private func notList(_ type: Any.Type) -> any Error {
    work.mismatch([Any].self, "a list", index, LuaPlace(containers: containers))
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let found = try push()
    defer { cml_settop(work.L, found - 1) }
    if bytes != nil, type != UInt8.self { throw notList(type) }
    let value = try work.value(type, found) { place }
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<Nested>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let fields = try LuaFields<Nested>(work, push(), containers: place.steps)
    currentIndex += 1
    return KeyedDecodingContainer(fields)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let items = try LuaItems(work, push(), containers: place.steps)
    currentIndex += 1
    return items
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try LuaValueDecoder(work, push(), containers: place.steps)
    currentIndex += 1
    return decoder
  }
}
