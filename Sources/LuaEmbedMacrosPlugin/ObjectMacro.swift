// `@LuaObject` and `@LuaStruct`: they write the function of a type that registers its exposed
// members.

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
        let owner = try Owner(declaration, node)
        let arguments = try Arguments(node, owner)
        if arguments.parent == nil { try refuseParent(declaration, protocols) }
        let members = exposed(in: declaration, owner, context)
        return [DeclSyntax(stringLiteral: function(owner, arguments, members))]
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
      // What is wrong with the type is reported once, by the other half.
      guard let owner = try? Owner(declaration, node), protocols.contains(owner.conformance) else {
        return []
      }
      return [try ExtensionDeclSyntax("extension \(type.trimmed): \(raw: owner.conformance) {}")]
    }

    /// A class that has the conformance from above has a parent, which must be named.
    private static func refuseParent(
      _ declaration: some DeclGroupSyntax, _ protocols: [TypeSyntax]
    ) throws(Mistake) {
      guard !protocols.contains("LuaObject"), let type = declaration.as(ClassDeclSyntax.self),
        let inherited = type.inheritanceClause?.inheritedTypes,
        let above = inherited.first,
        !inherited.contains(where: { $0.type.trimmedDescription.hasSuffix("LuaObject") })
      else { return }
      let parent = above.type.trimmedDescription
      throw Mistake(
        above.type, "'\(parent)' is a LuaObject; write '@LuaObject(extending: \(parent).self)'")
    }

    /// The members with `@LuaExposed`, without those that cannot be.
    private static func exposed(
      in declaration: some DeclGroupSyntax, _ owner: Owner, _ context: some MacroExpansionContext
    ) -> [Member] {
      var members: [Member] = []
      func add(_ member: Member) throws(Mistake) {
        if !member.isOperator,
          members.contains(where: { $0.isOfType == member.isOfType && $0.name == member.name })
        {
          throw member.repeated
        }
        members.append(member)
      }
      for item in declaration.memberBlock.members {
        do throws(Mistake) {
          for mark in try Member.marks(of: item.decl) {
            try add(Member(item.decl, mark, of: owner))
          }
        } catch {
          context.report(error)
        }
      }
      return members
    }

    private static func function(
      _ owner: Owner, _ arguments: Arguments, _ members: [Member]
    ) -> String {
      var words = owner.modifiers.filter { ["open", "public", "package"].contains($0) }
      if arguments.parent != nil { words.append("override") }
      let isFinal = owner.isStructure || owner.modifiers.contains("final")
      words.append(isFinal ? "static" : "class")
      var list = ["\(owner.name).self", "as: \"\(arguments.name)\""]
      if let parent = arguments.parent { list.append("extending: \(parent)") }
      let lines = [list.joined(separator: ", ")] + members.flatMap(\.lines)
      let start = members.isEmpty ? "" : "\n    "
      return """
        \(words.joined(separator: " ")) func register(with lua: LuaState) {
          lua.register(\(start)\(lines.joined(separator: ",\n    ")))
        }
        """
    }
  }

  extension [TypeSyntax] {
    fileprivate func contains(_ name: String) -> Bool {
      contains { $0.trimmedDescription.split(separator: ".").last.map(String.init) == name }
    }
  }

  /// What the attribute says.
  private struct Arguments {
    let name: String
    /// Such as `Animal.self`.
    let parent: String?

    init(_ node: AttributeSyntax, _ owner: Owner) throws(Mistake) {
      name = try LuaName(node, or: owner.token).text
      let list = node.arguments?.as(LabeledExprListSyntax.self) ?? []
      parent = list.first { $0.label?.text == "extending" }?.expression.trimmedDescription
    }
  }
#endif
