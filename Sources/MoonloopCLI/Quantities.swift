// Sizes and times as people write them on a command line: 64M, 2s, 500ms.

internal import Glibc

/// Reads a number with a unit.
enum Quantity {
  private static let sizes: [(unit: String, bytes: Double)] = [
    ("", 1), ("b", 1), ("k", 0x1p10), ("kb", 0x1p10), ("kib", 0x1p10), ("m", 0x1p20),
    ("mb", 0x1p20), ("mib", 0x1p20), ("g", 0x1p30), ("gb", 0x1p30), ("gib", 0x1p30),
  ]
  private static let times: [(unit: String, seconds: Double)] = [
    ("", 1), ("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("m", 60), ("min", 60),
    ("h", 3600), ("d", 86400),
  ]

  /// Bytes; nil if the text is not a size. K, M and G are powers of 1024.
  static func bytes(_ text: String) -> Int? {
    guard let (number, unit) = split(text),
      let factor = sizes.first(where: { $0.unit == unit.lowercased() })?.bytes
    else { return nil }
    let bytes = number * factor
    return bytes < 9e18 ? Int(bytes) : nil
  }

  /// A time; nil if the text is not one. A bare number means seconds.
  static func duration(_ text: String) -> Duration? {
    guard let (number, unit) = split(text),
      let factor = times.first(where: { $0.unit == unit })?.seconds
    else { return nil }
    let seconds = number * factor
    return seconds < 9e9 ? .nanoseconds(Int64((seconds * 1e9).rounded())) : nil
  }

  /// The number (finite, not negative) and its unit.
  private static func split(_ text: String) -> (number: Double, unit: String)? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard let first = digits.first, first.isNumber, let number = Double(digits) else { return nil }
    return (number, String(text.dropFirst(digits.count)))
  }
}
