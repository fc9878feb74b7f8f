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
    let text: String

    private init(_ name: LuaName, isOfType: Bool, _ text: String) {
      self.name = name.text
      place = name.place
      self.isOfType = isOfType
      isOperator = false
      self.text = text
    }

    /// An operator.
    init(_ sign: String, _ place: Syntax, _ text: String) {
      (name, self.place, self.text) = (sign, place, text)
      (isOfType, isOperator) = (false, true)
    }

    /// Nil if the declaration is not exposed.
    init?(_ declaration: DeclSyntax, of type: String) throws(Mistake) {
      if let condition = declaration.as(IfConfigDeclSyntax.self) {
        try Self.refuseExposed(in: condition)
        return nil
      }
      guard let attribute = declaration.asProtocol((any WithAttributesSyntax).self)?["LuaExposed"]
      else { return nil }
      if let function = declaration.as(FunctionDeclSyntax.self) {
        self = try .function(function, attribute, type)
      } else if let variable = declaration.as(VariableDeclSyntax.self) {
        self = try .variable(variable, attribute, type)
      } else if let initialiser = declaration.as(InitializerDeclSyntax.self) {
        self = try .initialiser(initialiser, attribute, type)
      } else if declaration.is(SubscriptDeclSyntax.self) {
        throw Mistake(
          attribute,
          "a subscript cannot be exposed; register it by hand, by '.index' and '.newindex'")
      } else {
        throw Mistake(
          attribute, "'@LuaExposed' is for methods, properties, initialisers and static members")
      }
    }

    /// What is inside of `#if` is not expanded yet: to leave it out in silence would be a trap.
    private static func refuseExposed(in condition: IfConfigDeclSyntax) throws(Mistake) {
      for clause in condition.clauses {
        for item in clause.elements?.as(MemberBlockItemListSyntax.self) ?? [] {
          let inner = item.decl
          if let attribute = inner.asProtocol((any WithAttributesSyntax).self)?["LuaExposed"] {
            throw Mistake(attribute, "a member inside '#if' cannot be exposed")
          }
          if let nested = inner.as(IfConfigDeclSyntax.self) { try refuseExposed(in: nested) }
        }
      }
    }

    // MARK: Functions

    private static func function(
      _ function: FunctionDeclSyntax, _ attribute: AttributeSyntax, _ type: String
    ) throws(Mistake) -> Member {
      try refuseGeneric(function.genericParameterClause)
      guard case .identifier = function.name.tokenKind else {
        return try .operator(function, attribute, type)
      }
      let name = try LuaName(attribute, or: function.name)
      let parameters = try Parameters(function.signature.parameterClause, of: type)
      let attempt = try attempt(function.signature.effectSpecifiers)
      let result = try TypeText(result: function.signature.returnClause?.type, of: type)
      let isStatic = isStatic(function.modifiers)
      let receiver = isStatic ? type : parameters.free("object")
      let list = isStatic ? parameters.list : ["\(receiver): \(type)"] + parameters.list
      let head = "(\(list.joined(separator: ", ")))" + (result.map { " -> \($0.text)" } ?? "")
      let arguments = parameters.arguments.joined(separator: ", ")
      let call = "\(attempt)\(receiver).\(function.name.text)(\(arguments))"
      if function.name.text == "callAsFunction", !isStatic, attribute.arguments == nil {
        return Member(name, isOfType: false, ".call { \(head) in \(call) }")
      }
      let kind = isStatic ? "function" : "method"
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
      let parameters = try Parameters(initialiser.signature.parameterClause, of: type)
      let attempt = try attempt(initialiser.signature.effectSpecifiers)
      let given = name.text == "new" ? "" : "(\"\(name.text)\")"
      let list = parameters.list.joined(separator: ", ")
      let call = "\(attempt)\(type)(\(parameters.arguments.joined(separator: ", ")))"
      return Member(name, isOfType: true, ".constructor\(given) { (\(list)) in \(call) }")
    }

    private static func refuseGeneric(_ clause: GenericParameterClauseSyntax?) throws(Mistake) {
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

    private static func refuseAsync(_ specifier: TokenSyntax?) throws(Mistake) {
      guard let specifier else { return }
      throw Mistake(
        specifier,
        "an async member cannot be exposed; register a function by 'registerAsync'")
    }

    private static func isStatic(_ modifiers: DeclModifierListSyntax) -> Bool {
      modifiers.contains { ["static", "class"].contains($0.name.text) }
    }

    // MARK: Properties

    private static func variable(
      _ variable: VariableDeclSyntax, _ attribute: AttributeSyntax, _ type: String
    ) throws(Mistake) -> Member {
      guard let binding = variable.bindings.first, variable.bindings.count == 1,
        let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
      else { throw Mistake(variable.bindings, "'@LuaExposed' is for one variable at a time") }
      let identifier = pattern.identifier
      let name = try LuaName(attribute, or: identifier)
      let isConstant = variable.bindingSpecifier.text == "let"
      if isStatic(variable.modifiers) {
        guard isConstant else {
          throw Mistake(
            variable.bindingSpecifier,
            "a static variable cannot be exposed, because it is read once, when the class is "
              + "registered; make it 'let', or expose a static function")
        }
        let value = "\(type).\(identifier.text)"
        return Member(name, isOfType: true, ".constant(\"\(name.text)\", \(value))")
      }
      let effects = getter(binding)?.effectSpecifiers
      try refuseAsync(effects?.asyncSpecifier)
      let attempt = effects?.throwsClause == nil ? "" : "try "
      // Inside of the class a key path could set what others may only read.
      let isNarrow = !isConstant && variable.modifiers.contains { $0.detail?.detail.text == "set" }
      let text =
        isNarrow || !attempt.isEmpty
        ? ".computed(\"\(name.text)\") { \(attempt)$0.\(identifier.text) }"
        : ".property(\"\(name.text)\", \\.\(identifier.text))"
      return Member(name, isOfType: false, text)
    }

    private static func getter(_ binding: PatternBindingSyntax) -> AccessorDeclSyntax? {
      guard case .accessors(let list) = binding.accessorBlock?.accessors else { return nil }
      return list.first { $0.accessorSpecifier.text == "get" }
    }
  }
#endif
