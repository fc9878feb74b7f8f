// Messages that leave the process have copies of frozen tables, which only the process of a guest
// freezes again.

internal import LuaEmbed

extension StructuredClone {
  /// The same with plain tables in place of frozen ones; a table that is in it twice is one.
  var thawed: StructuredClone {
    guard attachments.contains(where: \.isFrozen) else { return self }
    var thawing = Thawing(self, keepsPlaces: false)
    var thawed = thawing.run(bytes)
    thawed.charge = charge
    return thawed
  }

  /// The same for the process of a guest, which freezes these tables again: they follow all others,
  /// and stay attachments.
  /// - Returns: Also their numbers, by attachment.
  package var meltedForGuest: (clone: StructuredClone, frozen: [Int: Int]) {
    guard attachments.contains(where: \.isFrozen) else { return (self, [:]) }
    var thawing = Thawing(self, keepsPlaces: true)
    let melted = thawing.run(bytes)
    return (melted, thawing.frozenNumbers)
  }

  private struct Thawing {
    private let old: [Attachment]
    private var kept: [Attachment] = []
    /// Frozen tables stay attachments.
    private let keepsPlaces: Bool
    /// The new numbers of attachments that are kept.
    private var numbers: [Int: Int] = [:]
    private var bytes: ContiguousArray<UInt8> = []
    private var tables: Int
    private var tableNumbers: [ObjectIdentifier: Int] = [:]
    /// Frozen tables whose content is to be written, in the order of their numbers.
    private var waiting: [FrozenTable] = []

    init(_ clone: StructuredClone, keepsPlaces: Bool) {
      (old, tables) = (clone.attachments, clone.tables)
      self.keepsPlaces = keepsPlaces
      for (number, attachment) in old.enumerated() where keepsPlaces || !attachment.isFrozen {
        numbers[number] = kept.count
        kept.append(attachment)
      }
    }

    /// The numbers of the tables that frozen ones became, by attachment.
    var frozenNumbers: [Int: Int] {
      var result: [Int: Int] = [:]
      for case (let place, .frozen(let table)) in old.enumerated() {
        result[place] = tableNumbers[ObjectIdentifier(table)]
      }
      return result
    }

    mutating func run(_ content: ContiguousArray<UInt8>) -> StructuredClone {
      copy(content)
      var place = 0
      while place < waiting.count {
        let table = waiting[place]
        for (index, item) in table.items.enumerated() {
          append(Tag.integer, UInt64(index + 1))
          append(item, of: table)
        }
        for field in table.fields {
          append(field.key, of: table)
          append(field.value, of: table)
        }
        bytes.append(Tag.end)
        place += 1
      }
      return StructuredClone(bytes, tables: tables, attachments: kept)
    }

    /// Copies written values, whose numbers are right, and replaces attachments.
    private mutating func copy(_ content: ContiguousArray<UInt8>) {
      var offset = 0
      while offset < content.count {
        let tag = content[offset]
        if [Tag.nil, Tag.no, Tag.yes, Tag.end].contains(tag) {
          bytes.append(tag)
          offset += 1
          continue
        }
        let word = content.withUnsafeBytes {
          $0.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self)
        }
        offset += 9
        if tag == Tag.attachment {
          if case .frozen(let table) = old[Int(word)] {
            let number = number(of: table)
            if !keepsPlaces {
              append(Tag.table, UInt64(number))
              continue
            }
          }
          append(tag, UInt64(numbers[Int(word)]!))
          continue
        }
        append(tag, word)
        guard tag == Tag.string else { continue }
        bytes.append(contentsOf: content[offset..<(offset + Int(word))])
        offset += Int(word)
      }
    }

    private mutating func append(_ tag: UInt8, _ word: UInt64) {
      bytes.append(tag)
      withUnsafeBytes(of: word) { bytes.append(contentsOf: $0) }
    }

    private mutating func number(of table: FrozenTable) -> Int {
      let number = tableNumbers[ObjectIdentifier(table)] ?? tables
      if number == tables {
        tableNumbers[ObjectIdentifier(table)] = number
        waiting.append(table)
        tables += 1
      }
      return number
    }

    private mutating func append(_ value: FrozenTable.Value, of table: FrozenTable) {
      switch value {
      case .boolean(let isTrue): bytes.append(isTrue ? Tag.yes : Tag.no)
      case .integer(let number): append(Tag.integer, UInt64(bitPattern: Int64(number)))
      case .float(let number): append(Tag.float, number.bitPattern)
      case .text(let range):
        append(Tag.string, UInt64(range.count))
        table.withText(range) { bytes.append(contentsOf: $0) }
      case .table(let inner): append(Tag.table, UInt64(number(of: inner)))
      }
    }
  }
}

extension Attachment {
  fileprivate var isFrozen: Bool { if case .frozen = self { true } else { false } }
}
