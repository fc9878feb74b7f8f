// Lua values as bytes that belong to no state: what a port carries from one state to another (D34).
//
// Tables are numbered in the order found, breadth first, so cycles and shared tables keep their
// shape and no depth is too deep: nothing here is recursive.

package import LuaEmbed
internal import Synchronization

/// The parts of a message that are more than bytes.
package enum Attachment: Sendable {
  /// A way to send to a port.
  case port(PortRight)
  /// An open file, which belongs to the message until it is received.
  case descriptor(SentDescriptor)
  /// A frozen table, which sender and receiver share.
  case frozen(FrozenTable)
}

/// A Lua value outside any state. Sendable: plain bytes, and things that may be sent with them.
package struct StructuredClone: Sendable {
  /// The maximum size of one value in bytes.
  static var sizeLimit: Int { limit.load(ordering: .relaxed) }
  private static let limit = Atomic<Int>(64 << 20)

  /// Sets another limit for this process, before any value is made.
  static func setSizeLimit(_ bytes: Int) { limit.store(bytes, ordering: .relaxed) }

  /// The maximum number of ports, descriptors and frozen tables in one value.
  static let attachmentLimit = 250

  enum Tag {
    static let `nil`: UInt8 = 0
    static let no: UInt8 = 1
    static let yes: UInt8 = 2
    static let integer: UInt8 = 3
    static let float: UInt8 = 4
    static let string: UInt8 = 5
    /// A table by its number; its content follows in order.
    static let table: UInt8 = 6
    /// Ends the content of a table.
    static let end: UInt8 = 7
    /// An attachment, by its number.
    static let attachment: UInt8 = 8
  }

  /// Numbers and short strings, which most messages are, need no memory of their own.
  private enum Content {
    case none
    case boolean(Bool)
    case integer(Int64)
    case float(Double)
    case text(ShortText)
    case written(Written)
  }

  private struct Written {
    var bytes: ContiguousArray<UInt8>
    var tables = 0
    var attachments: [Attachment] = []
  }

  private let content: Content
  /// The value itself; then the contents of all tables, in the order of their numbers.
  var bytes: ContiguousArray<UInt8> {
    switch content {
    case .none: [Tag.nil]
    case .boolean(let isTrue): [isTrue ? Tag.yes : Tag.no]
    case .integer(let value): Self.tagged(Tag.integer, UInt64(bitPattern: value))
    case .float(let value): Self.tagged(Tag.float, value.bitPattern)
    case .text(let text): text.withBytes { Self.text($0) }
    case .written(let written): written.bytes
    }
  }
  var tables: Int { if case .written(let written) = content { written.tables } else { 0 } }
  /// The attachments: ports, descriptors and frozen tables.
  var attachments: [Attachment] {
    if case .written(let written) = content { written.attachments } else { [] }
  }
  /// Counts it as memory of the scripts that sent it, until it is received or dropped.
  var charge: MemoryCharge?

  /// Its size in bytes.
  package var size: Int {
    switch content {
    case .none, .boolean: 1
    case .integer, .float: 9
    case .text(let text): 9 + text.count
    case .written(let written): written.bytes.count
    }
  }

  /// What cannot be sent, and where it was found.
  package struct Obstacle: Error {
    /// Such as "message.items[3].callback".
    var path: String
    /// Such as "a function".
    var what: String
    var isTooLarge = false
  }

  /// Determines what a userdata at an index is sent as, or why it cannot be, as text; nil: it is
  /// of no kind that can be.
  package typealias Attach = (_ stack: LuaStack, _ index: Int32) -> Result<Attachment, Refusal>?

  /// Why something that can be sent in general cannot be now: "a port that has ended".
  package struct Refusal: Error {
    let what: String
    init(_ what: String) { self.what = what }
  }

  /// Copies the value at an index, without metamethods.
  /// - Parameters:
  ///   - root: The value's name in paths.
  ///   - most: The maximum size in bytes: many fields may be one long string.
  package init(
    _ stack: LuaStack, _ index: Int32, root: String = "message",
    most: Int = StructuredClone.sizeLimit, attach: Attach = { _, _ in nil }
  ) throws(Obstacle) {
    let index = stack.absolute(index)
    if let plain = try Self.plain(stack, index, root, most) {
      content = plain
      return
    }
    content = try withoutActuallyEscaping(attach) { (attach) throws(Obstacle) in
      var writer = Writer(stack, root, most, attach)
      let bytes = try writer.write(index)
      return .written(Written(bytes: bytes, tables: writer.count, attachments: writer.attachments))
    }
  }

  /// The content of a value without nested values, without the bookkeeping of a walk.
  private static func plain(
    _ stack: LuaStack, _ index: Int32, _ root: String, _ most: Int
  ) throws(Obstacle) -> Content? {
    switch stack.type(index) {
    case .none, .nil: return Content.none
    case .boolean: return .boolean(stack.boolean(index))
    case .number:
      if let integer = stack.exactInteger(index) { return .integer(Int64(integer)) }
      return .float(stack.number(index) ?? 0)
    case .string:
      let content = stack.withBytes(index) { bytes -> Content? in
        if let short = ShortText(bytes) { return .text(short) }
        return bytes.count > most ? nil : .written(Written(bytes: text(bytes)))
      }
      guard let content = content ?? nil else {
        throw Obstacle(path: root, what: "", isTooLarge: true)
      }
      return content
    default: return nil
    }
  }

  private static func text(_ text: UnsafeRawBufferPointer) -> ContiguousArray<UInt8> {
    tagged(Tag.string, UInt64(text.count), text)
  }

  private static func tagged(
    _ tag: UInt8, _ word: UInt64, _ rest: UnsafeRawBufferPointer = .init(start: nil, count: 0)
  ) -> ContiguousArray<UInt8> {
    ContiguousArray(unsafeUninitializedCapacity: 9 + rest.count) { buffer, count in
      let raw = UnsafeMutableRawBufferPointer(buffer)
      raw[0] = tag
      raw.storeBytes(of: word, toByteOffset: 1, as: UInt64.self)
      UnsafeMutableRawBufferPointer(rebasing: raw[9...]).copyBytes(from: rest)
      count = 9 + rest.count
    }
  }

  /// Content that was checked: every number in it is valid.
  init(_ content: ContiguousArray<UInt8>, tables: Int, attachments: [Attachment]) {
    self.content = .written(Written(bytes: content, tables: tables, attachments: attachments))
  }

  /// Makes the value in a state. [-0, +1, raises: -]
  /// - Parameter pushAttachment: Pushes the value for one attachment.
  package func push(
    on stack: LuaStack, pushAttachment: (Attachment, LuaStack) -> Void = { $1.pushNil() }
  ) {
    switch content {
    case .none: stack.pushNil()
    case .boolean(let isTrue): stack.push(isTrue)
    case .integer(let value): stack.pushInteger(value)
    case .float(let value): stack.push(value)
    case .text(let text): text.withBytes { stack.push(bytes: $0) }
    case .written(let written):
      written.bytes.withUnsafeBytes { bytes in
        var reader = Reader(stack: stack, bytes: bytes)
        reader.push(tables: written.tables, attachments: written.attachments, pushAttachment)
      }
    }
  }
}

