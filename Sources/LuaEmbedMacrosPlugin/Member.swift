// What is written for one member with `@LuaExposed`.

#if Macros
  internal import SwiftSyntax

  struct Member {
    let name: String
    /// Where the name is written.
    let place: Syntax
    /// Whether Lua finds it in the type, and not in objects.
    let isOfType: Bool
    /// Whether it may be exposed several times, because Lua chooses by the operands.
    let isOperator: Bool
    /// Such as `.property("count", \.count)`.
    let lines: [String]

    private init(_ name: LuaName, isOfType: Bool, _ line: String) {
      self.name = name.text
      place = name.place
      self.isOfType = isOfType
      isOperator = false
      lines = [line]
    }

    /// What Lua asks for by a sign, or by a function of its own.
    init(_ sign: String, _ place: Syntax, isOperator: Bool = false, _ lines: String...) {
      (name, self.place, self.lines) = (sign, place, lines)
      (isOfType, self.isOperator) = (false, isOperator)
    }

    /// How often a declaration is exposed, by its attributes.
    static func marks(of declaration: DeclSyntax) throws(Mistake) -> [AttributeSyntax] {
      if let condition = declaration.as(IfConfigDeclSyntax.self) {
        try refuseExposed(in: condition)
        return []
      }
      return declaration.asProtocol((any WithAttributesSyntax).self)?.marks("LuaExposed") ?? []
    }

    /// What one of its attributes exposes.
    init(_ declaration: DeclSyntax, _ attribute: AttributeSyntax, of type: Owner) throws(Mistake) {
      if let purpose = try Purpose(attribute) {
        self = try .serving(purpose, declaration, attribute)
      } else if let function = declaration.as(FunctionDeclSyntax.self) {
        self = try .function(function, attribute, type)
      } else if let variable = declaration.as(VariableDeclSyntax.self) {
        self = try .variable(variable, attribute, type)
      } else if let initialiser = declaration.as(InitializerDeclSyntax.self) {
        self = try .initialiser(initialiser, attribute, type.name)
      } else if let subscripting = declaration.as(SubscriptDeclSyntax.self) {
        self = try .subscript(subscripting, attribute, type.name)
      } else {
        throw Mistake(
          attribute,
          "'@LuaExposed' is for methods, properties, subscripts, initialisers and static members")
      }
    }

    /// What is wrong if another member is the same in Lua.
    var repeated: Mistake {
      let isName = name.first.map { $0.isLetter || $0 == "_" } ?? false
      return Mistake(
        place,
        isName
          ? "'\(name)' is exposed twice; give one another name: '@LuaExposed(\"…\")'"
          : "'\(name)' is exposed twice, but an object has only one in Lua")
    }

    /// What is inside `#if` is not expanded yet: to leave it out in silence would be a trap.
    private static func refuseExposed(in condition: IfConfigDeclSyntax) throws(Mistake) {
      for clause in condition.clauses {
        for item in clause.elements?.as(MemberBlockItemListSyntax.self) ?? [] {
          let inner = item.decl
          if let attribute = inner.asProtocol((any WithAttributesSyntax).self)?.marks("LuaExposed")
            .first
          {
            throw Mistake(attribute, "a member inside '#if' cannot be exposed")
          }
          if let nested = inner.as(IfConfigDeclSyntax.self) { try refuseExposed(in: nested) }
        }
      }
    }

    // MARK: Functions

    private static func function(
      _ function: FunctionDeclSyntax, _ attribute: AttributeSyntax, _ owner: Owner
    ) throws(Mistake) -> Member {
      let type = owner.name
      try refuseGeneric(function.genericParameterClause)
      guard case .identifier = function.name.tokenKind else {
        return try .operator(function, attribute, type)
      }
      let name = try LuaName(attribute, or: function.name)
      let parameters = try Parameters(function.signature.parameterClause.parameters, of: type)
      let attempt = try attempt(function.signature.effectSpecifiers)
      let result = try TypeText(result: function.signature.returnClause?.type, of: type)
      let isStatic = isStatic(function.modifiers)
      let receiver = isStatic ? type : parameters.free("object")
      let mutates = mutates(function.modifiers)
      let object = "\(receiver): \(mutates == nil ? "" : "inout ")\(type)"
      let list = isStatic ? parameters.list : [object] + parameters.list
      let head = "(\(list.joined(separator: ", ")))" + (result.map { " -> \($0.text)" } ?? "")
      let arguments = parameters.arguments.joined(separator: ", ")
      let call = "\(attempt)\(receiver).\(function.name.text)(\(arguments))"
      if function.name.text == "callAsFunction", !isStatic, attribute.arguments == nil {
        if let mutates {
          throw Mistake(
            mutates,
            "a mutating 'callAsFunction' cannot be a call of the object; give it a name: "
              + "'@LuaExposed(\"…\")'")
        }
        return Member(name, isOfType: false, ".call { \(head) in \(call) }")
      }
      let kind = isStatic ? "function" : mutates == nil ? "method" : "mutating"
      return Member(name, isOfType: isStatic, ".\(kind)(\"\(name.text)\") { \(head) in \(call) }")
    }

    private static func initialiser(
      _ initialiser: InitializerDeclSyntax, _ attribute: AttributeSyntax, _ type: String
    ) throws(Mistake) -> Member {
      if let mark = initialiser.optionalMark {
        throw Mistake(
          mark,
          "an 'init?' cannot be exposed; throw a 'LuaFailure' instead of returning nil")
      }
      try refuseGeneric(initialiser.genericParameterClause)
      let name =
        attribute.arguments == nil
        ? try LuaName("new", Syntax(initialiser.initKeyword), attribute)
        : try LuaName(attribute, or: initialiser.initKeyword)
      let parameters = try Parameters(initialiser.signature.parameterClause.parameters, of: type)
      let attempt = try attempt(initialiser.signature.effectSpecifiers)
      let given = name.text == "new" ? "" : "(\"\(name.text)\")"
      let list = parameters.list.joined(separator: ", ")
      let call = "\(attempt)\(type)(\(parameters.arguments.joined(separator: ", ")))"
      return Member(name, isOfType: true, ".constructor\(given) { (\(list)) in \(call) }")
    }

    static func refuseGeneric(_ clause: GenericParameterClauseSyntax?) throws(Mistake) {
      guard let clause else { return }
      throw Mistake(clause, "a generic method cannot be exposed; name its type")
    }

    /// What stands before a call.
    static func attempt(
      _ effects: FunctionEffectSpecifiersSyntax?
    ) throws(Mistake) -> String {
      try refuseAsync(effects?.asyncSpecifier)
      return effects?.throwsClause == nil ? "" : "try "
    }

    static func refuseAsync(_ specifier: TokenSyntax?) throws(Mistake) {
      guard let specifier else { return }
      throw Mistake(
        specifier,
        "an async member cannot be exposed; register a function by 'registerAsync'")
    }

    static func isStatic(_ modifiers: DeclModifierListSyntax) -> Bool {
      modifiers.contains { ["static", "class"].contains($0.name.text) }
    }

    /// What says that a method changes its structure.
    static func mutates(_ modifiers: DeclModifierListSyntax) -> DeclModifierSyntax? {
      modifiers.first { $0.name.text == "mutating" }
    }

    // MARK: Properties

    private static func variable(
      _ variable: VariableDeclSyntax, _ attribute: AttributeSyntax, _ owner: Owner
    ) throws(Mistake) -> Member {
      let type = owner.name
      let (binding, identifier) = try single(variable)
      let name = try LuaName(attribute, or: identifier)
      let isConstant = variable.bindingSpecifier.text == "let"
      if isStatic(variable.modifiers) {
        guard isConstant else {
          throw Mistake(
            variable.bindingSpecifier,
            "a static variable cannot be exposed, because it is read once, when the type is "
              + "registered; make it 'let', or expose a static function")
        }
        let value = "\(type).\(identifier.text)"
        return Member(name, isOfType: true, ".constant(\"\(name.text)\", \(value))")
      }
      let getter = getter(binding.accessorBlock)
      let lazy = variable.modifiers.first { $0.name.text == "lazy" }
      if owner.isStructure, let changes = lazy ?? getter?.modifier {
        throw Mistake(
          changes,
          "a property that changes its structure when it is read cannot be exposed; expose a "
            + "mutating method")
      }
      let attempt = try attempt(getter)
      let (word, use) = (name.text, "$0.\(identifier.text)")
      // Closures are faster than key paths, which are for what the compiler alone knows.
      let text =
        switch isSettable(variable, binding) {
        case true: ".property(\"\(word)\", get: { \(use) }, set: { \(use) = $1 })"
        case false: ".computed(\"\(word)\") { \(attempt)\(use) }"
        case nil: ".property(\"\(word)\", \\.\(identifier.text))"
        }
      return Member(name, isOfType: false, text)
    }

    /// Whether anybody may set a property; nil if its declaration does not say so.
    private static func isSettable(
      _ variable: VariableDeclSyntax, _ binding: PatternBindingSyntax
    ) -> Bool? {
      if variable.bindingSpecifier.text == "let" { return false }
      if variable.modifiers.contains(where: { $0.detail?.detail.text == "set" }) { return false }
      let hasWrapper = variable.attributes.contains { attribute in
        attribute.as(AttributeSyntax.self)?.attributeName.trimmedDescription != "LuaExposed"
      }
      if hasWrapper { return nil }
      switch binding.accessorBlock?.accessors {
      case .getter: return false
      case .accessors(let list):
        let words = Set(list.map(\.accessorSpecifier.text))
        if words.isSubset(of: ["willSet", "didSet"]) || words == ["get", "set"] { return true }
        return words == ["get"] ? false : nil
      case nil: return true
      }
    }

    /// The only variable of a declaration.
    static func single(
      _ variable: VariableDeclSyntax
    ) throws(Mistake) -> (PatternBindingSyntax, TokenSyntax) {
      guard let binding = variable.bindings.first, variable.bindings.count == 1,
        let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
      else { throw Mistake(variable.bindings, "'@LuaExposed' is for one variable at a time") }
      return (binding, pattern.identifier)
    }

    static func getter(_ block: AccessorBlockSyntax?) -> AccessorDeclSyntax? {
      guard case .accessors(let list) = block?.accessors else { return nil }
      return list.first { $0.accessorSpecifier.text == "get" }
    }

    /// What stands before a use of a property.
    static func attempt(_ getter: AccessorDeclSyntax?) throws(Mistake) -> String {
      try refuseAsync(getter?.effectSpecifiers?.asyncSpecifier)
      return getter?.effectSpecifiers?.throwsClause == nil ? "" : "try "
    }
  }
#endif
