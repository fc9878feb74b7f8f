// Programs that compile but do what they must not: in the code of their types that the library
// calls, while a value crosses or an item is looked for.

import Foundation
import Moonloop
import MoonloopCore
import Synchronization

private enum Field: String, CodingKey { case a, b }

/// What a type has no other way to: the state that it is being read from.
private func here(_ lua: LuaState?) { Thread.current.threadDictionary["lua"] = lua }
// `here` puts nothing else there.
private var current: LuaState { Thread.current.threadDictionary["lua"] as! LuaState }

private struct Acting: Encodable, LuaPushable {
  let act: () -> Void
  func encode(to encoder: any Encoder) { act() }
  func push(to seat: inout LuaSeat) { act() }
}

/// Opens a container of its own while another value crosses, which it starts.
private struct Crossing: Encodable {
  let lua: LuaState
  let pushes: Bool

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Field.self)
    var nested: KeyedEncodingContainer<Field>?
    let inner = Acting { nested = fields.nestedContainer(keyedBy: Field.self, forKey: .a) }
    if pushes {
      let _: Int? = try lua.table()[inner]
    } else {
      _ = try? lua.table(inner)
    }
    try nested?.encode(1, forKey: .b)
    try nested?.encode(1, forKey: .b)
  }
}

private enum Refusal: Error { case expired }

private struct CrossingBack: Decodable {
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    var nested: KeyedDecodingContainer<Field>?
    let _: Int? = try current.table()[
      Acting { nested = try? fields.nestedContainer(keyedBy: Field.self, forKey: .a) }]
    _ = try fields.nestedUnkeyedContainer(forKey: .b)
    guard let nested else { throw Refusal.expired }
    print(nested.allKeys)
    _ = try nested.decode(Int.self, forKey: .b)
  }
}

/// Its key changes the table whose keys are asked for.
private struct Keys: Decodable {
  struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) {
      self.stringValue = stringValue
      try? current.run("for i = 1, 100 do t['new' .. i] = i end; t.\(stringValue) = nil")
    }
    init?(intValue: Int) { nil }
  }
  let count: Int

  init(from decoder: any Decoder) throws {
    count = try decoder.container(keyedBy: Key.self).allKeys.count
  }
}

private struct Rows: Encodable {
  func encode(to encoder: any Encoder) throws {
    var rows = encoder.unkeyedContainer()
    for number in 0..<1_100_000 {
      var row = rows.nestedUnkeyedContainer()
      try row.encode(number)
    }
  }
}

private class Registered: LuaObject { var list = ["x"] }
private final class Below: Registered {}
private final class Mirrored: LuaObject, CustomReflectable {
  var number = 2
  var customMirror: Mirror { Mirror(reflecting: Below()) }
}

private struct Identity: Hashable, Sendable {
  static let acts = Atomic(0)
  let number: Int

  static func == (a: Identity, b: Identity) -> Bool {
    act()
    return a.number == b.number
  }
  func hash(into hasher: inout Hasher) {
    Self.act()
    hasher.combine(number % 2)
  }
  private static func act() {
    if acts.subtract(1, ordering: .relaxed).oldValue != 1 { return }
    var made: [Loop.Source] = []
    for number in 1...300 {
      let source = Loop.Source(identity: Identity(number: number)) { _ in }
      try? Loop.current.add(source, modes: [.default, .common])
      made.append(source)
    }
    for source in made { source.invalidate() }
  }
}

private final class AtEnd: Sendable {
  let act: @Sendable () -> Void
  init(_ act: @escaping @Sendable () -> Void) { self.act = act }
  deinit { act() }
}

/// Runs a chunk on a state that the types above find, and returns what it raised.
private func crossing(
  _ body: @escaping @Sendable (LuaState) throws -> String
) async throws -> String {
  try await onOneThread { loop in
    let lua = try LuaState(on: loop)
    here(lua)
    defer { here(nil) }
    do { return try body(lua) } catch { return "\(error)".components(separatedBy: "; ")[0] }
  }
}

