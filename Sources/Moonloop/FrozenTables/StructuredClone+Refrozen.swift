// What a host has frozen is frozen again in the process of its guest.

internal import LuaEmbed
internal import MoonloopCore
internal import Synchronization

/// The frozen tables of one message. Their memory is charged to the first state with a limit that
/// gets one. Any thread.
final class FrozenArrival: Sendable {
  private let bytes = Atomic<Int>(0)
  private let charge = Guarded<MemoryCharge?>(nil)

  fileprivate func add(_ count: Int) { bytes.add(count, ordering: .relaxed) }

  func charge(to state: LuaState) {
    charge.withLock { charge in
      if charge == nil { charge = state.charge(bytes.load(ordering: .relaxed), leaves: true) }
    }
  }
}

extension StructuredClone {
  /// A value that was decoded, with frozen tables for attachments.
  /// - Parameter frozen: The numbers of their tables, by attachment; the tables behind the first of
  ///   them are parts of frozen ones.
  package func refrozen(_ frozen: [Int: Int]) throws(Damage) -> StructuredClone {
    guard let first = frozen.values.min() else { return self }
    guard first >= 0, frozen.values.allSatisfy({ $0 < tables }) else {
      throw Damage(what: "a frozen table that is not there", offset: 0)
    }
    var refreezing = Refreezing(bytes: bytes, first: first)
    let plain = try refreezing.passPlain()
    refreezing.findTables(tables - first)
    var attachments = attachments
    for (place, number) in frozen {
      attachments[place] = .frozen(try refreezing.table(number, depth: 1))
    }
    return StructuredClone(
      ContiguousArray(bytes[..<plain]), tables: first, attachments: attachments)
  }

  /// Reads content that was checked, except for what only plain tables may have.
  private struct Refreezing {
    let bytes: ContiguousArray<UInt8>
    let first: Int
    private let arrival = FrozenArrival()
    private var offset = 0
    /// Where the contents of the tables from `first` on begin.
    private var starts: [Int] = []
    private var made: [FrozenTable?] = []

    init(bytes: ContiguousArray<UInt8>, first: Int) { (self.bytes, self.first) = (bytes, first) }

    /// - Returns: Where the frozen tables begin.
    mutating func passPlain() throws(Damage) -> Int {
      if let number = passValue(), number >= first { throw part() }
      for _ in 0..<first {
        while bytes[offset] != Tag.end {
          if let number = passValue(), number >= first { throw part() }
        }
        offset += 1
      }
      return offset
    }

    mutating func findTables(_ count: Int) {
      made = Array(repeating: nil, count: count)
      for _ in 0..<count {
        starts.append(offset)
        while bytes[offset] != Tag.end { _ = passValue() }
        offset += 1
      }
    }

    private func part() -> Damage {
      Damage(what: "a part of a frozen table in another", offset: offset)
    }

    private func word(at offset: Int) -> UInt64 {
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    }

    /// - Returns: The table's number, if it is one.
    private mutating func passValue() -> Int? {
      let tag = bytes[offset]
      offset += 1
      if [Tag.nil, Tag.no, Tag.yes].contains(tag) { return nil }
      let word = word(at: offset)
      offset += 8 + (tag == Tag.string ? Int(word) : 0)
      return tag == Tag.table ? Int(word) : nil
    }

    mutating func table(_ number: Int, depth: Int) throws(Damage) -> FrozenTable {
      if let known = made[number - first] { return known }
      offset = starts[number - first]
      // One that contains itself is too deep as well.
      if depth > FrozenTable.depthLimit {
        throw Damage(what: "frozen tables that are nested too deep", offset: offset)
      }
      var (text, items): ([UInt8], [FrozenTable.Value]) = ([], [])
      var fields: [(key: FrozenTable.Value, value: FrozenTable.Value)] = []
      while bytes[offset] != Tag.end {
        let key = try value(&text, inside: nil)
        let value = try value(&text, inside: depth)
        if case .integer(items.count + 1) = key {
          items.append(value)
        } else {
          fields.append((key, value))
        }
      }
      let result = FrozenTable(text: text, items: items, fields: fields, of: arrival) {
        arrival.add($0)
        return nil
      }
      if !result.hasUniqueKeys { throw Damage(what: "a key twice", offset: offset) }
      made[number - first] = result
      return result
    }

    /// - Parameter depth: That of the table which the value is in; nil: it is a key.
    private mutating func value(
      _ text: inout [UInt8], inside depth: Int?
    ) throws(Damage) -> FrozenTable.Value {
      let tag = bytes[offset]
      offset += 1
      if tag == Tag.yes || tag == Tag.no { return .boolean(tag == Tag.yes) }
      if tag == Tag.nil || tag == Tag.attachment {
        throw Damage(what: "a frozen table with tag \(tag)", offset: offset - 1)
      }
      let word = word(at: offset)
      offset += 8
      switch tag {
      case Tag.integer: return .integer(Int(Int64(bitPattern: word)))
      case Tag.float: return .float(Double(bitPattern: word))
      case Tag.string:
        let start = text.count
        text.append(contentsOf: bytes[offset..<(offset + Int(word))])
        offset += Int(word)
        return .text(start..<text.count)
      default:
        guard let depth, Int(word) >= first else { throw part() }
        let place = offset
        defer { offset = place }
        return .table(try table(Int(word), depth: depth + 1))
      }
    }
  }
}
