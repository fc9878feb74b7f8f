// What Lua calls a class or a member: a name that scripts can write.

#if Macros
  internal import SwiftParser
  internal import SwiftSyntax

  struct LuaName {
    let text: String
    /// Where it is written.
    let place: Syntax

    /// The name that an attribute gives, or else a name in Swift.
    init(_ attribute: AttributeSyntax, or name: TokenSyntax) throws(Mistake) {
      let list = attribute.arguments?.as(LabeledExprListSyntax.self) ?? []
      guard let given = list.first(where: { $0.label == nil })?.expression else {
        try self.init(name.text.filter { $0 != "`" }, Syntax(name), attribute)
        return
      }
      guard let text = given.as(StringLiteralExprSyntax.self)?.representedLiteralValue else {
        throw Mistake(given, "the name in Lua must be a string literal")
      }
      try self.init(text, Syntax(given), attribute)
    }

    init(_ text: String, _ place: Syntax, _ attribute: AttributeSyntax) throws(Mistake) {
      if Self.words.contains(text) {
        let mark = "@\(attribute.attributeName.trimmedDescription)(\"…\")"
        throw Mistake(place, "'\(text)' is a reserved word of Lua; give another name: '\(mark)'")
      }
      let isName = text.utf8.enumerated().allSatisfy { index, byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "_"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): index > 0
        default: false
        }
      }
      if text.isEmpty || !isName {
        throw Mistake(
          place, "'\(text)' is not a valid name in Lua; use ASCII letters, digits and '_'")
      }
      self.text = text
      self.place = place
    }

    private static let words: Set = [
      "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if",
      "in", "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
    ]
  }
#endif
