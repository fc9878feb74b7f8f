// The fields of one JSON object, taken one after the other; a field left over is an error.

package struct Fields {
  /// What the object is called in messages: "timer 't'", "action 'run' in step 3".
  package var place: String
  private var rest: [(name: String, value: JSON)]
  private var known: [String] = []

  package init(_ value: JSON, place: String) throws(FormatError) {
    guard case .object(let fields) = value else {
      throw FormatError(message: "\(place) is \(value.kind), not an object")
    }
    self.place = place
    rest = fields
  }

  package func error(_ what: String) -> FormatError { FormatError(message: "\(place): \(what)") }

  /// Takes a field away, whatever it is.
  package mutating func take(_ name: String) -> JSON? {
    known.append(name)
    guard let index = rest.firstIndex(where: { $0.name == name }) else { return nil }
    return rest.remove(at: index).value
  }

  package func peek(_ name: String) -> JSON? { rest.first { $0.name == name }?.value }

  /// Fails if a field was not taken.
  package func finish() throws(FormatError) {
    guard let field = rest.first else { return }
    throw error(
      "unknown field '\(field.name)'; known here: \(known.sorted().joined(separator: ", "))")
  }

  // MARK: Typed fields

  private func wrong(_ name: String, _ value: JSON, _ wanted: String) -> FormatError {
    error("'\(name)' must be \(wanted), but is \(value.kind)")
  }

  package mutating func optionalString(_ name: String) throws(FormatError) -> String? {
    guard let value = take(name) else { return nil }
    guard case .string(let string) = value else { throw wrong(name, value, "a string") }
    return string
  }

  package mutating func string(_ name: String) throws(FormatError) -> String {
    guard let string = try optionalString(name) else { throw error("'\(name)' is missing") }
    return string
  }

  package mutating func bool(_ name: String, default fallback: Bool = false) throws(FormatError)
    -> Bool
  {
    guard let value = take(name) else { return fallback }
    guard case .bool(let bool) = value else { throw wrong(name, value, "true or false") }
    return bool
  }

  package mutating func optionalInt(_ name: String) throws(FormatError) -> Int? {
    guard let value = take(name) else { return nil }
    guard case .number(let number) = value, let int = Int(exactly: number) else {
      throw wrong(name, value, "a whole number")
    }
    return int
  }

  /// A time in milliseconds, as nanoseconds.
  package mutating func optionalTime(_ name: String) throws(FormatError) -> Int64? {
    guard let value = take(name) else { return nil }
    guard case .number(let number) = value, abs(number) <= 1e9 else {
      throw wrong(name, value, "a number of milliseconds up to 1e9")
    }
    return Int64((number * 1e6).rounded())
  }

  package mutating func time(_ name: String) throws(FormatError) -> Int64 {
    guard let time = try optionalTime(name) else { throw error("'\(name)' is missing") }
    return time
  }

  package mutating func array(_ name: String) throws(FormatError) -> [JSON]? {
    guard let value = take(name) else { return nil }
    guard case .array(let elements) = value else { throw wrong(name, value, "an array") }
    return elements
  }

  package mutating func strings(_ name: String) throws(FormatError) -> [String]? {
    guard let elements = try array(name) else { return nil }
    var strings: [String] = []
    for element in elements {
      guard case .string(let string) = element else {
        throw wrong(name, element, "an array of strings")
      }
      strings.append(string)
    }
    return strings
  }

  /// A list of words of a fixed set.
  package mutating func words<Word: RawRepresentable & CaseIterable & Equatable>(
    _ name: String, of type: Word.Type = Word.self
  ) throws(FormatError) -> [Word]? where Word.RawValue == String {
    guard let strings = try strings(name) else { return nil }
    var words: [Word] = []
    for string in strings { words.append(try word(string, in: name)) }
    return words
  }

  package func word<Word: RawRepresentable & CaseIterable & Equatable>(
    _ string: String, in name: String, of type: Word.Type = Word.self
  ) throws(FormatError) -> Word where Word.RawValue == String {
    guard let word = Word(rawValue: string) else {
      let all = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw error("unknown '\(name)' \"\(string)\"; one of \(all)")
    }
    return word
  }
}
