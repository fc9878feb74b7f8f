// swift-tools-version: 6.2
// What scripts/bench measures beside the program: a Swift program that embeds the library.
import PackageDescription

let package = Package(
  name: "benchmarks",
  products: [.executable(name: "host", targets: ["Host"])],
  dependencies: [.package(name: "moonloop", path: "../..")],
  targets: [
    .target(name: "Sender", path: "native/sender"),
    .executableTarget(
      name: "Host",
      dependencies: ["Sender", .product(name: "Moonloop", package: "moonloop")], path: "host"),
  ],
  swiftLanguageModes: [.v6]
)
