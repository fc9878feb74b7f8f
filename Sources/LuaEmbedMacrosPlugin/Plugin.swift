// The compiler's plug-in behind LuaEmbedMacros. SwiftPM builds it as a program in any case: without
// the trait, it is one that nothing starts.

#if Macros
  internal import SwiftCompilerPlugin
  internal import SwiftSyntaxMacros

  @main
  struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [ObjectMacro.self, ExposedMacro.self]
  }
#else
  @main
  enum Plugin {
    static func main() {}
  }
#endif
