// Codable values from Lua tables, read in place: nothing is copied on the way.

internal import CLuaShims

/// A Codable type whose missing fields have the values of `init()`.
///
/// ```swift
/// struct Server: Codable, LuaDefaultFields {
///   var host = "127.0.0.1"
///   var port = 8080
/// }
/// ```
public protocol LuaDefaultFields: Codable {
  /// Makes a value with the default fields.
  init()
}

/// A Codable type that refuses unknown fields: the message has the nearest name.
public protocol LuaExactFields: Decodable {}

/// One value being decoded, with all its parts. It cannot be used afterwards.
final class LuaDecoding {
  // Unchecked is what each value needs: no access to it spans a call of a type's own code.

  let stack: LuaStack
  var L: OpaquePointer { stack.L }
  /// The values that are being read, each inside the one before.
  @exclusivity(unchecked) private var frames = LuaFrames()
  /// The path to what threw an error of another type, since only decoding errors have their own.
  @exclusivity(unchecked) private var stray: [any CodingKey]?
  /// What is known about the types that occurred: few, so that a search is quick.
  @exclusivity(unchecked) private var traits: [LuaFieldTraits] = []
  private let body: LuaStateBody
  /// The calls into the state, this one included: what is read here waits while others run.
  private let depth: Int

  private init(_ stack: LuaStack, _ body: LuaStateBody) {
    (self.stack, self.body, depth) = (stack, body, body.calls)
  }

  /// Reads the value at an index. [-0, +0, raises: -]
  static func decode<T: Decodable>(_ type: T.Type, _ stack: LuaStack, _ index: Int32)
    throws(LuaDataFailure) -> T
  {
    // A type may close the state: it closes when the value is made.
    let body = stack.state.body
    body.beginCall()
    defer { body.endCall() }
    let work = LuaDecoding(stack, body)
    let top = cml_gettop(stack.L)
    defer { cml_settop(stack.L, top) }
    do { return try work.value(T.self, stack.absolute(index)) } catch {
      throw work.report(error)
    }
  }

  // MARK: Values

  /// Reads the value at an index, which has a place in the value that is being read.
  func value<T: Decodable>(
    _ type: T.Type, _ index: Int32, at place: () -> LuaPlace = { LuaPlace() }
  ) throws -> T {
    let top = cml_gettop(L)
    defer { cml_settop(L, top) }
    do {
      guard !frames.isFull, stack.reserve(12) else {
        throw failure("must not be nested more than \(LuaFrames.deepest) deep")
      }
      frames.begin()
      defer { frames.end() }
      let value = try traits(of: type).read(type, self, index)
      stray = nil
      return value
    } catch {
      throw error.at(place().steps) ?? noteStray(error, place().steps)
    }
  }

  private func noteStray(_ error: any Error, _ steps: [any CodingKey]) -> any Error {
    stray = steps + (stray ?? [])
    return error
  }

  private func traits<T: Decodable>(of type: T.Type) -> LuaFieldTraits {
    let id = ObjectIdentifier(type)
    for known in traits where known.type == id { return known }
    let new = LuaFieldTraits(type)
    traits.append(new)
    return new
  }

  /// A whole number of any width, including floats without a fraction.
  @inline(__always)
  func integer<T: FixedWidthInteger>(_ index: Int32, _ place: () -> LuaPlace = { LuaPlace() })
    throws -> T
  {
    guard stack.type(index) == .number, let number = stack.integer(index) else {
      throw mismatch(T.self, "an integer", index, place())
    }
    guard let exact = T(exactly: number) else {
      throw mismatch(T.self, "an integer from \(T.min) to \(T.max)", index, place())
    }
    return exact
  }

  func number(_ index: Int32, _ place: () -> LuaPlace = { LuaPlace() }) throws -> Double {
    if let number = stack.exactNumber(index) { return number }
    throw mismatch(Double.self, "a number", index, place())
  }

  /// A list whose items a closure reads.
  func list<Item>(
    _ index: Int32, _ item: (LuaDecoding, Int32, () -> LuaPlace) throws -> Item
  ) throws -> [Item] {
    let count = try listCount(index, [])
    var items: [Item] = []
    items.reserveCapacity(count)
    for place in 0..<count {
      _ = cml_rawgeti(L, index, Int64(place) + 1)
      items.append(try item(self, cml_gettop(L)) { LuaPlace(key: .item(place)) })
      stack.pop()
    }
    return items
  }

