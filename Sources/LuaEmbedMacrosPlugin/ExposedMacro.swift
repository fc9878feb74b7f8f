// `@LuaExposed`: a mark that `@LuaObject` reads. Alone it writes nothing, and must be where it is
// read.

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
            node, "'@LuaExposed' does not work in an extension; move the member into the class"
          ))
      } else if around?.asProtocol((any WithAttributesSyntax).self)?["LuaObject"] == nil {
        context.report(Mistake(node, "'@LuaExposed' needs a class with '@LuaObject' around it"))
      }
      return []
    }
  }

  extension WithAttributesSyntax {
    /// The attribute with a name.
    subscript(name: String) -> AttributeSyntax? {
      attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }.first {
        $0.attributeName.trimmedDescription.split(separator: ".").last.map(String.init) == name
      }
    }
  }
#endif
