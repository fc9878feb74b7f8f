// A subscript as the fields of an object that are not members.

#if Macros
  internal import SwiftSyntax

  extension Member {
    /// Such as `.index { (object: Words, key: String) -> Int? in object[key] }`.
    static func `subscript`(
      _ declaration: SubscriptDeclSyntax, _ attribute: AttributeSyntax, _ type: String
    ) throws(Mistake) -> Member {
      if let arguments = attribute.arguments {
        throw Mistake(arguments, "a subscript has no name in Lua; leave the name out")
      }
      try refuseGeneric(declaration.genericParameterClause)
      if isStatic(declaration.modifiers) {
        throw Mistake(
          declaration.modifiers,
          "a static subscript cannot be exposed, because Lua asks objects; expose a static "
            + "function")
      }
      let parameters = try Parameters(labelled(declaration.parameterClause), of: type)
      guard parameters.list.count == 1 else {
        throw Mistake(
          declaration.parameterClause,
          "a subscript with several parameters cannot be exposed, because Lua has one key; expose "
            + "a method")
      }
      let result = try TypeText(result: declaration.returnClause.type, of: type)?.text ?? "Void"
      let getter = getter(declaration.accessorBlock)
      if let changes = getter?.modifier {
        throw Mistake(
          changes, "a subscript that changes its structure when it is read cannot be exposed")
      }
      let (object, key) = (parameters.free("object"), parameters.list[0])
      let place = "\(object)[\(parameters.arguments[0])]"
      let index = ".index { (\(object): \(type), \(key)) -> \(result) in "
      let reading = "\(index)\(try attempt(getter))\(place) }"
      let sign = Syntax(declaration.subscriptKeyword)
      guard isSettable(declaration) else { return Member("[]", sign, reading) }
      let value = parameters.free("value")
      let head = "(\(object): inout \(type), \(key), \(value): \(result))"
      return Member("[]", sign, reading, ".newindex { \(head) in \(place) = \(value) }")
    }

    /// In a subscript, a parameter's only name is no label.
    private static func labelled(
      _ clause: FunctionParameterClauseSyntax
    ) -> FunctionParameterListSyntax {
      FunctionParameterListSyntax(
        clause.parameters.map { parameter in
          if parameter.secondName != nil { return parameter }
          return
            parameter
            .with(\.firstName, .wildcardToken(trailingTrivia: .space))
            .with(\.secondName, parameter.firstName)
        })
    }

    private static func isSettable(_ declaration: SubscriptDeclSyntax) -> Bool {
      guard case .accessors(let list) = declaration.accessorBlock?.accessors else { return false }
      let isNarrow = declaration.modifiers.contains { $0.detail?.detail.text == "set" }
      return !isNarrow && list.contains { $0.accessorSpecifier.text == "set" }
    }
  }
#endif