  /// How many items a list has.
  func listCount(_ index: Int32, _ containers: [LuaKey]) throws -> Int {
    guard stack.type(index) == .table else {
      throw mismatch([Any].self, "a list", index, LuaPlace(containers: containers))
    }
    let count = stack.listCount(index)
    guard stack.reserve(8), pushOther(index, count) else { return count }
    defer { stack.pop(2) }
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: containers,
        debugDescription: "must be a list, got a table with the field \(stack.given(-2))"))
  }

  /// Pushes a field that is not one of the first items of a list: behind a gap, or with a name.
  /// - Returns: Whether there is one. [-0, +(0|2), raises: -]
  private func pushOther(_ index: Int32, _ count: Int) -> Bool {
    func isItem() -> Bool {
      stack.type(-2) == .number && (stack.integer(-2).map { $0 >= 1 && $0 <= count } ?? false)
    }
    if count > 0 {
      stack.push(count)
      guard stack.next(index) else { return false }  // so it is in most tables
      if !isItem() { return true }
      stack.pop(2)
    }
    stack.pushNil()
    while stack.next(index) {
      if !isItem() { return true }
      stack.pop()
    }
    return false
  }

  func flag(_ index: Int32, _ place: () -> LuaPlace = { LuaPlace() }) throws -> Bool {
    if stack.type(index) == .boolean { return stack.boolean(index) }
    throw mismatch(Bool.self, "true or false", index, place())
  }

  func text(_ index: Int32, _ place: () -> LuaPlace = { LuaPlace() }) throws -> String {
    if let text = stack.text(index) { return text }
    throw mismatch(String.self, "a string", index, place())
  }

  // MARK: Failures

  @inline(never)
  func mismatch(
    _ type: Any.Type, _ expected: String, _ index: Int32, _ place: LuaPlace = LuaPlace()
  ) -> any Error {
    let text = stack.mustBe(expected, index)
    let context = DecodingError.Context(codingPath: place.steps, debugDescription: text)
    switch stack.type(index) {
    case .nil, .none:
      guard let key = place.key else { return DecodingError.valueNotFound(type, context) }
      return DecodingError.keyNotFound(
        key, .init(codingPath: place.containers, debugDescription: text))
    default: return DecodingError.typeMismatch(type, context)
    }
  }

  func failure(_ text: String) -> any Error {
    DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: text))
  }

  private func report(_ error: any Error) -> LuaDataFailure {
    guard let told = error as? DecodingError else {
      return LuaDataFailure(path: stray ?? [], problem: "\(error)", underlying: error)
    }
    let path =
      if case .keyNotFound(let key, let context) = told { context.codingPath + [key] } else {
        told.context?.codingPath ?? []
      }
    return LuaDataFailure(
      path: path, problem: told.context?.debugDescription ?? "\(error)", underlying: error)
  }

  /// The innermost value that is being read, for containers that are valid only during that.
  var frame: LuaFrame { frames.innermost }

  /// Whether a value is still being read, so that its source is on the stack.
  @inline(__always)
  func reads(_ frame: LuaFrame) -> Bool { frames.contains(frame) && body.calls == depth }

  @inline(__always)
  func requireUse(_ frame: LuaFrame) throws {
    if !reads(frame) { throw isOver }
  }

  /// The same for a container: nil if it is not one of a table.
  @inline(__always)
  func requireUse(_ frame: LuaFrame, _ table: LuaOpenTable?) throws {
    if !reads(frame, table) { throw isOver }
  }

  @inline(__always)
  func reads(_ frame: LuaFrame, _ table: LuaOpenTable?) -> Bool {
    reads(frame) && table?.isOpen(stack) != false
  }

  private var isOver: any Error {
    failure(
      "this decoder has expired: it can be used only while it decodes, and while no other value "
        + "crosses")
  }
}

extension DecodingError {
  fileprivate var context: Context? {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context),
      .keyNotFound(_, let context), .dataCorrupted(let context):
      context
    @unknown default: nil
    }
  }
}

