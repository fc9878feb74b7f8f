// Lua values as bytes that belong to nobody: what a port carries from one state to another (D34).
//
// Tables are numbered as they are met, breadth first, so cycles and shared tables keep their shape
// and no depth is too deep: nothing here calls itself.

package import LuaEmbed

/// A Lua value outside of any state. Sendable: plain bytes.
package struct StructuredClone: Sendable {
  /// The most bytes that one value may take.
  package static let sizeLimit = 64 << 20

  private enum Tag {
    static let `nil`: UInt8 = 0
    static let no: UInt8 = 1
    static let yes: UInt8 = 2
    static let integer: UInt8 = 3
    static let float: UInt8 = 4
    static let string: UInt8 = 5
    /// A table by its number; its content stands where its turn comes.
    static let table: UInt8 = 6
    /// Ends the content of a table.
    static let end: UInt8 = 7
  }

  /// The value itself; then the contents of all tables, in the order of their numbers.
  private var bytes = ContiguousArray<UInt8>()
  private var tables = 0

  /// How many bytes it takes.
  package var size: Int { bytes.count }

  /// What cannot be sent, and where it is.
  package struct Obstacle: Error {
    /// Such as "message.items[3].callback".
    package var path: String
    /// Such as "a function".
    package var what: String
    package var isTooLarge = false
  }

  /// Copies the value at an index, without metamethods.
  package init(_ stack: LuaStack, _ index: Int32) throws(Obstacle) {
    var writer = Writer(stack)
    bytes = try writer.write(stack.absolute(index))
    tables = writer.count
  }

  /// Makes the value in a state. [-0, +1, raises: -]
  package func push(on stack: LuaStack) {
    bytes.withUnsafeBytes { bytes in
      var reader = Reader(stack: stack, bytes: bytes)
      reader.push(tables: tables)
    }
  }
}

// MARK: - Writing

extension StructuredClone {
  /// Walks a value. The stack holds a list of the tables met so far, by number.
  private struct Writer {
    let stack: LuaStack
    let list: Int32
    var bytes = ContiguousArray<UInt8>()
    var numbers: [UnsafeRawPointer: Int] = [:]
    /// Where each table was met: in which table, and under which key, as an offset into the bytes.
    var origins: [(table: Int, key: Int)] = []
    var count: Int { origins.count }

    init(_ stack: LuaStack) {
      self.stack = stack
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

    /// Writes one value; `key` is where its key stands, -1 if it is a key itself.
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
      default:
        throw Obstacle(
          path: path(table, key, of: index), what: "a \(stack.describe(index))")
      }
      if bytes.count > sizeLimit { throw Obstacle(path: "message", what: "", isTooLarge: true) }
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

    /// The way to a value from the message: "message.items[3].callback".
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
      let path = "message" + steps.reversed().joined()
      return key < 0 ? "a key in \(path)" : path
    }

    /// One step of a path, from the key that stands at an offset.
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
          return isName(text) ? ".\(text)" : "[\"\(LuaText.clean(text))\"]"
        default: return "[a table]"
        }
      }
    }

    private func isName(_ text: String) -> Bool {
      let isLetter = { (c: UInt8) in c == 95 || (c | 32) >= 97 && (c | 32) <= 122 }
      guard let first = text.utf8.first, isLetter(first) else { return false }
      return text.utf8.allSatisfy { isLetter($0) || $0 >= 48 && $0 <= 57 }
    }
  }
}

// MARK: - Reading

extension StructuredClone {
  /// Builds the value: first all tables, then what is in them.
  private struct Reader {
    let stack: LuaStack
    let bytes: UnsafeRawBufferPointer
    var offset = 0

    init(stack: LuaStack, bytes: UnsafeRawBufferPointer) {
      self.stack = stack
      self.bytes = bytes
    }

    mutating func push(tables: Int) {
      if tables == 0 {
        pushValue(0)
        return
      }
      stack.newTable(items: Int32(clamping: tables))
      let list = stack.absolute(-1)
      for number in 0..<tables {
        stack.newTable()
        stack.rawSet(list, item: Int64(number + 1))
      }
      pushValue(list)
      for number in 0..<tables { fill(number, list) }
      stack.rotate(list, -1)
      stack.pop()
    }

    private mutating func fill(_ number: Int, _ list: Int32) {
      _ = stack.rawGet(list, item: Int64(number + 1))
      while bytes[offset] != Tag.end {
        pushValue(list)
        pushValue(list)
        stack.rawSet(-3)
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
      default: stack.pushNil()
      }
    }
  }
}