/// A string of at most 16 bytes, without memory of its own.
private struct ShortText: BitwiseCopyable, Sendable {
  private var words: (UInt64, UInt64) = (0, 0)
  private let length: UInt8
  var count: Int { Int(length) }

  init?(_ bytes: UnsafeRawBufferPointer) {
    if bytes.count > 16 { return nil }
    length = UInt8(bytes.count)
    withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
  }

  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withUnsafeBytes(of: words) { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }
}

// MARK: - Writing

extension StructuredClone {
  /// Walks a value. The stack holds a list of the tables met so far, by number.
  private struct Writer {
    let stack: LuaStack
    let list: Int32
    let root: String
    let attach: Attach
    let most: Int
    var bytes = ContiguousArray<UInt8>()
    var attachments: [Attachment] = []
    var attachmentNumbers: [UnsafeRawPointer: Int] = [:]
    var numbers: [UnsafeRawPointer: Int] = [:]
    /// Where each table was found: in which table, and under which key, as an offset into the
    /// bytes.
    var origins: [(table: Int, key: Int)] = []
    var count: Int { origins.count }

    init(_ stack: LuaStack, _ root: String, _ most: Int, _ attach: @escaping Attach) {
      self.stack = stack
      self.most = most
      self.root = root
      self.attach = attach
      stack.newTable()
      list = stack.absolute(-1)
    }

