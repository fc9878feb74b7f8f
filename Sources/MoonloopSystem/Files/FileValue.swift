// What calls about files take and give, as values that any thread and a pipe can carry.

/// An argument or an answer.
package enum FileValue: Sendable {
  case none
  case flag(Bool)
  case number(Int)
  case real(Double)
  /// Text: a path, contents.
  case bytes([UInt8])
  case list([FileValue])
  case record([(name: String, value: FileValue)])

  static func text(_ text: String) -> FileValue { .bytes(Array(text.utf8)) }
}

// In a pipe: a letter, then the value; counts and numbers in eight bytes.
extension FileValue {
  func encode(into bytes: inout [UInt8]) {
    func put(_ letter: Character, _ number: Int) {
      bytes.append(letter.asciiValue!)
      withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }
    switch self {
    case .none: put("0", 0)
    case .flag(let flag): put("f", flag ? 1 : 0)
    case .number(let number): put("n", number)
    case .real(let real): put("r", Int(bitPattern: UInt(real.bitPattern)))
    case .bytes(let content):
      put("b", content.count)
      bytes.append(contentsOf: content)
    case .list(let values):
      put("l", values.count)
      for value in values { value.encode(into: &bytes) }
    case .record(let fields):
      put("d", fields.count)
      for (name, value) in fields {
        FileValue.text(name).encode(into: &bytes)
        value.encode(into: &bytes)
      }
    }
  }

  /// nil if the bytes are none that were encoded.
  static func decode(_ bytes: inout ArraySlice<UInt8>) -> FileValue? {
    guard bytes.count >= 9, let letter = bytes.popFirst() else { return nil }
    let number = bytes.prefix(8).withUnsafeBytes { $0.loadUnaligned(as: Int.self) }
    bytes = bytes.dropFirst(8)
    switch Character(Unicode.Scalar(letter)) {
    case "0": return FileValue.none
    case "f": return .flag(number != 0)
    case "n": return .number(number)
    case "r": return .real(Double(bitPattern: UInt64(UInt(bitPattern: number))))
    case "b":
      guard number >= 0, number <= bytes.count else { return nil }
      defer { bytes = bytes.dropFirst(number) }
      return .bytes(Array(bytes.prefix(number)))
    case "l": return decodeMany(number, &bytes).map { .list($0) }
    case "d":
      guard number <= bytes.count else { return nil }
      return decodeMany(2 * number, &bytes).map { .record(fields($0)) }
    default: return nil
    }
  }

  private static func decodeMany(_ count: Int, _ bytes: inout ArraySlice<UInt8>) -> [FileValue]? {
    guard count >= 0, count <= bytes.count else { return nil }
    var values: [FileValue] = []
    while values.count < count {
      guard let value = decode(&bytes) else { return nil }
      values.append(value)
    }
    return values
  }

  private static func fields(_ flat: [FileValue]) -> [(name: String, value: FileValue)] {
    stride(from: 0, to: flat.count - 1, by: 2).map { at in
      if case .bytes(let name) = flat[at] {
        (String(decoding: name, as: UTF8.self), flat[at + 1])
      } else {
        ("", flat[at + 1])
      }
    }
  }
}
