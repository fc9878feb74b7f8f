// Numbers of bytes as people write them: 4096, 64M.

/// Reads a whole number with or without K, M or G, which are powers of 1024.
package enum ByteCount {
  /// Its bytes; nil if the text is none.
  package static func of(_ text: String) -> Int? {
    let shifts: [Character: Int] = ["K": 10, "M": 20, "G": 30]
    let shift = text.last.flatMap { shifts[$0] } ?? 0
    guard let number = Int(shift > 0 ? String(text.dropLast()) : text), number >= 0,
      number <= Int.max >> shift
    else { return nil }
    return number << shift
  }

  /// What a text is likely to mean that is none, such as "64 MB"; or nil.
  package static func better(than text: String) -> String? {
    let digits = text.prefix { ("0"..."9").contains($0) }
    let unit = text.dropFirst(digits.count).filter { $0 != " " }.uppercased()
    guard let letter = unit.first, ["", "B", "IB"].contains(unit.dropFirst()) else { return nil }
    let better = "\(digits)\(letter)"
    return better == text || of(better) == nil ? nil : better
  }
}
