// The type that `@LuaObject` or `@LuaStruct` is on.

#if Macros
  internal import SwiftSyntax

  /// A class or structure that Lua can have values of.
  struct Owner {
    let token: TokenSyntax
    let modifiers: [String]
    let isStructure: Bool

    var name: String { token.text }
    var conformance: String { isStructure ? "LuaStruct" : "LuaObject" }

    init(_ declaration: some DeclGroupSyntax, _ node: AttributeSyntax) throws(Mistake) {
      modifiers = declaration.modifiers.map(\.name.text)
      let parameters: GenericParameterClauseSyntax?
      if let type = declaration.as(ClassDeclSyntax.self) {
        (token, isStructure, parameters) = (type.name, false, type.genericParameterClause)
      } else if let type = declaration.as(StructDeclSyntax.self) {
        (token, isStructure, parameters) = (type.name, true, type.genericParameterClause)
      } else {
        throw Self.refusal(declaration, node)
      }
      let mark = node.attributeName.trimmedDescription.split(separator: ".").last.map(String.init)
      if mark != conformance {
        throw Mistake(
          node,
          isStructure
            ? "'@LuaObject' is for classes; write '@LuaStruct'"
            : "'@LuaStruct' is for structures; write '@LuaObject'")
      }
      if let parameters {
        let kind = isStructure ? "structure" : "class"
        throw Mistake(
          parameters, "a generic \(kind) cannot be exposed; register each of its types by hand")
      }
    }

    private static func refusal(
      _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax
    ) -> Mistake {
      let mark = "'@\(node.attributeName.trimmedDescription)'"
      return switch declaration.kind {
      case .actorDecl: Mistake(node, "an actor cannot be exposed, because Lua cannot await it")
      case .enumDecl:
        Mistake(
          node,
          "an enumeration cannot be exposed; register it by hand, as a 'LuaStruct', or let it "
            + "cross by its raw value")
      default: Mistake(node, "\(mark) is for a class or a structure")
      }
    }
  }
#endif