    mutating func write(_ index: Int32) throws(Obstacle) -> ContiguousArray<UInt8> {
      let height = list - 1
      defer { stack.setCount(height) }
      try append(index, in: -1, under: 0)
      var number = 0
      while number < count {
        try writeContent(number)
        number += 1
      }
      return bytes
    }

    private mutating func writeContent(_ number: Int) throws(Obstacle) {
      _ = stack.rawGet(list, item: Int64(number + 1))
      let table = stack.absolute(-1)
      stack.pushNil()
      while stack.next(table) {
        let key = bytes.count
        try append(table + 1, in: number, under: -1)
        try append(table + 2, in: number, under: key)
        stack.pop()
      }
      bytes.append(Tag.end)
      stack.pop()
    }

    /// Writes one value; `key` is the offset of its key, or -1 if it is a key itself.
    private mutating func append(
      _ index: Int32, in table: Int, under key: Int
    ) throws(Obstacle) {
      switch stack.type(index) {
      case .nil, .none: bytes.append(Tag.nil)
      case .boolean: bytes.append(stack.boolean(index) ? Tag.yes : Tag.no)
      case .number: appendNumber(index)
      case .string:
        bytes.append(Tag.string)
        stack.withBytes(index) { text in
          append(UInt64(text.count))
          bytes.append(contentsOf: text)
        }
      case .table: appendTable(index, in: table, under: key)
      case .userdata: try appendAttachment(index, in: table, under: key)
      default: throw obstacle("a \(stack.describe(index))", index, table, key)
      }
      if bytes.count > most { throw Obstacle(path: root, what: "", isTooLarge: true) }
    }

    private func obstacle(_ what: String, _ index: Int32, _ table: Int, _ key: Int) -> Obstacle {
      Obstacle(path: path(table, key, of: index), what: what)
    }

    /// The same handle twice is one attachment.
    private mutating func appendAttachment(
      _ index: Int32, in table: Int, under key: Int
    ) throws(Obstacle) {
      let address = stack.address(index)
      let number: Int
      if let known = attachmentNumbers[address] {
        number = known
      } else {
        guard let found = attach(stack, stack.absolute(index)) else {
          throw obstacle("a \(stack.describe(index))", index, table, key)
        }
        switch found {
        case .failure(let refusal): throw obstacle(refusal.what, index, table, key)
        case .success(let attachment):
          number = attachments.count
          attachmentNumbers[address] = number
          attachments.append(attachment)
        }
      }
      if number >= StructuredClone.attachmentLimit {
        throw obstacle(
          "one of more than \(StructuredClone.attachmentLimit) ports, descriptors and frozen "
            + "tables",
          index, table, key)
      }
      bytes.append(Tag.attachment)
      append(UInt64(number))
    }

    private mutating func appendNumber(_ index: Int32) {
      if let integer = stack.exactInteger(index) {
        bytes.append(Tag.integer)
        append(UInt64(bitPattern: Int64(integer)))
      } else {
        bytes.append(Tag.float)
        append((stack.number(index) ?? 0).bitPattern)
      }
    }

    private mutating func appendTable(_ index: Int32, in table: Int, under key: Int) {
      let address = stack.address(index)
      let number: Int
      if let known = numbers[address] {
        number = known
      } else {
        number = count
        numbers[address] = number
        origins.append((table, key))
        stack.pushValue(index)
        stack.rawSet(list, item: Int64(number + 1))
      }
      bytes.append(Tag.table)
      append(UInt64(number))
    }

    private mutating func append(_ word: UInt64) {
      withUnsafeBytes(of: word) { bytes.append(contentsOf: $0) }
    }

    // MARK: Paths