extension Error {
  /// The same error for a value inside another; nil if it is not a decoding error.
  fileprivate func at(_ steps: [any CodingKey]) -> (any Error)? {
    guard let error = self as? DecodingError, let inner = error.context else { return nil }
    if steps.isEmpty { return error }
    let context = DecodingError.Context(
      codingPath: steps + inner.codingPath, debugDescription: inner.debugDescription,
      underlyingError: inner.underlyingError)
    return switch error {
    case .typeMismatch(let type, _): DecodingError.typeMismatch(type, context)
    // In Lua a nil field does not exist.
    case .valueNotFound where inner.codingPath.isEmpty:
      DecodingError.keyNotFound(
        steps[steps.count - 1],
        .init(codingPath: steps.dropLast(), debugDescription: inner.debugDescription))
    case .valueNotFound(let type, _): DecodingError.valueNotFound(type, context)
    case .keyNotFound(let key, _): DecodingError.keyNotFound(key, context)
    default: DecodingError.dataCorrupted(context)
    }
  }
}

/// What is wrong with a value, and where inside it: `routes[2].port`, `must be an integer, got
/// "x"`.
package struct LuaDataFailure: Error {
  let path: [any CodingKey]
  package let problem: String
  package let underlying: any Error

  /// The path as a script would write it; empty for the value itself.
  package var place: String { LuaKey.text(of: path) }

  /// The steps of the path: names, and positions counted from 1.
  package var steps: [LuaValue] {
    path.map { key in
      if case .item(let item)? = key as? LuaKey { return .integer(item + 1) }
      return .string(key.stringValue)
    }
  }

  /// - Parameter where: What comes before the path: a file and a line.
  package func error(at origin: String = "") -> LuaError {
    LuaError(
      message: LuaText.clean(
        ([origin, place].filter { !$0.isEmpty } + [problem]).joined(separator: ": ")),
      underlying: underlying)
  }
}

extension LuaStack {
  /// Makes a Codable value of the one at an index. [-0, +0, raises: -]
  package func decode<T: Decodable>(_ type: T.Type, _ index: Int32) throws(LuaDataFailure) -> T {
    try LuaDecoding.decode(type, self, index)
  }
}

extension LuaStack {
  /// How many items a list has. For a table with holes, Lua may report 2^62 items: in a long list
  /// they are counted up to the first nil.
  func listCount(_ index: Int32) -> Int {
    let count = Int(clamping: cml_rawlen(L, index))
    if count < 1 << 16 { return count }
    for item in 1...count {
      let isNil = cml_rawgeti(L, index, Int64(item)) == 0
      pop()
      if isNil { return item - 1 }
    }
    return count
  }
}

/// A value's place inside the one that is being read: nested containers, and a key.
struct LuaPlace {
  var containers: [LuaKey] = []
  var key: LuaKey?

  var steps: [LuaKey] { key.map { containers + [$0] } ?? containers }
}

/// What is known about a type that is read.
final class LuaFieldTraits {
  private enum Kind {
    case plain, duration, date
    /// A type that needs no decoder, and how it is read.
    case simple((LuaDecoding, Int32) throws -> Any)
  }

  let type: ObjectIdentifier
  private let kind: Kind
  private let defaults: (any LuaDefaultFields.Type)?
  private let isExact: Bool
  /// A table with the defaults, made when the first field is missing.
  private var defaultTable: LuaReference?

  init(_ type: any Decodable.Type) {
    self.type = ObjectIdentifier(type)
    kind = Self.kind(of: type)
    defaults = type as? any LuaDefaultFields.Type
    isExact = type is any LuaExactFields.Type
  }

  private static func kind(of type: any Decodable.Type) -> Kind {
    switch type {
    case is Duration.Type: .duration
    case is String.Type: .simple { try $0.text($1) }
    case is Int.Type: .simple { try $0.integer($1) as Int }
    case is Double.Type: .simple { try $0.number($1) }
    case is Bool.Type: .simple { try $0.flag($1) }
    case is Float.Type: .simple { Float(try $0.number($1)) }
    case is UInt.Type: .simple { try $0.integer($1) as UInt }
    case is Int8.Type: .simple { try $0.integer($1) as Int8 }
    case is Int16.Type: .simple { try $0.integer($1) as Int16 }
    case is Int32.Type: .simple { try $0.integer($1) as Int32 }
    case is Int64.Type: .simple { try $0.integer($1) as Int64 }
    case is UInt8.Type: .simple { try $0.integer($1) as UInt8 }
    case is UInt16.Type: .simple { try $0.integer($1) as UInt16 }
    case is UInt32.Type: .simple { try $0.integer($1) as UInt32 }
    case is UInt64.Type: .simple { try $0.integer($1) as UInt64 }
    case is [String].Type: .simple { try $0.list($1) { try $0.text($1, $2) } }
    case is [Int].Type: .simple { try $0.list($1) { try $0.integer($1, $2) as Int } }
    case is [Double].Type: .simple { try $0.list($1) { try $0.number($1, $2) } }
    default: type == LuaDates.type ? .date : .plain
    }
  }

