// `@LuaExposed`: a mark that `@LuaObject` and `@LuaStruct` read. Alone it writes nothing, and must
// be where it is read.

#if Macros
  package import SwiftSyntax
  package import SwiftSyntaxMacros

  package struct ExposedMacro: PeerMacro {
    package static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
      let around = context.lexicalContext.first
      if around?.is(ExtensionDeclSyntax.self) == true {
        context.report(
          Mistake(
            node, "'@LuaExposed' does not work in an extension; move the member into the type"
          ))
      } else {
        let type = around?.asProtocol((any WithAttributesSyntax).self)
        let marks = (type?.marks("LuaObject") ?? []) + (type?.marks("LuaStruct") ?? [])
        if marks.isEmpty {
          context.report(
            Mistake(
              node, "'@LuaExposed' needs a type with '@LuaObject' or '@LuaStruct' around it"))
        }
      }
      return []
    }
  }

  extension WithAttributesSyntax {
    /// The attributes with a name.
    func marks(_ name: String) -> [AttributeSyntax] {
      attributes.compactMap { $0.as(AttributeSyntax.self) }.filter {
        $0.attributeName.trimmedDescription.split(separator: ".").last.map(String.init) == name
      }
    }
  }
#endif