    /// The path of a value in the message: "message.items[3].callback".
    private func path(_ table: Int, _ key: Int, of index: Int32) -> String {
      var steps: [String] = []
      if key >= 0 && table >= 0 { steps.append(step(key)) }
      var table = table
      while table > 0 {
        let origin = origins[table]
        if origin.key >= 0 { steps.append(step(origin.key)) } else { steps.append("[key]") }
        table = origin.table
      }
      if steps.count > 16 {
        steps = steps.prefix(6) + ["…(\(steps.count - 12) more)"] + steps.suffix(6)
      }
      let path = root + steps.reversed().joined()
      return key < 0 ? "a key in \(path)" : path
    }

    /// One step of a path, from the key at an offset.
    private func step(_ offset: Int) -> String {
      bytes.withUnsafeBytes { bytes in
        func word() -> UInt64 { bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self) }
        switch bytes[offset] {
        case Tag.no: return "[false]"
        case Tag.yes: return "[true]"
        case Tag.integer: return "[\(Int64(bitPattern: word()))]"
        case Tag.float: return "[\(Double(bitPattern: word()))]"
        case Tag.string:
          let start = offset + 9
          let text = String(
            decoding: bytes[start..<(start + min(Int(word()), 40))], as: UTF8.self)
          return StructuredClone.step(text)
        default: return "[a table]"
        }
      }
    }
  }
}

// MARK: - Reading

extension StructuredClone {
  /// One step of a path, for a key that is a string: ".name".
  static func step(_ key: String) -> String {
    isName(key) ? ".\(key)" : "[\"\(LuaText.clean(key))\"]"
  }

  private static func isName(_ text: String) -> Bool {
    let isLetter = { (c: UInt8) in c == 95 || (c | 32) >= 97 && (c | 32) <= 122 }
    guard let first = text.utf8.first, isLetter(first) else { return false }
    return text.utf8.allSatisfy { isLetter($0) || $0 >= 48 && $0 <= 57 }
  }

  /// Builds the value: first all tables, then their contents.
  private struct Reader {
    let stack: LuaStack
    let bytes: UnsafeRawBufferPointer
    var offset = 0

    init(stack: LuaStack, bytes: UnsafeRawBufferPointer) {
      self.stack = stack
      self.bytes = bytes
    }

    /// The list on the stack holds the tables by number, and below 1 the attachments.
    mutating func push(
      tables: Int, attachments: [Attachment], _ pushAttachment: (Attachment, LuaStack) -> Void
    ) {
      if tables == 0 && attachments.isEmpty {
        pushValue(0)
        return
      }
      stack.newTable(items: Int32(clamping: tables))
      let list = stack.absolute(-1)
      for number in 0..<tables {
        stack.newTable()
        stack.rawSet(list, item: Int64(number + 1))
      }
      for (number, attachment) in attachments.enumerated() {
        pushAttachment(attachment, stack)
        stack.rawSet(list, item: Int64(-number))
      }
      pushValue(list)
      for number in 0..<tables { fill(number, list) }
      stack.rotate(list, -1)
      stack.pop()
    }

    private mutating func fill(_ number: Int, _ list: Int32) {
      _ = stack.rawGet(list, item: Int64(number + 1))
      while bytes[offset] != Tag.end {
        let isAttachment = bytes[offset] == Tag.attachment
        pushValue(list)
        pushValue(list)
        // One that was taken already is nil, which cannot be a key.
        if isAttachment && stack.type(-2) == .nil { stack.pop(2) } else { stack.rawSet(-3) }
      }
      offset += 1
      stack.pop()
    }

    private mutating func word() -> UInt64 {
      defer { offset += 8 }
      return bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    private mutating func pushValue(_ list: Int32) {
      let tag = bytes[offset]
      offset += 1
      switch tag {
      case Tag.no: stack.push(false)
      case Tag.yes: stack.push(true)
      case Tag.integer: stack.pushInteger(Int64(bitPattern: word()))
      case Tag.float: stack.push(Double(bitPattern: word()))
      case Tag.string:
        let count = Int(word())
        stack.push(bytes: UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)]))
        offset += count
      case Tag.table: _ = stack.rawGet(list, item: Int64(word()) + 1)
      case Tag.attachment: _ = stack.rawGet(list, item: -Int64(word()))
      default: stack.pushNil()
      }
    }
  }
}