let coded = [
  Attack(name: "a container is opened while another value is written", end: "expired") {
    try await crossing { lua in
      "\(try lua.table(Crossing(lua: lua, pushes: false)).pairs)"
    }.contains("expired") ? "expired" : "written"
  },
  Attack(name: "a container is opened while another value is pushed", end: "expired") {
    try await crossing { lua in
      "\(try lua.table(Crossing(lua: lua, pushes: true)).pairs)"
    }.contains("expired") ? "expired" : "written"
  },
  Attack(name: "a container is opened for reading while another value is pushed", end: "expired") {
    try await crossing { lua in
      lua.register("f") { (value: LuaCoded<CrossingBack>) in 1 }
      try lua.run("f({ a = { b = 1 }, b = ('x'):rep(50) })")
      return "read"
    }.contains("expired") ? "expired" : "read"
  },
  Attack(name: "a key changes the table whose keys are read", end: "3 true") {
    try await crossing { lua in
      lua.register("f") { (value: LuaCoded<Keys>) in value.value.count }
      try lua.run("t = { a = 1, b = 2, c = 3 }; ok, count = pcall(f, t)")
      let (count, ok): (Int, Bool) = try lua.evaluate("return count, ok")
      return "\(count) \(ok)"
    }
  },
  Attack(name: "more containers are opened than Lua's stack holds", end: "too much at once") {
    try await crossing { lua in
      _ = try lua.table(Rows())
      return "written"
    }.contains("too much at once") ? "too much at once" : "written"
  },
  Attack(name: "a class shows the mirror of a registered one", end: "1 false 2") {
    try await crossing { lua in
      lua.register(Registered.self, as: "R", .method("count") { (r: Registered) in r.list.count })
      lua.register("number") { (m: Mirrored) in m.number }
      lua.set("below", Below())
      lua.set("mirrored", Mirrored())
      let (count, counts, number): (Int, Bool, Int) = try lua.evaluate(
        """
        local counts = pcall(function() return mirrored:count() end)
        return below:count(), counts, number(mirrored)
        """)
      return "\(count) \(counts) \(number)"
    }
  },
  Attack(name: "an error of one state leaves a function of another", end: "table true") {
    try await onOneThread { loop in
      let (first, second) = (try LuaState(on: loop), try LuaState(on: loop))
      let fail: LuaFunction = try first.evaluate(
        """
        local error_value = setmetatable({}, { __tostring = function() return "table" end })
        return function() error(error_value) end
        """)
      second.register("fail") { try fail() }
      var text = "ran"
      do { try second.run("fail()") } catch { text = "\((error as? LuaError)?.message ?? "")" }
      let caught: Bool = try second.evaluate("return not pcall(fail)")
      return "\(text) \(caught)"
    }
  },
  Attack(name: "an identity's '==' and hash use the loop", end: "done") {
    Loop.isolated { loop in
      for act in 1...40 {
        Identity.acts.store(act, ordering: .relaxed)
        let sources = (0..<6).map { number in
          Loop.Source(identity: Identity(number: number % 3)) { _ in }
        }
        for source in sources {
          try? loop.add(source, modes: [.default, .common, "other"])
          source.signal()
          _ = loop.contains(source)
        }
        _ = loop.run(for: .zero)
        for source in sources { loop.remove(source, modes: [.common, .default]) }
        for source in sources { source.invalidate() }
      }
      return "done"
    }
  },
  Attack(name: "a cancelled block's captures queue blocks when it is released", end: "3201") {
    Loop.isolated { loop in
      let performed = Mutex(0)
      var requests: [PerformRequest] = []
      for _ in 0..<32 {
        let last = AtEnd {
          for _ in 0..<100 { Loop.current.perform { performed.withLock { $0 += 1 } } }
        }
        requests.append(loop.perform { withExtendedLifetime(last) {} })
      }
      for request in requests { request.cancel() }
      loop.perform { performed.withLock { $0 += 1 } }
      for _ in 0..<3 { _ = loop.run(for: .zero) }
      return "\(performed.withLock { $0 })"
    }
  },
]
