// Frozen tables in the bytes that a host sends to the process of a guest: what was written is
// frozen again; anything else is rejected, and never traps.

import Glibc
import LuaEmbed
import Moonloop
import Testing

@Suite struct FrozenCloneTests {
  private static func withState(_ body: (LuaState, Runtime) throws -> Void) throws {
    try Loop.isolated { loop in
      let state = try LuaState(on: loop)
      defer { state.shutDown() }
      try body(state, state.runtime!)
    }
  }

  /// The bytes of a global, and the numbers of its frozen tables.
  private static func melted(
    _ name: String, _ runtime: Runtime
  ) throws -> (bytes: [UInt8], frozen: [Int: Int]) {
    let stack = runtime.state.stack
    stack.pushGlobal(name)
    defer { stack.pop() }
    let value = try StructuredClone(stack, -1) { runtime.attachment($0, $1) }
    let (clone, frozen) = value.meltedForGuest
    return (clone.encoded(), frozen)
  }

  private static func read(
    _ bytes: [UInt8], _ frozen: [Int: Int]
  ) throws(StructuredClone.Damage) -> StructuredClone {
    let places = (frozen.keys.max() ?? -1) + 1
    return try StructuredClone(
      decoding: bytes, attachments: Array(repeating: .frozen(.empty), count: places)
    ).refrozen(frozen)
  }

  private static let value = """
    local ml = require "moonloop"
    local part = ml.freeze { 1, 2.5, "three", n = 3, [true] = false, [1.5] = {} }
    local whole = ml.freeze { part, { part, deep = { part } }, text = ("x"):rep(1000) }
    value = { whole, part, { whole, plain = { 1, 2 } } }
    function walk(value, seen)
      seen = seen or {}
      if seen[value] then return seen.count end
      seen[value], seen.count = true, (seen.count or 0) + 1
      for key, inner in pairs(value) do
        if type(inner) == "table" or type(inner) == "userdata" then walk(inner, seen) end
      end
      return seen.count
    end
    """

  @Test func `what was frozen is frozen again, and is one where it was one`() throws {
    try Self.withState { state, runtime in
      try state.run(Self.value)
      let (bytes, frozen) = try Self.melted("value", runtime)
      let copy = try Self.read(bytes, frozen)
      copy.push(on: state.stack, pushAttachment: runtime.push)
      state.stack.popGlobal("copy")
      try state.run(
        """
        assert(copy[1] ~= value[1] and copy[1][1] == copy[2] and copy[3][1] == copy[1])
        assert(copy[1][2].deep[1] == copy[2] and copy[2][3] == "three" and copy[2].n == 3)
        assert(copy[2][true] == false and #copy[2] == 3 and copy[3].plain[2] == 2)
        assert(not pcall(function() copy[2][1] = 9 end))
        assert(walk(copy) == walk(value))
        """)
    }
  }

  @Test func `only what a host may send is read`() throws {
    let number = [UInt8](repeating: 0, count: 7)
    func header(_ tables: UInt8) -> [UInt8] { [0x4D, 0x4C, 0x4D, 1, tables, 0, 0, 0] }
    let frozen = [8, 0] + number
    func table(_ place: UInt8) -> [UInt8] { [6, place] + number }
    func integer(_ value: UInt8) -> [UInt8] { [3, value] + number }
    let cases: [([UInt8], [Int: Int], String)] = [
      (header(1) + frozen + [7], [0: 1], "a frozen table that is not there"),
      (header(1) + frozen + [7], [0: -1], "a frozen table that is not there"),
      (header(1) + frozen + [7], [0: .max], "a frozen table that is not there"),
      (header(1) + table(0) + [7], [0: 0], "a part of a frozen table in another"),
      (
        header(2) + table(0) + integer(1) + table(1) + [7, 7], [0: 1],
        "a part of a frozen table in another"
      ),
      (
        header(2) + frozen + [7] + integer(1) + table(0) + [7], [0: 1],
        "a part of a frozen table in another"
      ),
      (
        header(1) + frozen + table(0) + integer(1) + [7], [0: 0],
        "a part of a frozen table in another"
      ),
      (
        header(1) + frozen + integer(1) + table(0) + [7], [0: 0],
        "frozen tables that are nested too deep"
      ),
      (header(1) + frozen + integer(1) + [0, 7], [0: 0], "a frozen table with tag 0"),
      (header(1) + frozen + integer(1) + frozen + [7], [0: 0], "a frozen table with tag 8"),
      (header(1) + frozen + integer(1) + [1] + integer(1) + [1, 7], [0: 0], "a key twice"),
      (header(1) + frozen + [1, 1, 1, 1, 7], [0: 0], "a key twice"),
    ]
    for (bytes, frozen, what) in cases {
      do {
        _ = try Self.read(bytes, frozen)
        Issue.record("\(bytes) was read")
      } catch { #expect(error.what == what) }
    }
  }

  @Test func `a guest may not say what is frozen`() throws {
    var bytes: [UInt8] = [0x4D, 0x50, 0x4C, 1, 1, 0, 1, 0, 9 + 17]
    bytes += [UInt8](repeating: 0, count: 7 + 16) + [3] + [UInt8](repeating: 0, count: 8 + 17)
    for takes in [false, true] {
      var reader = PortFrameReader()
      reader.takesFrozen = takes
      bytes.withUnsafeBytes { reader.append($0) }
      do throws(PortDamage) {
        let frame = try reader.next()
        #expect(takes && frame != nil)
      } catch { #expect(!takes && error.what == "an attachment of unknown kind 3") }
    }
  }

  @Test func `no bytes trap`() throws {
    let seed = getenv("MOONLOOP_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64(time(nil))
    var random = CloneTests.SplitMix(state: seed)
    try Self.withState { state, runtime in
      try state.run(Self.value)
      let (bytes, frozen) = try Self.melted("value", runtime)
      for _ in 0..<3000 {
        var damaged = bytes
        for _ in 0...random.below(3) {
          damaged[8 + random.below(damaged.count - 8)] =
            UInt8(random.below(10))
        }
        var numbers = frozen
        if random.below(2) == 0 { numbers[0] = random.below(10) }
        guard let copy = try? Self.read(damaged, numbers) else { continue }
        copy.push(on: state.stack, pushAttachment: runtime.push)
        state.stack.popGlobal("copy")
        try state.run("if type(copy) ~= 'nil' then pcall(walk, copy) end")
      }
    }
  }
}
