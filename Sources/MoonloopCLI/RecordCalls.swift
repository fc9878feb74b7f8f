// Whether a script may record itself: its text is searched before it runs.

internal import Glibc

/// Whether a Lua text has `:record` outside of comments and strings.
func callsRecord(_ text: UnsafeRawBufferPointer) -> Bool {
  var search = RecordSearch(text)
  // Nearly all texts have it nowhere, and are not read byte by byte.
  return search.place(of: Array(":record".utf8)) != nil && search.run()
}

private struct RecordSearch {
  private let text: UnsafeRawBufferPointer
  private var at = 0

  init(_ text: UnsafeRawBufferPointer) { self.text = text }

  mutating func run() -> Bool {
    if has("#") { skipLine() }
    while at < text.count {
      if has("--") {
        at += 2
        if !skipLongBracket() { skipLine() }
      } else if has("\"") || has("'") {
        skipString()
      } else if has("::") {
        at += 2  // a label
      } else if has(":record"), !isInName(at + 7) {
        return true
      } else if !skipLongBracket() {
        at += 1
      }
    }
    return false
  }

  private func has(_ word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    return text.count - at >= count
      && memcmp(text.baseAddress! + at, word.utf8Start, count) == 0
  }

  private func isInName(_ place: Int) -> Bool {
    guard place < text.count else { return false }
    let byte = text[place]
    return byte == UInt8(ascii: "_") || isalnum(Int32(byte)) != 0
  }

  private mutating func skipLine() {
    while at < text.count, text[at] != UInt8(ascii: "\n") { at += 1 }
  }

  private mutating func skipString() {
    let quote = text[at]
    at += 1
    while at < text.count, text[at] != quote {
      at += text[at] == UInt8(ascii: "\\") ? 2 : 1
    }
    at = min(at + 1, text.count)
  }

  /// `[[ ... ]]`, or with any number of `=` in both.
  /// - Returns: false if none begins here.
  private mutating func skipLongBracket() -> Bool {
    guard has("[") else { return false }
    var place = at + 1
    while place < text.count, text[place] == UInt8(ascii: "=") { place += 1 }
    guard place < text.count, text[place] == UInt8(ascii: "[") else { return false }
    let level = place - at - 1
    at = place + 1
    let end =
      [UInt8(ascii: "]")] + [UInt8](repeating: UInt8(ascii: "="), count: level)
      + [UInt8(ascii: "]")]
    at = self.place(of: end).map { $0 + end.count } ?? text.count
    return true
  }

  /// Where bytes come next.
  func place(of word: [UInt8]) -> Int? {
    var from = at
    while text.count - from >= word.count, let start = text.baseAddress,
      let found = memchr(start + from, Int32(word[0]), text.count - from)
    {
      from = UnsafeRawPointer(found) - start
      if text.count - from < word.count { return nil }
      if memcmp(found, word, word.count) == 0 { return from }
      from += 1
    }
    return nil
  }
}
