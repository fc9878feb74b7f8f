// Text from scripts, made fit to be shown: bounded, and without control bytes.

internal import CLuaShims

/// Cleans text of scripts.
package enum LuaText {
  /// The longest message that is kept, in bytes.
  package static let bound = 4096

  /// A type's name with its article: "an integer", "a string".
  static func withArticle(_ words: String) -> String {
    if words.hasPrefix("a ") || words.hasPrefix("an ") { return words }
    let isSoft = "aeiou".contains(words.first ?? "x") && !words.hasPrefix("us")  // a userdata
    return (isSoft ? "an " : "a ") + words
  }

  /// At most 4 kB, with what terminals obey replaced, other than newline and tab.
  package static func clean(_ text: String) -> String {
    var text = text
    return text.withUTF8 { clean(UnsafeRawBufferPointer($0)) }
  }

  /// The same from bytes; invalid UTF-8 is replaced.
  package static func clean(_ bytes: UnsafeRawBufferPointer) -> String {
    let isCut = bytes.count > bound
    var kept = Array(bytes.prefix(bound))
    for i in kept.indices where (kept[i] < 0x20 && kept[i] != 9 && kept[i] != 10) || kept[i] == 0x7f
    {
      kept[i] = UInt8(ascii: "?")
    }
    var text = String(decoding: kept, as: UTF8.self)
    if kept.contains(where: { $0 >= 0x80 }) {
      text.unicodeScalars = .init(text.unicodeScalars.map { isObeyed($0) ? "?" : $0 })
    }
    return text + (isCut ? "..." : "")
  }

  /// Whether terminals obey it, above ASCII: as the begin of a sequence, or as a direction.
  private static func isObeyed(_ sign: Unicode.Scalar) -> Bool {
    switch sign.value {
    case 0x80...0x9f, 0x202a...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  /// A text on one line, in quotes, so that nothing in it can be taken for what is around it.
  package static func quoted(_ text: String) -> String { "'" + escaped(text, quote: "'") + "'" }

  /// The same without the quotes.
  package static func escaped(_ text: String, quote: Unicode.Scalar? = nil) -> String {
    text.unicodeScalars.reduce(into: "") { result, sign in
      if sign == quote || sign == "\\" { result.unicodeScalars.append("\\") }
      append(sign, to: &result)
    }
  }

  /// Bytes as text in which nothing controls a terminal, or changes the order of what is shown.
  package static func shown(_ bytes: UnsafeRawBufferPointer) -> String {
    String(decoding: bytes, as: UTF8.self).unicodeScalars.reduce(into: "") { result, sign in
      if sign == "\n" || sign == "\t" { return result.unicodeScalars.append(sign) }
      append(sign, to: &result)
    }
  }

  private static func append(_ sign: Unicode.Scalar, to text: inout String) {
    switch sign.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
      text += "\\u{" + String(sign.value, radix: 16) + "}"
    default: text.unicodeScalars.append(sign)
    }
  }
}

/// Writes reports of scripts' errors: a limited number of lines a second, each bounded. It never
/// fails, whatever happens to the descriptor.
package final class LuaReporter {
  /// - Returns: Whether it could be written.
  private let write: (String) -> Bool
  private let linesPerSecond: Int
  private let now: () -> UInt64
  private var second: UInt64
  private var linesInSecond = 0
  /// Lines left out since the last one written.
  package private(set) var leftOut = 0

  /// - Parameters:
  ///   - now: Nanoseconds of a clock that never goes back.
  ///   - write: Gets the lines, without the last newline.
  package init(
    linesPerSecond: Int = 200, now: @escaping () -> UInt64 = { cml_clock_ns() },
    write: @escaping (String) -> Bool
  ) {
    self.write = write
    self.linesPerSecond = linesPerSecond
    self.now = now
    second = now()
  }

  /// One that writes to a descriptor.
  package convenience init(
    descriptor: Int32 = 2, linesPerSecond: Int = 200,
    now: @escaping () -> UInt64 = { cml_clock_ns() }
  ) {
    self.init(linesPerSecond: linesPerSecond, now: now) { text in
      var output = text + "\n"
      let count = output.utf8.count
      return output.withUTF8 { cml_write_some(descriptor, $0.baseAddress, $0.count) } == count
    }
  }

  /// Writes a text and a newline, cleaned; only part of it if the ration is nearly used up.
  package func report(_ text: String) {
    let time = now()
    if time - second >= 1_000_000_000 { (second, linesInSecond) = (time, 0) }
    var lines = LuaText.clean(text).split(separator: "\n", omittingEmptySubsequences: false)
    let room = max(0, linesPerSecond - linesInSecond)
    if lines.count > room {
      leftOut += lines.count - room
      lines.removeLast(lines.count - room)
    }
    guard !lines.isEmpty else { return }
    linesInSecond += lines.count
    if leftOut > 0 && room > lines.count {
      lines.insert("(\(leftOut) lines left out)", at: 0)
      leftOut = 0
    }
    if !write(lines.joined(separator: "\n")) { leftOut += 1 }
  }

  /// Says how many lines were left out since the last one written; at the end of a program.
  package func finish() {
    guard leftOut > 0 else { return }
    linesInSecond = 0
    let count = leftOut
    leftOut = 0
    report("(\(count) lines left out)")
  }
}
