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

  /// Bytes that may still be made, if the state has a limit of memory: what Lua has once may be in
  /// a value many times.
  @exclusivity(unchecked) private var room: Int
  private let firstRoom: Int
  @exclusivity(unchecked) private var values = 0

  private init(_ stack: LuaStack, _ body: LuaStateBody) {
    (self.stack, self.body, depth) = (stack, body, body.calls)
    firstRoom = cml_begin_making(body.record)
    room = firstRoom
  }

  private func endMaking() {
    _ = cml_make(body.record, firstRoom - room)
    cml_end_making(body.record)
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
    defer { work.endMaking() }
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
      try charge(16)
      frames.begin()
      defer { frames.end() }
      let value = try traits(of: type).read(type, self, index)
      stray = nil
      return value
    } catch {
      throw error.at(place().steps) ?? noteStray(error, place().steps)
    }
  }

  /// Counts what is made for Swift, and notices now and then that the call-out is to be stopped.
  @inline(__always)
  func charge(_ bytes: Int) throws {
    room -= bytes
    values &+= 1
    if room < 0 || values & 1023 == 0 { try requireRoom() }
  }

  @inline(never)
  private func requireRoom() throws {
    if room < 0 {
      throw failure("must not be larger than the memory limit of \(body.limits.memory ?? 0) bytes")
    }
    if cml_must_stop(body.record) { throw failure("takes too long to read") }
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
    try charge(count * 8)
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
    if let text = stack.text(index) {
      try charge(text.utf8.count)
      return text
    }
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
  let problem: String
  let underlying: any Error

  /// The path as a script would write it; empty for the value itself.
  var place: String { LuaKey.text(of: path) }

  /// The steps of the path: names, and positions counted from 1.
  package var steps: [LuaValue] {
    path.map { key in
      if case .item(let item)? = key as? LuaKey { return .integer(item &+ 1) }
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
