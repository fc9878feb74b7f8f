// What a program has written that cannot be exposed: a sentence, and the place that it is about.

#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxMacros

  struct Mistake: Error {
    let place: Syntax
    let message: String

    init(_ place: some SyntaxProtocol, _ message: String) {
      self.place = Syntax(place)
      self.message = message
    }
  }

  extension MacroExpansionContext {
    func report(_ mistake: Mistake) {
      diagnose(
        Diagnostic(node: mistake.place, message: MacroExpansionErrorMessage(mistake.message)))
    }
  }
#endif
