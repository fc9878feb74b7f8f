// swift-tools-version: 6.2
// A program with the trait `StaticLua`, as a package of its own: `scripts/static-lua` tests it.
import PackageDescription

let package = Package(
  name: "static-lua",
  dependencies: [.package(name: "moonloop", path: "../..", traits: ["StaticLua"])],
  targets: [
    .testTarget(
      name: "StaticLuaTests", dependencies: [.product(name: "LuaEmbed", package: "moonloop")],
      path: "Tests", swiftSettings: [.treatAllWarnings(as: .error)])
  ],
  swiftLanguageModes: [.v6]
)
