// Expands the macros in a text, and compares with what a person would write.

import Expansion
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacrosGenericTestSupport
import Testing

private func specs(conforming: Bool) -> [String: MacroSpec] {
  [
    "LuaObject": MacroSpec(type: ObjectMacro.self, conformances: conforming ? ["LuaObject"] : []),
    "LuaStruct": MacroSpec(type: ObjectMacro.self, conformances: ["LuaStruct"]),
    "LuaExposed": MacroSpec(type: ExposedMacro.self),
  ]
}

/// - Parameter inherits: Whether the class above conforms to `LuaObject` already.
func expect(
  _ source: String, expandsTo expanded: String, inherits: Bool = false,
  refusals: [DiagnosticSpec] = [], at place: Testing.SourceLocation = #_sourceLocation
) {
  assertMacroExpansion(
    source, expandedSource: expanded, diagnostics: refusals,
    macroSpecs: specs(conforming: !inherits), indentationWidth: .spaces(2),
    failureHandler: { Issue.record("\($0.message)", sourceLocation: place) })
}
