// The place of a value in the tables that a Codable type is read from or written to.

/// A step from a table to a value in it.
enum LuaKey: CodingKey {
  /// A position in a list, counted from 0 as in Swift.
  case item(Int)
  case field(String, Int?)

  init(stringValue: String) { self = .field(stringValue, nil) }

  init(intValue: Int) { self = .item(intValue) }

  init(_ key: some CodingKey) { self = .field(key.stringValue, key.intValue) }

  var stringValue: String {
    switch self {
    case .item(let item): "Index \(item)"
    case .field(let name, _): name
    }
  }

  var intValue: Int? {
    switch self {
    case .item(let item): item
    case .field(_, let number): number
    }
  }

  /// Leads to the superclass's part of the value.
  static let superclass = LuaKey.field("super", nil)

  /// A path as a script would write it: `routes[2].port`.
  static func text(of path: [any CodingKey]) -> String {
    path.reduce(into: "") { text, key in
      if case .item(let item)? = key as? LuaKey {
        text += "[\(item &+ 1)]"
      } else if isName(key.stringValue) {
        text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
      } else {
        text += key.intValue.map { "[\($0)]" } ?? "[\"\(key.stringValue)\"]"
      }
    }
  }

  private static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, !(48...57).contains(first) else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case 48...57, 65...90, 95, 97...122: true
      default: false
      }
    }
  }
}
