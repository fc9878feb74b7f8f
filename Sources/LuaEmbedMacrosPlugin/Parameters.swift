// The parameters of a function, as those of the closure that calls it.

#if Macros
  internal import SwiftParser
  internal import SwiftSyntax

  struct Parameters {
    /// Such as `n: Int`.
    private(set) var list: [String] = []
    /// What the function is called with, such as `by: n`.
    private(set) var arguments: [String] = []
    /// What the closure calls them.
    private(set) var names: [String] = []

    init(_ list: FunctionParameterListSyntax, of type: String) throws(Mistake) {
      for (index, parameter) in list.enumerated() { try add(parameter, index, type) }
    }

    /// A name that no parameter has.
    func free(_ name: String) -> String {
      var name = name
      while names.contains(name) { name += "_" }
      return name
    }

    private mutating func add(
      _ parameter: FunctionParameterSyntax, _ index: Int, _ type: String
    ) throws(Mistake) {
      if let ellipsis = parameter.ellipsis {
        throw Mistake(ellipsis, "a variadic parameter cannot be exposed; take 'LuaArguments'")
      }
      let read = try TypeText(argument: parameter.type, of: type)
      let name = local(parameter, index)
      names.append(name)
      let value = parameter.defaultValue?.value
      let takesNil = read.isOptional || value?.is(NilLiteralExprSyntax.self) ?? true
      list.append("\(name): \(read.text)\(takesNil ? "" : "?")")
      let argument = name + fallback(value)
      let isBare = parameter.firstName.tokenKind == .wildcard
      arguments.append(isBare ? argument : "\(label(parameter)): \(argument)")
    }

    /// The label at a call, where only few words need backticks and others are warned of.
    private func label(_ parameter: FunctionParameterSyntax) -> String {
      let text = parameter.firstName.text
      let bare = text.filter { $0 != "`" }
      let isWord = bare.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
      return isWord && !["inout", "let", "var"].contains(bare) ? bare : text
    }

    /// What the closure calls a parameter.
    private func local(_ parameter: FunctionParameterSyntax, _ index: Int) -> String {
      let name = (parameter.secondName ?? parameter.firstName).text
      if name == "_" { return "argument\(index + 1)" }
      return name.isValidSwiftIdentifier(for: .variableName) ? name : "`\(name)`"
    }

    /// ` ?? 1` for a parameter with a default value: what Lua leaves out is nil.
    private func fallback(_ value: ExprSyntax?) -> String {
      guard let value, !value.is(NilLiteralExprSyntax.self) else { return "" }
      let text = value.trimmedDescription
      let isJoined = value.is(SequenceExprSyntax.self) || value.is(TryExprSyntax.self)
      return isJoined ? " ?? (\(text))" : " ?? \(text)"
    }
  }

  /// A type as a closure says it.
  struct TypeText {
    let text: String
    let isOptional: Bool

    /// The type of a parameter.
    init(argument: TypeSyntax, of type: String) throws(Mistake) {
      var bare = argument
      if let attributed = argument.as(AttributedTypeSyntax.self) {
        for specifier in attributed.specifiers where specifier.trimmedDescription == "inout" {
          throw Mistake(
            specifier,
            "an 'inout' parameter cannot be exposed, because Lua passes values")
        }
        bare = attributed.baseType
      }
      if bare.is(FunctionTypeSyntax.self) {
        throw Mistake(argument, "a closure parameter cannot be exposed; take a 'LuaFunction'")
      }
      try self.init(bare, of: type, "a generic method cannot be exposed; name its type")
    }

    /// The type of a result; nil if there is none.
    init?(result: TypeSyntax?, of type: String) throws(Mistake) {
      guard let result, !["Void", "()"].contains(result.trimmedDescription) else { return nil }
      try self.init(result, of: type, "an opaque result cannot be exposed; name its type")
    }

    private init(_ bare: TypeSyntax, of type: String, _ refusal: String) throws(Mistake) {
      let finder = Finder(type)
      let named = finder.rewrite(bare.trimmed)
      if finder.hasOpaque { throw Mistake(bare, refusal) }
      text = named.description
      isOptional = named.is(OptionalTypeSyntax.self)
    }
  }

  /// Writes the class in the place of `Self` and `?` in that of `!`, leaves out the labels of
  /// tuples, and notices `some`.
  private final class Finder: SyntaxRewriter {
    private let type: String
    private(set) var hasOpaque = false

    init(_ type: String) {
      self.type = type
      super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: IdentifierTypeSyntax) -> TypeSyntax {
      guard node.name.text == "Self" else { return super.visit(node) }
      return TypeSyntax(node.with(\.name, .identifier(type)))
    }

    /// The compiler does not convert results with labels to those without.
    override func visit(_ node: TupleTypeElementSyntax) -> TupleTypeElementSyntax {
      super.visit(node.with(\.firstName, nil).with(\.secondName, nil).with(\.colon, nil))
    }

    override func visit(_ node: ImplicitlyUnwrappedOptionalTypeSyntax) -> TypeSyntax {
      TypeSyntax(OptionalTypeSyntax(wrappedType: visit(node.wrappedType)))
    }

    override func visit(_ node: SomeOrAnyTypeSyntax) -> TypeSyntax {
      if node.someOrAnySpecifier.text == "some" { hasOpaque = true }
      return super.visit(node)
    }
  }
#endif
