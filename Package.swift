// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
]
let strictC: [CSetting] = [.treatAllWarnings(as: .error)]

// Without the trait nothing depends on swift-syntax, so it is neither fetched nor built.
let withMacros: TargetDependencyCondition? = .when(traits: ["Macros"])
let syntax = [
  "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftParser", "SwiftSyntax", "SwiftSyntaxBuilder",
  "SwiftSyntaxMacros",
].map { Target.Dependency.product(name: $0, package: "swift-syntax", condition: withMacros) }

let package = Package(
  name: "moonloop",
  products: [
    .library(name: "MoonloopCore", targets: ["MoonloopCore"]),
    .library(name: "LuaEmbed", targets: ["LuaEmbed"]),
    .library(name: "LuaEmbedMacros", targets: ["LuaEmbedMacros"]),
    .library(name: "Moonloop", targets: ["Moonloop"]),
    .library(name: "MoonloopFoundation", targets: ["MoonloopFoundation"]),
    .executable(name: "moonloop", targets: ["MoonloopCLI"]),
  ],
  traits: [
    .trait(name: "Macros", description: "LuaEmbedMacros: classes for Lua by @LuaObject"),
    .trait(name: "StaticLua", description: "links liblua5.4.a in the place of the shared library"),
  ],
  dependencies: [
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1")
  ],
  targets: [
    .target(name: "CLinuxShims", cSettings: strictC),
    .target(name: "MoonloopCore", dependencies: ["CLinuxShims"], swiftSettings: strict),
    .target(
      name: "MoonloopSystem", dependencies: ["MoonloopCore", "CLinuxShims"], swiftSettings: strict),
    .target(
      name: "MoonloopSimulation", dependencies: ["MoonloopCore", "CLinuxShims"],
      swiftSettings: strict),

    // The loop in the runs of Foundation's: nothing else of the product links Foundation.
    .target(
      name: "MoonloopFoundation", dependencies: ["MoonloopCore", "CLinuxShims"],
      swiftSettings: strict, linkerSettings: [.linkedLibrary("Foundation")]),

    // The shared library is linked by an import, because no condition says "without the trait".
    .systemLibrary(name: "MoonloopCLua", providers: [.apt(["liblua5.4-dev"])]),
    .target(
      name: "CLuaShims", cSettings: strictC,
      linkerSettings: [.linkedLibrary(":liblua5.4.a", .when(traits: ["StaticLua"]))]),
    .target(name: "LuaEmbed", dependencies: ["CLuaShims", "MoonloopCLua"], swiftSettings: strict),
    .target(
      name: "LuaEmbedMacros",
      dependencies: ["LuaEmbed", .target(name: "LuaEmbedMacrosPlugin", condition: withMacros)],
      swiftSettings: strict),
    .macro(name: "LuaEmbedMacrosPlugin", dependencies: syntax, swiftSettings: strict),

    // What enters a loop, kept in a file and replayed: C for the calls and for Lua's libraries.
    .target(
      name: "CRecording", dependencies: ["CLinuxShims", "CLuaShims"],
      cSettings: strictC),
    .target(
      name: "MoonloopRecording", dependencies: ["CRecording", "MoonloopCore", "LuaEmbed"],
      swiftSettings: strict),

    .target(
      name: "MoonloopLua", dependencies: ["CLuaShims"], exclude: ["lua"], cSettings: strictC),
    .target(
      name: "MoonloopCompat", dependencies: ["MoonloopLua"], exclude: ["lua"], cSettings: strictC),
    .target(
      name: "Moonloop",
      dependencies: [
        "MoonloopCore", "MoonloopSystem", "MoonloopRecording", "LuaEmbed", "MoonloopLua",
        "MoonloopCompat",
      ],
      swiftSettings: strict),
    // Only the header of libedit: the library is opened when a line is edited.
    .target(name: "CLineEditor", cSettings: strictC),
    // Takes the place of constructors in Swift's static library.
    .target(name: "CProgramStart", dependencies: ["CLinuxShims"], cSettings: strictC),
    .executableTarget(
      name: "MoonloopCLI",
      dependencies: [
        "Moonloop", "MoonloopCore", "MoonloopSystem", "MoonloopRecording", "LuaEmbed",
        "CLineEditor", "CProgramStart",
      ],
      swiftSettings: strict),

    .target(name: "ConformanceFormat", path: "Tests/ConformanceFormat", swiftSettings: strict),
    .executableTarget(
      name: "ConformanceDriver",
      dependencies: [
        "ConformanceFormat", "MoonloopCore", "MoonloopSystem", "MoonloopSimulation", "LuaEmbed",
        "Moonloop", "MoonloopFoundation",
      ],
      path: "Tests/ConformanceDriver", swiftSettings: strict),
    // The one target that links Foundation's CFRunLoop, and nothing of the product.
    .executableTarget(
      name: "ConformanceReference", dependencies: ["ConformanceFormat"],
      path: "Tests/ConformanceReference", swiftSettings: strict,
      linkerSettings: [.linkedLibrary("Foundation")]),
    .executableTarget(
      name: "MainQueueProgram", dependencies: ["MoonloopCore"], path: "Tests/MainQueueProgram",
      swiftSettings: strict),

    .executableTarget(
      name: "FramesProgram", dependencies: ["Moonloop"], path: "Tests/FramesProgram",
      swiftSettings: strict),
    .executableTarget(
      name: "ConfinedProgram", dependencies: ["MoonloopCore", "MoonloopSystem"],
      path: "Tests/ConfinedProgram", swiftSettings: strict),
    .target(
      name: "ScriptGrammar",
      dependencies: ["LuaEmbed", "Moonloop", "MoonloopCore", "TestSupport"],
      path: "Tests/ScriptGrammar", swiftSettings: strict),
    .target(
      name: "CFuzz", dependencies: ["CLuaShims"], path: "Tests/CFuzz", cSettings: strictC),
    .executableTarget(
      name: "FuzzProgram",
      dependencies: [
        "CFuzz", "LuaEmbed", "Moonloop", "MoonloopCore", "MoonloopRecording", "ScriptGrammar",
      ],
      path: "Tests/FuzzProgram", exclude: ["corpus"], swiftSettings: strict),
    .executableTarget(
      name: "StatesProgram", dependencies: ["Moonloop"], path: "Tests/StatesProgram",
      swiftSettings: strict),
    .executableTarget(
      name: "PollProgram", dependencies: ["MoonloopCore"], path: "Tests/PollProgram",
      swiftSettings: strict),

    .executableTarget(
      name: "PluginsProgram", dependencies: ["Moonloop", "MoonloopFoundation"],
      path: "Tests/PluginsProgram", swiftSettings: strict),

    .executableTarget(
      name: "MainHostProgram", dependencies: ["Moonloop", "MoonloopFoundation"],
      path: "Tests/MainHostProgram", swiftSettings: strict),
    .executableTarget(
      name: "ToolProgram", dependencies: ["Moonloop"], path: "Tests/ToolProgram",
      swiftSettings: strict),
    .executableTarget(
      name: "MisuseProgram", dependencies: ["Moonloop"], path: "Tests/MisuseProgram",
      swiftSettings: strict),
    .executableTarget(
      name: "HandlersProgram", dependencies: ["Moonloop"], path: "Tests/HandlersProgram",
      swiftSettings: strict),

    .target(name: "TestSupport", path: "Tests/Support", swiftSettings: strict),
    .testTarget(
      name: "MoonloopCoreTests",
      dependencies: ["MoonloopCore", "MoonloopSimulation", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "LinuxKernelTests",
      dependencies: ["MoonloopCore", "MoonloopSystem", "MoonloopSimulation"],
      swiftSettings: strict),
    .target(
      name: "CStockLua", dependencies: ["CLuaShims"], path: "Tests/CStockLua", cSettings: strictC),
    .testTarget(
      name: "LuaEmbedTests", dependencies: ["LuaEmbed", "CStockLua", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "MoonloopTests",
      dependencies: [
        "MoonloopCore", "MoonloopSystem", "LuaEmbed", "Moonloop", "CStockLua", "ScriptGrammar",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "MoonloopFoundationTests",
      dependencies: ["MoonloopCore", "MoonloopFoundation"], swiftSettings: strict),
    .testTarget(
      name: "ConformanceTests",
      dependencies: ["ConformanceDriver", "MoonloopCore", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ProgramTests",
      dependencies: [
        "Moonloop", "MainQueueProgram", "FramesProgram", "PollProgram", "StatesProgram",
        "PluginsProgram", "ToolProgram", "MisuseProgram", "HandlersProgram", "MainHostProgram",
        "ConfinedProgram", "FuzzProgram",
        "TestSupport",
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu2x
)
