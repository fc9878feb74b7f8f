// Messages as bytes: what was written can be read; anything else is rejected, and never traps.

import Glibc
import LuaEmbed
import Moonloop
import Testing

@Suite struct CloneTests {
  /// Values of every kind, as Lua text.
  static let values = [
    "nil", "true", "false", "0", "-1", "math.mininteger", "1.5", "-0.0", "0/0", "math.huge",
    "''", "'a\\0b\\xff'", "('x'):rep(70000)", "{}", "{ 1, 2, { 3 } }",
    "{ [1.5] = true, [true] = 1, [{}] = 'table' }",
    "(function() local t = { 1 } t.self = t t[t] = { t, t } return t end)()",
    "(function() local t = {} for _ = 1, 1000 do t = { t } end return t end)()",
    "(function() local t = {} for i = 1, 300 do t[i] = { i, n = 'n' .. i } end return t end)()",
  ]

  private static func withState(_ body: (LuaState) throws -> Void) throws {
    try Loop.isolated { loop in
      let state = try LuaState(on: loop)
      defer { state.shutDown() }
      try body(state)
    }
  }

  private static func clone(_ text: String, _ state: LuaState) throws -> StructuredClone {
    try state.run("value = " + text)
    let stack = state.stack
    stack.pushGlobal("value")
    defer { stack.pop() }
    return try StructuredClone(stack, -1)
  }

  @Test func `what was written is read again, byte for byte`() throws {
    try Self.withState { state in
      for value in Self.values {
        let clone = try Self.clone(value, state)
        let bytes = clone.encoded()
        let copy = try StructuredClone(decoding: bytes)
        #expect(copy.encoded() == bytes)
        let stack = state.stack
        copy.push(on: stack)
        let again = try StructuredClone(stack, -1)
        stack.pop()
        #expect(again.size == clone.size, "\(value)")
      }
    }
  }

  @Test func `what is damaged is refused with its place`() throws {
    let header: [UInt8] = [0x4D, 0x4C, 0x4D, 1, 0, 0, 0, 0]
    let number = [UInt8](repeating: 0, count: 7)
    let cases: [([UInt8], String)] = [
      ([], "not a message"), ([1, 2, 3, 4, 5, 6, 7, 8], "not a message"),
      ([0x4D, 0x4C, 0x4D, 2, 0, 0, 0, 0, 0], "version 2, this is 1"),
      (header, "a value that is cut off"), (header + [99], "tag 99"),
      (header + [7], "tag 7"), (header + [0, 0], "bytes behind the end"),
      (header + [3, 1], "a number that is cut off"),
      (header + [5, 9] + number, "a string that is cut off"),
      (header + [5] + [UInt8](repeating: 255, count: 8), "a string that is cut off"),
      (header + [6, 0] + number, "table 0 of 0"), (header + [8, 0] + number, "attachment 0 of 0"),
      ([0x4D, 0x4C, 0x4D, 1, 255, 255, 255, 255, 0], "more tables than bytes"),
      ([0x4D, 0x4C, 0x4D, 1, 1, 0, 0, 0, 6, 0] + number, "a table without an end"),
      ([0x4D, 0x4C, 0x4D, 1, 1, 0, 0, 0, 6, 0] + number + [0, 1, 7], "nil as a key"),
      (
        [0x4D, 0x4C, 0x4D, 1, 1, 0, 0, 0, 6, 0] + number + [4, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F, 1, 7],
        "nan as a key"
      ),
    ]
    for (bytes, what) in cases {
      do {
        _ = try StructuredClone(decoding: bytes)
        Issue.record("\(bytes) was read")
      } catch { #expect(error.what == what) }
    }
  }

  @Test func `no bytes trap: random ones, and messages with damage`() throws {
    let seed = getenv("MOONLOOP_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64(time(nil))
    let rounds =
      getenv("MOONLOOP_STRESS") != nil
      ? 2_000_000 : getenv("MOONLOOP_SANITIZED") == nil ? 120_000 : 10_000
    var random = SplitMix(state: seed)
    var accepted = 0
    try Self.withState { state in
      let stack = state.stack
      let small = try Self.values.map { try Self.clone($0, state).encoded() }
        .filter { $0.count < 4000 }
      for round in 0..<rounds {
        var bytes: [UInt8]
        if round % 4 == 0 {
          bytes = [0x4D, 0x4C, 0x4D, 1, UInt8(random.below(4)), 0, 0, 0]
          for _ in 0..<random.below(40) { bytes.append(UInt8(random.below(12))) }
        } else {
          bytes = small[random.below(small.count)]
          for _ in 0...random.below(2) where !bytes.isEmpty {
            let place = random.below(bytes.count)
            switch random.below(8) {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(UInt8(random.below(10)), at: place)
            case 2: bytes.removeLast(min(bytes.count, random.below(9)))
            default: bytes[place] = UInt8(random.below(256))
            }
          }
        }
        guard let copy = try? StructuredClone(decoding: bytes) else { continue }
        accepted += 1
        copy.push(on: stack)
        stack.pop()
      }
    }
    #expect(accepted > rounds / 100 && accepted < rounds, "seed \(seed)")
  }

  struct SplitMix {
    var state: UInt64
    mutating func below(_ limit: Int) -> Int {
      state &+= 0x9E37_79B9_7F4A_7C15
      var word = state
      word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      return Int((word ^ (word >> 31)) % UInt64(limit))
    }
  }
}
