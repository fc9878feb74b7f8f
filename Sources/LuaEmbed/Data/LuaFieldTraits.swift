// What is known about the types that values are read as.

internal import CLuaShims

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
