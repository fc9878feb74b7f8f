// Every public entry of a state and of its values, for use where it is forbidden.

import Moonloop
import MoonloopCore

/// A state with one value of each type.
struct Parts {
  let lua: LuaState
  let function: LuaFunction
  let table: LuaTable
  let bytes: LuaBytes
  let source: Loop.Source

  init(on loop: Loop) throws {
    lua = try LuaState(on: loop)
    (function, table, bytes) = try lua.evaluate(
      "return function(...) return ... end, { 1, a = 2 }, 'abc'")
    source = loop.makeSource { _ in }
  }
}

/// One use of an entry; if it throws, the error is dropped.
struct Entry: Sendable {
  let name: String
  let use: @Sendable (Parts) throws -> Void

  init(_ name: String, _ use: @escaping @Sendable (Parts) throws -> Void) {
    (self.name, self.use) = (name, use)
  }
}

private final class Animal: LuaObject {}
private final class Dog: LuaObject {}
private struct Point: LuaStruct { var x = 0.0 }
private struct Route: Codable { var port = 1 }

let entries = registrations + asyncRegistrations + runs + members + calls + tables

private let registrations = [
  Entry("register") { $0.lua.register("f") {} },
  Entry("register") { $0.lua.register("f") { 1 } },
  Entry("register") { $0.lua.register("f") { (_: Int) in } },
  Entry("register") { $0.lua.register("f") { (a: Int) in a } },
  Entry("register") { $0.lua.register("f") { (_: Int, _: Int) in } },
  Entry("register") { $0.lua.register("f") { (a: Int, _: Int) in a } },
  Entry("register") { $0.lua.register("f") { (_: Int, _: Int, _: Int) in } },
  Entry("register") { $0.lua.register("f") { (a: Int, _: Int, _: Int) in a } },
  Entry("register") { $0.lua.register("f") { (_: Int, _: Int, _: Int, _: Int) in } },
  Entry("register") { $0.lua.register("f") { (a: Int, _: Int, _: Int, _: Int) in a } },
  Entry("register") { $0.lua.register("f") { (_: LuaState, _: Int) in } },
  Entry("register") { $0.lua.register("f") { (_: LuaState, a: Int) in a } },
  Entry("register") { $0.lua.register("f") { (all: LuaArguments) in all } },
  Entry("register") { $0.lua.register("f") { (a: Int) in (a, a) } },
  Entry("register") { $0.lua.register("f") { (a: Int) in (a, a, a) } },
  Entry("register") { $0.lua.register("f") { (route: Route) -> Route in route } },
  Entry("register") { $0.lua.register("f") { (_: Route) in } },
  Entry("register") { $0.lua.register(Animal.self, as: "Animal") },
  Entry("register") { $0.lua.register(Point.self, as: "Point", .property("x", \.x)) },
  Entry("module") { $0.lua.module("m") { _ in } },
  Entry("function") { _ = try $0.lua.function { 1 } },
  Entry("function") { _ = try $0.lua.function {} },
  Entry("set") { $0.lua.set("x", 1) },
  Entry("set") { try $0.lua.set("x", Route()) },
  Entry("set") { $0.lua.set("x", $0.source) },
  Entry("set") { $0.lua.set("x", Animal()) },
]

private let asyncRegistrations = [
  Entry("registerAsync") { $0.lua.registerAsync("f") { () async in } },
  Entry("registerAsync") { $0.lua.registerAsync("f") { () async in 1 } },
  Entry("registerAsync") { $0.lua.registerAsync("f") { (a: [Int]) async -> [String: Int] in [:] } },
]

private let runs = [
  Entry("run") { try $0.lua.run("x = 1") },
  Entry("run") { try $0.lua.run(file: "/dev/null") },
  Entry("evaluate") { let _: Int = try $0.lua.evaluate("return 1") },
  Entry("evaluate") { let _: LuaArguments = try $0.lua.evaluate("return 1") },
  Entry("evaluate") { let _: (Int, Int) = try $0.lua.evaluate("return 1, 2") },
  Entry("evaluate") { let _: Route = try $0.lua.evaluate("return { port = 1 }") },
  Entry("compile") { _ = try $0.lua.compile("return 1") },
  Entry("makeEnvironment") { _ = try $0.lua.makeEnvironment() },
  Entry("decode") { let _: [Int] = try $0.lua.decode(global: "x") },
  Entry("decode") { let _: [Int] = try $0.lua.decode(file: "/dev/null") },
  Entry("table") { _ = try $0.lua.table() },
  Entry("table") { _ = try $0.lua.table([1]) },
  Entry("lend") { $0.lua.lend(Animal()) { _ in } },
  Entry("lend") {
    var point = Point()
    $0.lua.lend(&point) { _ in }
  },
]

private let members = [
  Entry("globals") { _ = $0.lua.globals[function: "f"] },
  Entry("globals") { let _: Int? = $0.lua.globals["x"] },
  Entry("limits") { _ = $0.lua.limits },
  Entry("setLimits") { $0.lua.setLimits(LuaLimits()) },
  Entry("allowTextOnly") { $0.lua.allowTextOnly() },
  Entry("stopCount") { _ = $0.lua.stopCount },
  Entry("isCondemned") { _ = $0.lua.isCondemned },
  Entry("onFinalizerError") { _ = $0.lua.onFinalizerError },
  Entry("onFinalizerError") { $0.lua.onFinalizerError = nil },
  Entry("bytesInUse") { _ = $0.lua.bytesInUse },
  Entry("depth") { _ = $0.lua.depth },
  Entry("collect") { $0.lua.collect() },
  Entry("idleCollect") { _ = $0.lua.idleCollect() },
  Entry("close") { $0.lua.close() },
  Entry("close") { $0.lua.shutDown() },
]

private let calls = [
  Entry("LuaFunction") { try $0.function() },
  Entry("LuaFunction") { let _: Int? = try $0.function() },
  Entry("LuaFunction") { try $0.function(1) },
  Entry("LuaFunction") { let _: Int = try $0.function(1) },
  Entry("LuaFunction") { try $0.function(1, 2) },
  Entry("LuaFunction") { let _: Int = try $0.function(1, 2) },
  Entry("LuaFunction") { try $0.function(1, 2, 3) },
  Entry("LuaFunction") { let _: Int = try $0.function(1, 2, 3) },
  Entry("LuaFunction") { try $0.function(1, 2, 3, 4) },
  Entry("LuaFunction") { let _: Int = try $0.function(1, 2, 3, 4) },
  Entry("LuaFunction") { let _: LuaArguments = try $0.function(1) },
  Entry("LuaFunction") { let _: Route = try $0.function($0.table) },
]

private let tables = [
  Entry("LuaTable") { let _: Int? = $0.table[1] },
  Entry("LuaTable") { $0.table["a"] = 1 },
  Entry("LuaTable") { let _: Int = try $0.table.get(1) },
  Entry("LuaTable") { _ = $0.table.count },
  Entry("LuaTable") { _ = $0.table.pairs },
  Entry("LuaTable") { _ = $0.table.items },
  Entry("LuaTable") { _ = $0.table.metatable },
  Entry("LuaTable") { $0.table.metatable = nil },
  Entry("LuaBytes") { try $0.bytes.withSpan { _ in } },
]
