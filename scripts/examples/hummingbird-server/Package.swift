// swift-tools-version: 6.2
// A server of Hummingbird whose handlers are Lua. It is a package of its own, so that Moonloop
// depends on none of what it uses.
import PackageDescription

let package = Package(
  name: "hummingbird-example",
  dependencies: [
    .package(name: "moonloop", path: "../../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
  ],
  targets: [
    .target(
      name: "Server",
      dependencies: [
        .product(name: "Moonloop", package: "moonloop"),
        .product(name: "LuaEmbed", package: "moonloop"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
      ]),
    .executableTarget(name: "serve", dependencies: ["Server"]),
    .testTarget(
      name: "ServerTests",
      dependencies: [
        "Server",
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
      ]),
  ]
)
