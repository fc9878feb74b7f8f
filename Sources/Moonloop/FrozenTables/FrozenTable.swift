// A table that never changes and belongs to no Lua state: states of all threads read the same one.

internal import LuaEmbed

/// An immutable table of booleans, numbers, strings and such tables. Any thread.
package final class FrozenTable: Sendable {
  /// How deep they may be nested: the last reference frees all levels at once.
  static let depthLimit = 100
  /// The size limit for one with all that it holds, in bytes.
  static var sizeLimit: Int { StructuredClone.sizeLimit }

  enum Value: Sendable {
    case boolean(Bool)
    case integer(Int)
    case float(Double)
    /// Part of the table's text.
    case text(Range<Int>)
    case table(FrozenTable)
  }

  /// What a script asks for: a key outside the table.
  enum Key {
    case boolean(Bool)
    case integer(Int)
    case float(Double)
    case text(UnsafeRawBufferPointer)
  }

  /// All strings, one after the other.
  private let text: [UInt8]
  /// The values of 1, 2, ...
  let items: [Value]
  /// The other fields, in the order of `pairs`.
  let fields: [(key: Value, value: Value)]
  /// Places of fields plus one, by the hash of their keys; 0: free. A power of two, at least half
  /// of them free.
  private let slots: [UInt32]
  /// How many levels it has, and its bytes with all that it holds.
  let depth: Int
  let size: Int
  private let charge: MemoryCharge?
  /// The message that it has come in, from the host of this process.
  let arrival: FrozenArrival?

  /// - Parameter charge: Charges its own bytes.
  init(
    text: [UInt8], items: [Value], fields: [(key: Value, value: Value)],
    of arrival: FrozenArrival? = nil, charging charge: (Int) -> MemoryCharge?
  ) {
    (self.text, self.items, self.fields, self.arrival) = (text, items, fields, arrival)
    var slots = [UInt32](repeating: 0, count: Self.slotCount(for: fields.count))
    text.withUnsafeBytes { text in
      for (place, field) in fields.enumerated() {
        var slot = Self.hash(Self.key(field.key, in: text)) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(place + 1)
      }
    }
    self.slots = slots
    var inner: [ObjectIdentifier: FrozenTable] = [:]
    for case .table(let table) in items + fields.map(\.value) {
      inner[ObjectIdentifier(table)] = table
    }
    depth = 1 + (inner.values.map(\.depth).max() ?? 0)
    let own =
      160 + text.count + items.count * MemoryLayout<Value>.stride
      + fields.count * MemoryLayout<(Value, Value)>.stride + slots.count * 4
    size = inner.values.reduce(own) { $0.addingReportingOverflow($1.size).partialValue }
    self.charge = charge(own)
  }

  private static func slotCount(for fields: Int) -> Int {
    if fields == 0 { return 0 }
    var count = 2
    while count < 2 * fields { count *= 2 }
    return count
  }

  /// Whether `pairs` ends: each key leads to its own place.
  var hasUniqueKeys: Bool {
    text.withUnsafeBytes { text in
      fields.enumerated().allSatisfy { place, field in
        let key = Self.key(field.key, in: text)
        if case .integer(1...max(1, items.count)) = key, !items.isEmpty { return false }
        return self.place(of: key) == place
      }
    }
  }

  package static let empty = FrozenTable(text: [], items: [], fields: []) { _ in nil }

  // MARK: Reading

  /// The value of a key; nil: it has none.
  subscript(key: Key) -> Value? {
    if case .integer(let number) = key, number > 0, number <= items.count {
      return items[number - 1]
    }
    return place(of: key).map { fields[$0].value }
  }

  /// The place of a field.
  func place(of key: Key) -> Int? {
    if slots.isEmpty { return nil }
    return text.withUnsafeBytes { text in
      var slot = Self.hash(key) & (slots.count - 1)
      while slots[slot] != 0 {
        let place = Int(slots[slot]) - 1
        if Self.isEqual(Self.key(fields[place].key, in: text), key) { return place }
        slot = (slot + 1) & (slots.count - 1)
      }
      return nil
    }
  }

  func withText<Result>(
    _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    text.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  private static func key(_ value: Value, in text: UnsafeRawBufferPointer) -> Key {
    switch value {
    case .boolean(let isTrue): .boolean(isTrue)
    case .integer(let number): .integer(number)
    case .float(let number): .float(number)
    case .text(let range): .text(UnsafeRawBufferPointer(rebasing: text[range]))
    case .table: fatalError("a table is no key")
    }
  }

  private static func hash(_ key: Key) -> Int {
    var hasher = Hasher()
    switch key {
    case .boolean(let isTrue): hasher.combine(isTrue)
    case .integer(let number): hasher.combine(number)
    case .float(let number): hasher.combine(number.bitPattern)
    case .text(let bytes): hasher.combine(bytes: bytes)
    }
    return hasher.finalize()
  }

  private static func isEqual(_ one: Key, _ other: Key) -> Bool {
    switch (one, other) {
    case (.boolean(let one), .boolean(let other)): one == other
    case (.integer(let one), .integer(let other)): one == other
    case (.float(let one), .float(let other)): one == other
    case (.text(let one), .text(let other)):
      one.count == other.count && one.elementsEqual(other)
    default: false
    }
  }
}
