// `@LuaObject`: writes the function of a class that registers its exposed members.

#if Macros
  package import SwiftSyntax
  internal import SwiftSyntaxBuilder
  package import SwiftSyntaxMacros

  package struct ObjectMacro: MemberMacro, ExtensionMacro {
    /// A member is a line; the formatter would break each closure.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
      do throws(Mistake) {
        let type = try classOf(declaration, node)
        let arguments = try Arguments(node, type)
        if arguments.parent == nil { try refuseParent(type, protocols) }
        let members = exposed(in: type, context)
        return [DeclSyntax(stringLiteral: function(type, arguments, members))]
      } catch {
        context.report(error)
        return []
      }
    }

    package static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      // What is wrong with the class is reported once, by the other half.
      if protocols.isEmpty || (try? classOf(declaration, node)) == nil { return [] }
      return [try ExtensionDeclSyntax("extension \(type.trimmed): LuaObject {}")]
    }

    /// The class that the macro is on, if Lua can have its objects.
    private static func classOf(
      _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax
    ) throws(Mistake) -> ClassDeclSyntax {
      guard let type = declaration.as(ClassDeclSyntax.self) else {
        switch declaration.kind {
        case .actorDecl:
          throw Mistake(node, "an actor cannot be exposed, because Lua cannot await it")
        case .structDecl, .enumDecl:
          throw Mistake(
            node, "'@LuaObject' is for classes; register a structure by hand, as a 'LuaStruct'")
        default: throw Mistake(node, "'@LuaObject' is for classes")
        }
      }
      if let parameters = type.genericParameterClause {
        throw Mistake(
          parameters, "a generic class cannot be exposed; register each of its types by hand")
      }
      return type
    }

    /// A class that has the conformance from above has a parent, which must be named.
    private static func refuseParent(
      _ type: ClassDeclSyntax, _ protocols: [TypeSyntax]
    ) throws(Mistake) {
      guard protocols.isEmpty, let inherited = type.inheritanceClause?.inheritedTypes,
        let above = inherited.first,
        !inherited.contains(where: { $0.type.trimmedDescription.hasSuffix("LuaObject") })
      else { return }
      let parent = above.type.trimmedDescription
      throw Mistake(
        above.type, "'\(parent)' is a LuaObject; write '@LuaObject(extending: \(parent).self)'")
    }

    /// The members with `@LuaExposed`, without those that cannot be.
    private static func exposed(
      in type: ClassDeclSyntax, _ context: some MacroExpansionContext
    ) -> [Member] {
      var members: [Member] = []
      for item in type.memberBlock.members {
        do throws(Mistake) {
          guard let member = try Member(item.decl, of: type.name.text) else { continue }
          if !member.isOperator,
            members.contains(where: { $0.isOfType == member.isOfType && $0.name == member.name })
          {
            throw Mistake(
              member.place,
              "'\(member.name)' is exposed twice; give one another name: '@LuaExposed(\"…\")'")
          }
          members.append(member)
        } catch {
          context.report(error)
        }
      }
      return members
    }

    private static func function(
      _ type: ClassDeclSyntax, _ arguments: Arguments, _ members: [Member]
    ) -> String {
      var words: [String] = []
      let modifiers = type.modifiers.map(\.name.text)
      words += modifiers.filter { ["open", "public", "package"].contains($0) }
      if arguments.parent != nil { words.append("override") }
      words.append(modifiers.contains("final") ? "static" : "class")
      let name = type.name.text
      var list = ["\(name).self", "as: \"\(arguments.name)\""]
      if let parent = arguments.parent { list.append("extending: \(parent)") }
      let lines = [list.joined(separator: ", ")] + members.map(\.text)
      let start = members.isEmpty ? "" : "\n    "
      return """
        \(words.joined(separator: " ")) func register(with lua: LuaState) {
          lua.register(\(start)\(lines.joined(separator: ",\n    ")))
        }
        """
    }
  }

  /// What `@LuaObject(…)` says.
  private struct Arguments {
    let name: String
    /// Such as `Animal.self`.
    let parent: String?

    init(_ node: AttributeSyntax, _ type: ClassDeclSyntax) throws(Mistake) {
      name = try LuaName(node, or: type.name).text
      let list = node.arguments?.as(LabeledExprListSyntax.self) ?? []
      parent = list.first { $0.label?.text == "extending" }?.expression.trimmedDescription
    }
  }
#endif
