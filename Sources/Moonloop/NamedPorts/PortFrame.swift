// The layout of named-port messages in a socket's bytes: pure, and checked before use.
//
// A frame is a header of 32 bytes, nine bytes for each attachment, and a structured clone; all
// numbers are little-endian. A stream, not SOCK_SEQPACKET: a message may be larger than a
// socket takes at once.

internal import LuaEmbed

/// One frame: a message, or a notice about one.
package struct PortFrame {
  enum Kind: UInt8 {
    /// A message for a port: `target` says which; 0 is the connection's own.
    case message = 1
    /// The same, but the sender waits for a reply with this `id`.
    case request = 2
    /// The reply to the request `id`.
    case reply = 3
    /// There will be no reply to the request `id`.
    case dropped = 4
    /// The port `target` has no sender left here.
    case released = 5
    /// The port `target` has ended here.
    case gone = 6
  }

  /// An attachment of a message, by its number.
  enum Passed: Equatable {
    /// The next descriptor that arrived.
    case descriptor
    /// A port of the sender: messages for it get this `target`.
    case port(UInt64)
    /// A port of the receiver that it had sent before.
    case own(UInt64)
    /// A frozen table: the table with this number in the value.
    case frozen(UInt64)
  }

  var kind: Kind
  var target: UInt64 = 0
  var id: UInt64 = 0
  var passed: [Passed] = []
  /// A structured clone; empty in notices about messages.
  var body: [UInt8] = []

  /// How many descriptors belong to it.
  var descriptors: Int { passed.count { $0 == .descriptor } }

  static let magic: UInt32 = 0x014C_504D  // "MPL", and the version
  static let headerSize = 32
  private static let passedSize = 9
  /// The maximum size of what follows a header, by the maximum size of a value.
  static func bodyLimit(_ value: Int) -> Int {
    value + 8 + StructuredClone.attachmentLimit * passedSize
  }

  /// The bytes of the frame.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.headerSize + passed.count * Self.passedSize + body.count)
    func append<Word: FixedWidthInteger>(_ word: Word) {
      withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }
    append(Self.magic)
    append(UInt16(kind.rawValue))
    append(UInt16(passed.count))
    append(UInt64(passed.count * Self.passedSize + body.count))
    append(target)
    append(id)
    for one in passed {
      switch one {
      case .descriptor:
        append(UInt8(0))
        append(UInt64(0))
      case .port(let number):
        append(UInt8(1))
        append(number)
      case .own(let number):
        append(UInt8(2))
        append(number)
      case .frozen(let number):
        append(UInt8(3))
        append(number)
      }
    }
    bytes.append(contentsOf: body)
    return bytes
  }
}

/// Why the bytes from a socket are not a frame.
package struct PortDamage: Error, Equatable {
  package let what: String
  init(_ what: String) { self.what = what }
}

/// Splits the bytes that arrive into frames.
package struct PortFrameReader {
  /// The maximum size of a value.
  var largest = StructuredClone.sizeLimit
  /// Whether the sender may say what is frozen.
  package var takesFrozen = false
  private var buffer: [UInt8] = []
  private var head = 0

  /// How many bytes wait for the rest of their frame.
  var waiting: Int { buffer.count - head }

  package init() {}

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if head > 0 && (head == buffer.count || head > 1 << 16) {
      buffer.removeFirst(head)
      head = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// The next complete frame; nil: more bytes are needed.
  package mutating func next() throws(PortDamage) -> PortFrame? {
    guard waiting >= PortFrame.headerSize else { return nil }
    let magic: UInt32 = word(at: 0)
    if magic & 0xff_ffff != PortFrame.magic & 0xff_ffff { throw PortDamage("no message") }
    if magic != PortFrame.magic {
      throw PortDamage("version \(magic >> 24) of the protocol, this is \(PortFrame.magic >> 24)")
    }
    let number: UInt16 = word(at: 4)
    guard let kind = UInt8(exactly: number).flatMap(PortFrame.Kind.init) else {
      throw PortDamage("a message of unknown kind \(number)")
    }
    let count = Int(word(at: 6) as UInt16)
    let size: UInt64 = word(at: 8)
    if size > UInt64(PortFrame.bodyLimit(largest)) {
      throw PortDamage(
        "a message of \(size) bytes; the limit is \(largest)")
    }
    if count > StructuredClone.attachmentLimit || count * 9 > Int(size) {
      throw PortDamage("a message with \(count) attachments in \(size) bytes")
    }
    guard waiting >= PortFrame.headerSize + Int(size) else { return nil }
    var frame = PortFrame(kind: kind, target: word(at: 16), id: word(at: 24))
    for index in 0..<count {
      let place = PortFrame.headerSize + index * 9
      let number: UInt64 = word(at: place + 1)
      switch buffer[head + place] {
      case 0: frame.passed.append(.descriptor)
      case 1: frame.passed.append(.port(number))
      case 2: frame.passed.append(.own(number))
      case 3 where takesFrozen: frame.passed.append(.frozen(number))
      case let other: throw PortDamage("an attachment of unknown kind \(other)")
      }
    }
    let start = head + PortFrame.headerSize + count * 9
    head += PortFrame.headerSize + Int(size)
    frame.body = Array(buffer[start..<head])
    if head == buffer.count && buffer.count > 1 << 16 {
      buffer = []
      head = 0
    }
    return frame
  }

  private func word<Word: FixedWidthInteger>(at offset: Int) -> Word {
    buffer.withUnsafeBytes {
      Word(littleEndian: $0.loadUnaligned(fromByteOffset: head + offset, as: Word.self))
    }
  }
}
