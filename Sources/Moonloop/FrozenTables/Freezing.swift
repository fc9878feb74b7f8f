// Makes a frozen table of one in Lua.

internal import LuaEmbed

extension FrozenTable {
  /// What cannot be frozen, and where it was found: "value.items[3]".
  struct Obstacle: Error {
    let path: String
    let what: String
  }

  /// Copies tables, the inner ones first, without metamethods. A table that is found twice is one.
  struct Freezer {
    let stack: LuaStack
    /// The table that a userdata at an index stands for, if it is a frozen one.
    let frozen: (Int32) -> FrozenTable?
    let charge: (Int) -> MemoryCharge?
    /// The maximum size of what is made, and whether the call must end meanwhile.
    private let limit: Int
    private let mustStop: () -> Bool
    /// The bytes of what has been made, parts included.
    private var size = 0
    private var steps = 0
    private var made: [UnsafeRawPointer: FrozenTable] = [:]
    private var open: Set<UnsafeRawPointer> = []
    private var path: [String] = []

    init(
      _ stack: LuaStack, frozen: @escaping (Int32) -> FrozenTable?,
      charge: @escaping (Int) -> MemoryCharge?, limit: Int, mustStop: @escaping () -> Bool
    ) {
      (self.stack, self.frozen, self.charge) = (stack, frozen, charge)
      (self.limit, self.mustStop) = (min(limit, FrozenTable.sizeLimit), mustStop)
    }

    /// Freezes the table at an index. [-0, +0]
    mutating func freeze(_ index: Int32) throws(Obstacle) -> FrozenTable {
      let table = stack.absolute(index)
      let address = stack.address(table)
      if let known = made[address] { return known }
      if open.count >= FrozenTable.depthLimit || !stack.reserve(8) {
        throw obstacle("nested deeper than \(FrozenTable.depthLimit) tables")
      }
      if !open.insert(address).inserted { throw obstacle("a table that contains itself") }
      defer { open.remove(address) }
      let height = Int32(stack.count)
      defer { stack.setCount(height) }
      var content = Content()
      try readItems(table, &content)
      try readFields(table, &content)
      let result = FrozenTable(
        text: content.text, items: content.items, fields: content.fields, charging: charge)
      try note(0)
      if result.size > FrozenTable.sizeLimit {
        throw obstacle("larger than \(FrozenTable.sizeLimit) bytes")
      }
      if result.depth > FrozenTable.depthLimit {
        throw obstacle("nested deeper than \(FrozenTable.depthLimit) tables")
      }
      made[address] = result
      return result
    }

    private struct Content {
      var text: [UInt8] = []
      var items: [Value] = []
      var fields: [(key: Value, value: Value)] = []
    }

    private mutating func readItems(_ table: Int32, _ content: inout Content) throws(Obstacle) {
      while stack.rawGet(table, item: Int64(content.items.count + 1)) != .nil {
        path.append("[\(content.items.count + 1)]")
        let value = try value(-1, &content)
        content.items.append(value)
        path.removeLast()
        stack.pop()
      }
      stack.pop()
    }

    private mutating func readFields(_ table: Int32, _ content: inout Content) throws(Obstacle) {
      stack.pushNil()
      while stack.next(table) {
        if let number = stack.exactInteger(-2), number > 0, number <= content.items.count {
          stack.pop()
          continue
        }
        path.append(step(-2))
        guard [.boolean, .number, .string].contains(stack.type(-2)) else {
          throw obstacle("under a key that is a \(stack.describe(-2))")
        }
        let key = try value(-2, &content)
        let value = try value(-1, &content)
        content.fields.append((key, value))
        path.removeLast()
        stack.pop()
      }
    }

    /// Notes bytes before they are copied: many values may be one long string.
    private mutating func note(_ bytes: Int) throws(Obstacle) {
      size += bytes
      if size > limit { throw obstacle("larger than \(limit) bytes") }
      steps += 1
      if steps % 256 == 0 && mustStop() { throw obstacle("too large for the limits of this call") }
    }

    private mutating func value(
      _ index: Int32, _ content: inout Content
    ) throws(Obstacle) -> Value {
      let text = stack.type(index) == .string ? stack.bytes(index)?.count ?? 0 : 0
      try note(MemoryLayout<Value>.stride + text)
      switch stack.type(index) {
      case .boolean: return .boolean(stack.boolean(index))
      case .number:
        if let number = stack.exactInteger(index) { return .integer(number) }
        return .float(stack.number(index) ?? 0)
      case .string:
        let start = content.text.count
        stack.withBytes(index) { content.text.append(contentsOf: $0) }
        return .text(start..<content.text.count)
      case .table: return .table(try freeze(index))
      case .userdata:
        if let table = frozen(stack.absolute(index)) { return .table(table) }
      default: break
      }
      throw obstacle("a \(stack.describe(index))")
    }

    private func step(_ index: Int32) -> String {
      switch stack.type(index) {
      case .string: StructuredClone.step(stack.string(index) ?? "")
      case .number:
        stack.exactInteger(index).map { "[\($0)]" } ?? "[\(stack.number(index) ?? 0)]"
      case .boolean: "[\(stack.boolean(index))]"
      default: "[a \(stack.describe(index))]"
      }
    }

    private func obstacle(_ what: String) -> Obstacle {
      let steps =
        path.count > 16
        ? path.prefix(6) + ["…(\(path.count - 12) more)"] + path.suffix(6) : path[...]
      return Obstacle(path: "value" + steps.joined(), what: what)
    }
  }
}
