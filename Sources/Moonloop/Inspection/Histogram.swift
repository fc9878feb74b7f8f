// How often each value occurred, in buckets that grow with it: percentiles of any number of times
// in bounded memory.

/// A log-linear histogram of nanoseconds: eight buckets for each power of two, so that a percentile
/// is at most an eighth above the actual value.
struct Histogram {
  private static let bits = 3
  /// As many as needed so far; at most 500.
  private var buckets: [UInt32] = []
  private(set) var count = 0
  private(set) var sum: Int64 = 0
  private(set) var max: Int64 = 0

  mutating func add(_ value: Int64) {
    let value = Swift.max(0, value)
    let index = Self.bucket(of: value)
    while buckets.count <= index { buckets.append(0) }
    if buckets[index] < .max { buckets[index] += 1 }
    count += 1
    sum = sum.addingReportingOverflow(value).overflow ? .max : sum + value
    max = Swift.max(max, value)
  }

  /// The value that this many of a hundred values do not exceed; 0 if there are none.
  func percentile(_ percent: Int) -> Int64 {
    let total = buckets.reduce(0) { $0 + Int($1) }
    let wanted = (total * percent + 99) / 100
    var seen = 0
    for (index, count) in buckets.enumerated() {
      seen += Int(count)
      if seen >= wanted && seen > 0 { return min(Self.top(of: index), max) }
    }
    return max
  }

  private static func bucket(of value: Int64) -> Int {
    if value < 1 << bits { return Int(value) }
    let exponent = 63 - value.leadingZeroBitCount
    let part = Int(value >> (exponent - bits)) & (1 << bits - 1)
    return (exponent - bits + 1) << bits | part
  }

  /// The greatest value of a bucket.
  private static func top(of index: Int) -> Int64 {
    if index < 1 << bits { return Int64(index) }
    let exponent = index >> bits + bits - 1
    let part = Int64(index & (1 << bits - 1))
    return ((1 << bits | part) + 1) << (exponent - bits) - 1
  }
}
