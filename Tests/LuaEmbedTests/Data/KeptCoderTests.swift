// Decoders, encoders and containers that a type keeps have expired: they never touch Lua again.

import LuaEmbed
import Testing

@Suite(.serialized) struct KeptCoderTests {
  private enum Key: CodingKey { case a, b, inner, list }

  /// What was kept from a decoder.
  private struct KeptDecoder {
    var decoder: any Decoder
    var fields: KeyedDecodingContainer<Key>
    var items: any UnkeyedDecodingContainer
    var value: any SingleValueDecodingContainer

    /// What it gives, as text.
    mutating func use() -> [String] {
      [
        text { try fields.decode(Int.self, forKey: .a) }, "\(fields.contains(.a))",
        "\(fields.allKeys.count)", text { try fields.decodeNil(forKey: .a) },
        text { try fields.nestedContainer(keyedBy: Key.self, forKey: .inner) },
        text { try fields.superDecoder(forKey: .a) },
        text { try decoder.container(keyedBy: Key.self) },
        text { try decoder.unkeyedContainer() }, text { try decoder.singleValueContainer() },
        "\(value.decodeNil())", text { try value.decode([String: Int].self) },
        text { try items.decode(Int.self) }, text { try items.decodeNil() },
        text { try items.nestedUnkeyedContainer() },
      ]
    }

    private func text<T>(_ body: () throws -> T) -> String {
      do { return "\(try body())" } catch { return "over" }
    }

    static let over = [
      "over", "false", "0", "true", "over", "over", "over", "over", "over", "true", "over",
      "over", "over", "over",
    ]
  }

  // Unsafe: used by one test alone, on its thread; so is the one below.
  nonisolated(unsafe) private static var kept: KeptDecoder?

  private struct Inner: Decodable {
    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: Key.self)
      kept = KeptDecoder(
        decoder: decoder, fields: fields,
        items: try fields.nestedUnkeyedContainer(forKey: .list),
        value: try decoder.singleValueContainer())
    }
  }

  private struct Outer: Decodable {
    let uses: [String]

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: Key.self)
      _ = try fields.decode(Inner.self, forKey: .inner)
      uses = kept?.use() ?? []
      #expect(try fields.decode(Int.self, forKey: .a) == 5)
    }
  }

  @Test func `a decoder is over when its value was read, and when all is`() throws {
    let lua = try LuaState()
    try lua.run("x = { a = 5, inner = { a = 1, list = { 1, 2, 3 }, inner = {} } }")
    let outer = try lua.decode(Outer.self, global: "x")
    #expect(outer.uses == KeptDecoder.over)
    #expect(Self.kept?.use() == KeptDecoder.over)
    lua.close()
    #expect(Self.kept?.use() == KeptDecoder.over)
    Self.kept = nil
  }

  /// What was kept from an encoder.
  private struct KeptEncoder {
    var encoder: any Encoder
    var fields: KeyedEncodingContainer<Key>
    var items: any UnkeyedEncodingContainer
    var value: any SingleValueEncodingContainer

    /// Writes in every way; whether a write throws has no effect.
    mutating func use() {
      try? fields.encode(2, forKey: .b)
      try? fields.encode([1: 2], forKey: .b)
      try? fields.encodeNil(forKey: .a)
      try? items.encode("text")
      try? items.encode([1])
      try? items.encodeNil()
      try? value.encodeNil()
      try? value.encode(5)
      try? value.encode([1])
      var nested = items.nestedUnkeyedContainer()
      try? nested.encode(7)
      var inner = fields.nestedContainer(keyedBy: Key.self, forKey: .a)
      try? inner.encode(7, forKey: .a)
      var above = fields.superEncoder().container(keyedBy: Key.self)
      try? above.encode(7, forKey: .a)
      var again = encoder.container(keyedBy: Key.self)
      try? again.encode(3, forKey: .a)
      var list = encoder.unkeyedContainer()
      try? list.encode(7)
    }
  }

  // Unsafe: as above.
  nonisolated(unsafe) private static var keptEncoder: KeptEncoder?

  private struct Written: Encodable {
    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: Key.self)
      try fields.encode(1, forKey: .a)
      keptEncoder = KeptEncoder(
        encoder: encoder, fields: fields, items: fields.nestedUnkeyedContainer(forKey: .list),
        value: encoder.singleValueContainer())
    }
  }

  private struct Around: Encodable {
    func encode(to encoder: any Encoder) throws {
      var items = encoder.unkeyedContainer()
      try items.encode(Written())
      keptEncoder?.use()
      try items.encode(8)
    }
  }

  @Test func `an encoder is over when its value was written, and when all is`() throws {
    let lua = try LuaState()
    try lua.set("x", Around())
    Self.keptEncoder?.use()
    let (a, b, items, last): (Int, Bool, Int, Int) = try lua.evaluate(
      "return x[1].a, x[1].b == nil, #x[1].list, x[2]")
    #expect(a == 1 && b && items == 0 && last == 8)
    lua.close()
    Self.keptEncoder?.use()
    Self.keptEncoder = nil
  }
}
