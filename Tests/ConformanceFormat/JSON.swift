// The subset of JSON that scenario files and the driver's own line need: strict, with line numbers.

/// A JSON value; the fields of an object keep their order.
package enum JSON {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([(name: String, value: JSON)])

  /// What to call the value in a message.
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// Something in a file that breaks the format.
package struct FormatError: Error {
  package let message: String
  package init(message: String) { self.message = message }
}

extension JSON {
  /// Reads one value that fills the whole text.
  package static func parse(_ bytes: [UInt8]) throws(FormatError) -> JSON {
    var reader = JSONReader(bytes: bytes)
    let value = try reader.value()
    reader.skipSpace()
    guard reader.position == bytes.count else {
      throw reader.error("there is more after the end of the value")
    }
    return value
  }

  /// The value as text on one line; with spaces after commas and colons, as in scenario files.
  package var text: String {
    switch self {
    case .null: return "null"
    case .bool(let bool): return "\(bool)"
    case .number(let number):
      return Int(exactly: number).map { "\($0)" } ?? "\(number)"
    case .string(let string): return JSON.quoted(string)
    case .array(let elements): return "[" + elements.map(\.text).joined(separator: ", ") + "]"
    case .object(let fields):
      return "{"
        + fields.map { "\(JSON.quoted($0.name)): \($0.value.text)" }
        .joined(separator: ", ") + "}"
    }
  }

  /// A string as JSON text.
  package static func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{0}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}

/// A reader over the bytes of a text, by recursive descent; nesting is limited.
private struct JSONReader {
  let bytes: [UInt8]
  var position = 0
  private var depth = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  func error(_ what: String) -> FormatError {
    let line = 1 + bytes[..<min(position, bytes.count)].count { $0 == UInt8(ascii: "\n") }
    return FormatError(message: "line \(line): \(what)")
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func skipSpace() {
    while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func expect(_ character: Unicode.Scalar) throws(FormatError) {
    guard take(character) else { throw error("expected '\(character)'") }
  }

  mutating func value() throws(FormatError) -> JSON {
    depth += 1
    defer { depth -= 1 }
    guard depth <= 64 else { throw error("nested too deeply (64 levels)") }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return .object(try fields())
    case UInt8(ascii: "["): return .array(try elements())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func word(_ text: String, _ value: JSON) throws(FormatError) -> JSON {
    guard bytes[position...].starts(with: text.utf8) else { throw error("expected a value") }
    position += text.utf8.count
    return value
  }

  private mutating func fields() throws(FormatError) -> [(name: String, value: JSON)] {
    try expect("{")
    var fields: [(name: String, value: JSON)] = []
    if take("}") { return fields }
    repeat {
      skipSpace()
      let name = try string()
      if fields.contains(where: { $0.name == name }) { throw error("'\(name)' appears twice") }
      try expect(":")
      fields.append((name, try value()))
    } while take(",")
    try expect("}")
    return fields
  }

  private mutating func elements() throws(FormatError) -> [JSON] {
    try expect("[")
    var elements: [JSON] = []
    if take("]") { return elements }
    repeat { elements.append(try value()) } while take(",")
    try expect("]")
    return elements
  }

  private mutating func number() throws(FormatError) -> Double {
    let start = position
    while let byte = next, "+-.eE0123456789".utf8.contains(byte) { position += 1 }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    let grammar = /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/
    guard text.wholeMatch(of: grammar) != nil, let number = Double(text), number.isFinite else {
      throw error("expected a value")
    }
    return number
  }

  private mutating func string() throws(FormatError) -> String {
    try expect("\"")
    var content: [UInt8] = []
    while let byte = next, byte != UInt8(ascii: "\"") {
      if byte < 0x20 { throw error("a control character in a string; write \\u and its number") }
      position += 1
      if byte == UInt8(ascii: "\\") {
        content += try Array(String(escape()).utf8)
      } else {
        content.append(byte)
      }
    }
    guard next != nil else { throw error("a string has no end") }
    position += 1
    guard let string = String(validating: content, as: UTF8.self) else {
      throw error("a string is not valid UTF-8")
    }
    return string
  }

  private mutating func escape() throws(FormatError) -> Unicode.Scalar {
    guard let byte = next else { throw error("a string has no end") }
    position += 1
    switch byte {
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "u"): return try unicodeEscape()
    default: throw error("unknown escape in a string")
    }
  }

  private mutating func unicodeEscape() throws(FormatError) -> Unicode.Scalar {
    let high = try hexQuad()
    guard (0xD800..<0xDC00).contains(high) else {
      guard let scalar = Unicode.Scalar(high) else { throw error("half a surrogate pair") }
      return scalar
    }
    guard bytes[position...].starts(with: "\\u".utf8) else { throw error("half a surrogate pair") }
    position += 2
    let low = try hexQuad()
    guard (0xDC00..<0xE000).contains(low),
      let scalar = Unicode.Scalar(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    else { throw error("half a surrogate pair") }
    return scalar
  }

  private mutating func hexQuad() throws(FormatError) -> UInt32 {
    let digits = bytes[position...].prefix(4)
    guard digits.count == 4, digits.allSatisfy({ UInt8(ascii: "+") != $0 }),
      let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw error("expected four hexadecimal digits") }
    position += 4
    return value
  }
}
