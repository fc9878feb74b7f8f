// The formats of a read, as in the io library, and where they end in the available bytes. Pure:
// nothing is taken.

internal import Glibc

/// One format of a read.
package enum StreamFormat: Equatable, Sendable {
  /// Up to the next newline, or what is left before the end of file.
  case line(keepsNewline: Bool)
  /// The lines that have come, up to an empty one; at least one line. All with their newlines.
  case lines
  /// Everything up to the end of file; possibly empty, but never nil.
  case all
  /// A number as Lua writes it, with blanks before it.
  case number
  /// This many bytes, or fewer before the end of file.
  case bytes(Int)
  /// What is available, at least one byte and at most this many.
  case some(Int)

  /// Where a format was found.
  package enum Found: Equatable {
    /// Found: these bytes; those before `next` are used up.
    case piece(Range<Int>, next: Int)
    /// More bytes are needed.
    case needsMore
    /// The end of file comes first.
    case end
    /// Not a number; what was consumed by looking ends at `next`.
    case malformed(next: Int)
    /// Longer than the limit. The bytes before `next` belong to it; it `goesOn` after them.
    case tooLong(next: Int, goesOn: Bool)
  }

  /// Looks for this format from a position on.
  /// - Parameters:
  ///   - bytes: The available bytes.
  ///   - start: Where to begin.
  ///   - searched: Known: there is no newline before this.
  ///   - isAtEnd: No bytes will follow.
  ///   - limit: Length limit for a line, or for reading all.
  package func find(
    in bytes: UnsafeRawBufferPointer, from start: Int, searched: Int = 0, isAtEnd: Bool, limit: Int
  ) -> Found {
    let count = bytes.count - start
    switch self {
    case .line(let keepsNewline):
      return findLine(bytes, start, max(start, searched), isAtEnd, limit, keepsNewline)
    case .lines: return findLines(bytes, start, searched, isAtEnd, limit)
    case .all:
      if count > limit { return .tooLong(next: bytes.count, goesOn: !isAtEnd) }
      return isAtEnd ? .piece(start..<bytes.count, next: bytes.count) : .needsMore
    case .bytes(let wanted):
      if count >= max(wanted, 1) { return .piece(start..<(start + wanted), next: start + wanted) }
      if !isAtEnd { return .needsMore }
      return count == 0 ? .end : .piece(start..<bytes.count, next: bytes.count)
    case .some(let most):
      if count == 0 { return isAtEnd ? .end : .needsMore }
      let end = start + min(most, count)
      return .piece(start..<end, next: end)
    case .number: return findNumber(bytes, start, isAtEnd)
    }
  }

  private func findLine(
    _ bytes: UnsafeRawBufferPointer, _ start: Int, _ searched: Int, _ isAtEnd: Bool, _ limit: Int,
    _ keepsNewline: Bool
  ) -> Found {
    if searched < bytes.count, let base = bytes.baseAddress,
      let found = memchr(base + searched, 10, bytes.count - searched)
    {
      let newline = UnsafeRawPointer(found) - base
      if newline - start > limit { return .tooLong(next: newline + 1, goesOn: false) }
      return .piece(start..<(keepsNewline ? newline + 1 : newline), next: newline + 1)
    }
    if bytes.count - start > limit { return .tooLong(next: bytes.count, goesOn: !isAtEnd) }
    if !isAtEnd { return .needsMore }
    return bytes.count == start ? .end : .piece(start..<bytes.count, next: bytes.count)
  }
}

extension StreamFormat {
  private func findLines(
    _ bytes: UnsafeRawBufferPointer, _ start: Int, _ searched: Int, _ isAtEnd: Bool, _ limit: Int
  ) -> Found {
    let first = findLine(bytes, start, max(start, searched), isAtEnd, limit, true)
    guard case .piece(_, var next) = first else { return first }
    var line = start
    while !isEmptyLine(bytes, line, next), next < bytes.count, let base = bytes.baseAddress,
      let found = memchr(base + next, 10, min(bytes.count - next, limit - (next - start) + 1))
    {
      line = next
      next = UnsafeRawPointer(found) - base + 1
    }
    return .piece(start..<next, next: next)
  }

  private func isEmptyLine(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ next: Int) -> Bool {
    bytes[start] == 10 || next - start == 2 && bytes[start] == 13
  }
}

// MARK: - Numbers

extension StreamFormat {
  /// The longest numeral, as in the io library.
  private static let longestNumeral = 200

  /// Finds the longest prefix that may become a numeral, like `io.read "n"`.
  private func findNumber(
    _ bytes: UnsafeRawBufferPointer, _ start: Int, _ isAtEnd: Bool
  ) -> Found {
    var scan = NumberScan(bytes: bytes, place: start)
    scan.skipBlanks()
    let first = scan.place
    scan.limit = first + Self.longestNumeral
    scan.readNumeral()
    if scan.place == bytes.count && !isAtEnd { return .needsMore }
    if scan.place == first && first == bytes.count { return .end }
    if !scan.hasDigits || scan.place >= scan.limit { return .malformed(next: scan.place) }
    return .piece(first..<scan.place, next: scan.place)
  }

  /// How many blanks are at the beginning.
  static func blanks(in bytes: UnsafeRawBufferPointer) -> Int {
    var scan = NumberScan(bytes: bytes, place: 0)
    scan.skipBlanks()
    return scan.place
  }

  private struct NumberScan {
    let bytes: UnsafeRawBufferPointer
    var place: Int
    var limit = Int.max
    var hasDigits = false

    mutating func skipBlanks() {
      while place < bytes.count, bytes[place] == 32 || (9...13).contains(bytes[place]) {
        place += 1
      }
    }

    /// Skips one of two characters, if present.
    @discardableResult
    mutating func take(_ one: Unicode.Scalar, _ other: Unicode.Scalar) -> Bool {
      guard place < bytes.count, place < limit else { return false }
      guard bytes[place] == UInt8(ascii: one) || bytes[place] == UInt8(ascii: other) else {
        return false
      }
      place += 1
      return true
    }

    /// Skips digits.
    /// - Returns: Their number.
    @discardableResult
    mutating func takeDigits(isHex: Bool) -> Int {
      let start = place
      while place < bytes.count, place < limit, isDigit(bytes[place], isHex) { place += 1 }
      return place - start
    }

    private func isDigit(_ byte: UInt8, _ isHex: Bool) -> Bool {
      switch byte {
      case 48...57: true
      case 65...70, 97...102: isHex
      default: false
      }
    }

    mutating func readNumeral() {
      take("+", "-")
      var isHex = false
      var count = 0
      if take("0", "0") {
        if take("x", "X") { isHex = true } else { count = 1 }
      }
      count += takeDigits(isHex: isHex)
      if take(".", ".") { count += takeDigits(isHex: isHex) }
      if count > 0, isHex ? take("p", "P") : take("e", "E") {
        take("+", "-")
        // An exponent without digits is not a numeral.
        if takeDigits(isHex: false) == 0 { count = 0 }
      }
      hasDigits = count > 0
    }
  }
}
