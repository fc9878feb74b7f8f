// A structured clone as bytes for another process, and back. Input is checked completely before
// anything is made from it, whatever its origin.

internal import LuaEmbed

extension StructuredClone {
  /// Why bytes are not a valid message.
  package struct Damage: Error, Equatable {
    package let what: String
    /// The position, in bytes from the start.
    let offset: Int
  }

  /// The version in front of each message; other versions are rejected.
  static let version: UInt8 = 1
  private static let magic: [UInt8] = [0x4D, 0x4C, 0x4D, version]  // "MLM"
  /// The bytes before the content: magic, version, and the number of tables.
  private static let headerSize = 8

  /// The message as bytes, with everything but the attachments: those are numbers in it.
  package func encoded() -> [UInt8] { header + bytes }

  /// What precedes the content.
  var header: [UInt8] {
    var result = Self.magic
    withUnsafeBytes(of: UInt32(clamping: tables).littleEndian) { result += $0 }
    return result
  }

  /// Reads a message that `encoded` wrote, or anything else that claims to be one.
  /// - Parameter attachments: What arrived with it.
  package init(decoding input: [UInt8], attachments: [Attachment] = []) throws(Damage) {
    let header = Self.headerSize
    guard input.count >= header, input.prefix(3).elementsEqual(Self.magic.prefix(3)) else {
      throw Damage(what: "not a message", offset: 0)
    }
    if input[3] != Self.version {
      throw Damage(what: "version \(input[3]), this is \(Self.version)", offset: 3)
    }
    if input.count - header > Self.sizeLimit { throw Damage(what: "too large", offset: 0) }
    let tables = input.withUnsafeBytes {
      Int(UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
    }
    let content = ContiguousArray(input[header...])
    // Each table has at least the byte that ends it, so no number makes us allocate more than
    // arrived.
    if tables > content.count { throw Damage(what: "more tables than bytes", offset: 4) }
    if let damage = content.withUnsafeBytes({ bytes in
      Inspection(bytes: bytes, tables: tables, attachments: attachments.count).damage()
    }) {
      throw damage
    }
    self.init(content, tables: tables, attachments: attachments)
  }

  /// Checks the content once, in the order in which it is read.
  private struct Inspection {
    let bytes: UnsafeRawBufferPointer
    let tables: Int
    let attachments: Int
    var offset = 0

    init(bytes: UnsafeRawBufferPointer, tables: Int, attachments: Int) {
      self.bytes = bytes
      self.tables = tables
      self.attachments = attachments
    }

    consuming func damage() -> Damage? {
      var walk = self
      do throws(Damage) {
        try walk.passValue(asKey: false)
        for _ in 0..<walk.tables { try walk.passContent() }
        if walk.offset != walk.bytes.count { throw walk.here("bytes behind the end") }
      } catch { return error }
      return nil
    }

    private func here(_ what: String) -> Damage { Damage(what: what, offset: offset) }

    private mutating func passContent() throws(Damage) {
      while true {
        guard offset < bytes.count else { throw here("a table without an end") }
        if bytes[offset] == Tag.end {
          offset += 1
          return
        }
        try passValue(asKey: true)
        try passValue(asKey: false)
      }
    }

    private mutating func word() throws(Damage) -> UInt64 {
      guard bytes.count - offset >= 8 else { throw here("a number that is cut off") }
      defer { offset += 8 }
      return bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    private mutating func passNumber(below limit: Int, _ what: String) throws(Damage) {
      let number = try word()
      if number >= UInt64(limit) { throw here("\(what) \(number) of \(limit)") }
    }

    /// Nil and nan cannot be keys: Lua would raise an error where it must not.
    private mutating func passValue(asKey isKey: Bool) throws(Damage) {
      guard offset < bytes.count else { throw here("a value that is cut off") }
      let tag = bytes[offset]
      offset += 1
      switch tag {
      case Tag.nil: if isKey { throw here("nil as a key") }
      case Tag.no, Tag.yes: break
      case Tag.integer: _ = try word()
      case Tag.float:
        if Double(bitPattern: try word()).isNaN && isKey { throw here("nan as a key") }
      case Tag.string:
        let count = try word()
        guard count <= UInt64(bytes.count - offset) else { throw here("a string that is cut off") }
        offset += Int(count)
      case Tag.table: try passNumber(below: tables, "table")
      case Tag.attachment: try passNumber(below: attachments, "attachment")
      default: throw here("tag \(tag)")
      }
    }
  }
}
