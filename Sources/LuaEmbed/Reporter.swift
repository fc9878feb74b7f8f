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

  /// At most 4 kB, with control bytes other than newline and tab replaced.
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
    return String(decoding: kept, as: UTF8.self) + (isCut ? "..." : "")
  }
}

/// Writes reports of scripts' errors: a limited number of lines a second, each bounded. It never
/// fails, whatever happens to the descriptor.
package final class LuaReporter {
  private let descriptor: Int32
  private let linesPerSecond: Int
  private let now: () -> UInt64
  private var second: UInt64
  private var linesInSecond = 0
  /// Lines left out since the last one written.
  package private(set) var leftOut = 0

  /// - Parameter now: Nanoseconds of a clock that never goes back.
  package init(
    descriptor: Int32 = 2, linesPerSecond: Int = 200,
    now: @escaping () -> UInt64 = { cml_clock_ns() }
  ) {
    self.descriptor = descriptor
    self.linesPerSecond = linesPerSecond
    self.now = now
    second = now()
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
    var output = lines.joined(separator: "\n") + "\n"
    let count = output.utf8.count
    let written = output.withUTF8 { cml_write_some(descriptor, $0.baseAddress, $0.count) }
    if written < count { leftOut += 1 }
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
