// Times as people write them on a command line: 2s, 500ms.

internal import Glibc

/// Reads a number with a unit.
enum Quantity {
  private static let times: [(unit: String, seconds: Double)] = [
    ("", 1), ("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("m", 60), ("min", 60),
    ("h", 3600), ("d", 86400),
  ]

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
