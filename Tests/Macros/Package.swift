// swift-tools-version: 6.2
// The tests of LuaEmbedMacros, as a package of its own: it turns the trait on as a program does,
// and the build of everything else stays without swift-syntax. `scripts/macros` runs them.
import CompilerPluginSupport
import PackageDescription

let syntax = [
  "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftParser", "SwiftSyntax", "SwiftSyntaxBuilder",
  "SwiftSyntaxMacros", "SwiftSyntaxMacroExpansion", "SwiftSyntaxMacrosGenericTestSupport",
].map { Target.Dependency.product(name: $0, package: "swift-syntax") }

let package = Package(
  name: "macros",
  dependencies: [
    .package(name: "moonloop", path: "../..", traits: ["Macros"]),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
  ],
  targets: [
    // The plug-in once more, since a package does not see the plug-ins of another. A link.
    .macro(
      name: "Expansion", dependencies: syntax, path: "Plugin",
      swiftSettings: [.define("Macros")]),
    .testTarget(
      name: "MacroTests",
      dependencies: ["Expansion", .product(name: "LuaEmbedMacros", package: "moonloop")] + syntax,
      path: "Tests", swiftSettings: [.treatAllWarnings(as: .error)]),
  ],
  swiftLanguageModes: [.v6]
)
