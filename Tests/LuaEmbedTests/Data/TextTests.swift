// Strings of Lua as strings of Swift: valid UTF-8 alone, wherever in the string a mistake is.

import LuaEmbed
import Testing

@Suite("A string of Lua as a string of Swift")
struct TextTests {
  private let lua: LuaState
  private let same: LuaFunction

  init() throws {
    lua = try LuaState()
    same = try lua.evaluate("return function(s) return s end")
  }

  /// Both read the bytes, in the middle of others, or both refuse them.
  private func compare(_ bytes: [UInt8], before: Int, after: Int) throws {
    let padded =
      [UInt8](repeating: 0x61, count: before) + bytes + [UInt8](repeating: 0x7f, count: after)
    let expected = String(validating: padded, as: UTF8.self)
    let read: String? = try? same(padded)
    guard let expected, let read else {
      #expect(read == expected, "\(bytes) after \(before), before \(after)")
      return
    }
    #expect(Array(read.utf8) == padded && read == expected)
    // What a string believes of itself if it takes itself for ASCII.
    #expect(read.unicodeScalars.count == expected.unicodeScalars.count)
    #expect(read.count == expected.count && read.uppercased() == expected.uppercased())
    let back: [UInt8] = try same(read)
    #expect(back == padded)
  }

  @Test func `is refused if and only if Swift refuses its bytes`() throws {
    let edges: [UInt8] = [
      0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec,
      0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
    ]
    for a in edges {
      try compare([a], before: 0, after: 0)
      for b in edges {
        try compare([a, b], before: 3, after: 0)
        for c in edges { try compare([a, b, c], before: 0, after: 0) }
      }
    }
    for lead in edges where lead >= 0xf0 {
      for b in edges { try compare([lead, b, 0x80, 0xbf], before: 0, after: 1) }
    }
  }

  @Test(
    arguments: [[0xff], [0xc3, 0xa9], [0xe2, 0x82], [0xf0, 0x9f, 0x8c, 0x99], []] as [[UInt8]])
  func `is looked at to its end, wherever the bytes are`(bytes: [UInt8]) throws {
    for before in 0...70 {
      for after in [0, 1, 7, 8, 9, 31, 32, 33, 64] {
        try compare(bytes, before: before, after: after)
        try compare(bytes + [0x61] + bytes, before: before, after: after)
      }
    }
  }
}
