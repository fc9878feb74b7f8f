// What a script is made from: numbers that follow from a seed, or from bytes.

/// Numbers that follow from a seed (splitmix64), after those that bytes ask for.
struct FuzzRandom {
  private var state: UInt64
  private var bytes: ArraySlice<UInt8> = []

  init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 }

  init(bytes: [UInt8]) { (state, self.bytes) = (0, bytes[...]) }

  /// Whether all bytes were taken.
  var isUsedUp: Bool { bytes.isEmpty }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }

  mutating func below(_ bound: Int) -> Int {
    guard let first = bytes.popFirst() else { return Int(next() % UInt64(bound)) }
    if bound <= 256 { return Int(first) % bound }
    return (Int(first) << 8 | Int(bytes.popFirst() ?? 0)) % bound
  }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  mutating func pick<Element>(_ list: [Element]) -> Element { list[below(list.count)] }
}