  func read<T: Decodable>(_ type: T.Type, _ work: LuaDecoding, _ index: Int32) throws -> T {
    switch kind {
    case .plain:
      let names = isExact ? LuaAskedNames() : nil
      let value = try T(from: LuaValueDecoder(work, index, names, defaults == nil ? nil : self))
      if let names { try names.check(work, index) }
      return value
    case .simple(let read): return try read(work, index) as! T  // the type is the one it reads
    case .duration:
      let seconds = try work.number(index)
      guard let nanoseconds = LuaSeconds.nanoseconds(seconds, .any),
        nanoseconds.magnitude < Int64.max
      else {
        throw work.mismatch(T.self, LuaSecondsRule.any.rawValue, index)
      }
      return Duration.nanoseconds(nanoseconds) as! T  // T is Duration
    case .date:
      return try T(from: LuaDates.Reader(seconds: try work.number(index)))
    }
  }

  /// Pushes the default of a field, or nil. [-0, +1, raises: -]
  func pushDefault(_ name: String, _ work: LuaDecoding) throws {
    guard let defaults else { return work.stack.pushNil() }
    if defaultTable == nil {
      try LuaEncoding.push(defaults.init(), on: work.stack)
      // What is not written as a table has no fields.
      if work.stack.type(-1) != .table {
        work.stack.pop()
        work.stack.newTable(fields: 0)
      }
      defaultTable = LuaReference(popping: work.stack)
    }
    work.stack.push(defaultTable!)
    work.stack.push(name)
    _ = cml_rawget(work.L, -2)
    cml_rotate(work.L, -2, 1)
    work.stack.pop()
  }
}

/// The fields that a type has requested: any others in the table are mistakes.
final class LuaAskedNames {
  private var names: Set<String> = []

  func add(_ name: String) { names.insert(name) }

  func check(_ work: LuaDecoding, _ index: Int32) throws {
    let stack = work.stack
    guard stack.type(index) == .table else { return }
    var unknown: [String] = []
    stack.pushNil()
    while stack.next(index) {
      stack.pop()
      if stack.type(-1) == .string {
        let name = stack.string(-1) ?? ""
        if !names.contains(name) { unknown.append(name) }
      } else {
        unknown.append("[\(stack.given(-1))]")
      }
    }
    guard let first = unknown.min() else { return }
    let near = LuaText.nearest(to: first, among: names.sorted())
    let hint =
      near.map { "did you mean '\($0)'?" } ?? "there are \(names.sorted().joined(separator: ", "))"
    throw work.failure("unknown field '\(first)'; \(hint)")
  }
}

/// Dates are seconds since 1970 in Lua. Foundation's type is recognised by its name alone, so that
/// a program without Foundation stays without it.
enum LuaDates {
  static let type: Any.Type? =
    _typeByName("20FoundationEssentials4DateV") ?? _typeByName("10Foundation4DateV")
  /// From 1970 to 2001, where the dates of their coders begin.
  private static let shift = 978_307_200.0

  /// Gives a date the number it reads: seconds since 2001.
  struct Reader: Decoder, SingleValueDecodingContainer {
    let seconds: Double
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
      throw refusal
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw refusal }

    func decodeNil() -> Bool { false }
    func decode(_ type: Double.Type) -> Double { seconds - shift }
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
      guard let number = decode(Double.self) as? T else { throw refusal }
      return number
    }

    private var refusal: any Error {
      DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "a date is a number"))
    }
  }

  /// Takes the number that a date writes.
  final class Writer: Encoder, SingleValueEncodingContainer {
    private(set) var seconds: Double?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
      fatalError("a date is a number")
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { fatalError("a date is a number") }

    func encodeNil() {}
    func encode(_ value: Double) { seconds = value + shift }
    func encode<T: Encodable>(_ value: T) throws {
      if let value = value as? Double { encode(value) }
    }
  }
}
