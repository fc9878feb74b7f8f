// Members that Lua asks for without their names: by `#object`, `pairs(object)` and the like.

#if Macros
  internal import SwiftSyntax

  /// What a member is for, such as `close`: the name of a `LuaMember`.
  struct Purpose {
    let word: String
    let place: Syntax

    /// Nil if the attribute gives none.
    init?(_ attribute: AttributeSyntax) throws(Mistake) {
      let list = attribute.arguments?.as(LabeledExprListSyntax.self) ?? []
      guard let given = list.first?.expression.as(MemberAccessExprSyntax.self) else { return nil }
      (word, place) = (given.declName.baseName.text, Syntax(given))
    }

    var isAction: Bool { word == "close" }
    var mayThrow: Bool { !["close", "tostring"].contains(word) }
  }

  extension Member {
    /// Such as `.close { $0.stop() }`.
    static func serving(
      _ purpose: Purpose, _ declaration: DeclSyntax, _ attribute: AttributeSyntax
    ) throws(Mistake) -> Member {
      let use = try use(purpose, declaration, attribute)
      if !use.attempt.isEmpty, !purpose.mayThrow {
        throw Mistake(purpose.place, "what '.\(purpose.word)' uses must not throw")
      }
      let text = ".\(purpose.word) { \(use.attempt)\(use.isDropped ? "_ = " : "")$0.\(use.text) }"
      return Member(".\(purpose.word)", purpose.place, text)
    }

    private typealias Use = (text: String, attempt: String, isDropped: Bool)

    private static func use(
      _ purpose: Purpose, _ declaration: DeclSyntax, _ attribute: AttributeSyntax
    ) throws(Mistake) -> Use {
      if let function = declaration.as(FunctionDeclSyntax.self) {
        return try method(function, purpose)
      }
      guard !purpose.isAction, let variable = declaration.as(VariableDeclSyntax.self) else {
        let kinds = purpose.isAction ? "a method" : "a method or a property"
        throw Mistake(attribute, "'.\(purpose.word)' is for \(kinds)")
      }
      let (binding, name) = try single(variable)
      try refuseStatic(variable.modifiers, purpose)
      return (name.text, try attempt(getter(binding.accessorBlock)), false)
    }

    private static func method(
      _ function: FunctionDeclSyntax, _ purpose: Purpose
    ) throws(Mistake) -> Use {
      try refuseGeneric(function.genericParameterClause)
      try refuseStatic(function.modifiers, purpose)
      let clause = function.signature.parameterClause
      if !clause.parameters.allSatisfy({ $0.defaultValue != nil }) {
        throw Mistake(clause, "Lua passes no arguments to what '.\(purpose.word)' uses")
      }
      if let mutates = mutates(function.modifiers) {
        throw Mistake(
          mutates,
          "'.\(purpose.word)' cannot use a mutating method, because it gets a copy of the "
            + "structure")
      }
      let result = function.signature.returnClause?.type.trimmedDescription ?? "Void"
      let isDropped = purpose.isAction && !["Void", "()"].contains(result)
      let attempt = try attempt(function.signature.effectSpecifiers)
      return ("\(function.name.text)()", attempt, isDropped)
    }

    private static func refuseStatic(
      _ modifiers: DeclModifierListSyntax, _ purpose: Purpose
    ) throws(Mistake) {
      if isStatic(modifiers) {
        throw Mistake(modifiers, "'.\(purpose.word)' is for members of objects, not of the type")
      }
    }
  }
#endif
