// Operators of Swift as those of Lua.

#if Macros
  internal import SwiftSyntax

  extension Member {
    /// Such as `.operator(.add) { (a: Vector, b: Vector) -> Vector in a + b }`.
    static func `operator`(
      _ function: FunctionDeclSyntax, _ attribute: AttributeSyntax, _ type: String
    ) throws(Mistake) -> Member {
      let sign = function.name.text
      if let arguments = attribute.arguments {
        throw Mistake(arguments, "an operator has no other name in Lua; leave the name out")
      }
      let parameters = try Parameters(function.signature.parameterClause.parameters, of: type)
      let attempt = try attempt(function.signature.effectSpecifiers)
      let place = Syntax(function.name)
      if parameters.arguments.count == 1 {
        guard let member = unary[sign] else { throw refusal(sign, function.name) }
        return Member(sign, place, isOperator: true, ".\(member) { \(attempt)\(sign)$0 }")
      }
      guard let word = binary[sign] else { throw refusal(sign, function.name) }
      let result = try TypeText(result: function.signature.returnClause?.type, of: type)
      let head =
        "(\(parameters.list.joined(separator: ", ")))" + (result.map { " -> \($0.text)" } ?? "")
      let call = attempt + parameters.names.joined(separator: " \(sign) ")
      return Member(
        sign, place, isOperator: true, ".operator(.\(word)) { \(head) in \(call) }")
    }

    private static let unary = ["-": "negated", "~": "complement"]
    private static let binary = [
      "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo", "&": "and",
      "|": "or", "^": "exclusiveOr", "<<": "shiftLeft", ">>": "shiftRight", "==": "equal",
      "<": "less", "<=": "lessOrEqual",
    ]

    private static func refusal(_ sign: String, _ place: TokenSyntax) -> Mistake {
      let reason =
        switch sign {
        case "!=": "Lua asks '=='; expose that"
        case ">": "Lua asks '<', with the operands exchanged; expose that"
        case ">=": "Lua asks '<=', with the operands exchanged; expose that"
        case "===", "!==": "an object keeps its identity in Lua; use 'rawequal'"
        default: "Lua has no such operator; expose a method, or register it by '.operator'"
        }
      return Mistake(place, "'\(sign)' cannot be exposed: \(reason)")
    }
  }
#endif
