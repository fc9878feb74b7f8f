// Programs that compile but do what they must not: with types that Lua does not know, or takes for
// others, and with values that are larger than any clock.

import Foundation
import Moonloop
import MoonloopCore

private class Animal: LuaObject { var legs = 4 }
private final class Cat: Animal { var name = "a name that is longer than fifteen bytes" }
private final class Dog: Animal {
  var age = 0x4141_4141
  var other = 0x4242_4242
}
private final class Boxy: LuaStruct { var text = "a text that is longer than fifteen bytes" }

private func put<T: AnyObject>(_ lua: LuaState, _ object: T) { lua.set("object", object) }

private struct Settings: LuaDefaultFields {
  var port = 1
  init() {}
  enum CodingKeys: String, CodingKey { case port }
  init(from decoder: any Decoder) throws {
    port = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .port)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(0x4141_4141)
  }
}

private struct Tree: Codable { var next: [Tree] = [] }

private final class Bag {
  var again: LuaFunction?
}

let types = [
  Attack(
    name: "an object of a class that is not registered is asked for, and another comes",
    end: "4 take: argument 1 must be a Cat, got a Animal"
  ) {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      lua.register(Animal.self, as: "Animal", .property("legs", \.legs))
      lua.register("take") { (cat: Cat) in cat.name }
      lua.register("cat") { Cat() }
      lua.register("dog") { Dog() }
      return try lua.evaluate(
        "take(cat()) return dog().legs .. ' ' .. select(2, pcall(take, dog())):gsub(' %(.*', '')")
    }
  },
  Attack(name: "a class extends one that it is not below", end: "Dog is not a subclass of Cat") {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      lua.register(Animal.self, as: "Animal", .property("legs", \.legs))
      lua.register(Cat.self, as: "Cat", extending: Animal.self, .property("name", \.name))
      let parent: Animal.Type = Cat.self
      lua.register(Dog.self, as: "Dog", extending: parent)
      lua.set("dog", Dog())
      return try lua.evaluate("return dog.name")
    }
  },
  Attack(name: "a class conforms to LuaStruct, and is read", end: "conform to LuaObject") {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      put(lua, Boxy())
      lua.register("take") { (boxy: Boxy) in boxy.text }
      return try lua.evaluate("return take(object)")
    }
  },
  Attack(name: "a class conforms to LuaStruct, and is returned", end: "conform to LuaObject") {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      lua.register("give") { Boxy() }
      return try lua.evaluate("return tostring(give())")
    }
  },
  Attack(
    name: "defaults are not written as a table", end: "2 port must be an integer, got nothing"
  ) {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      lua.register("read") { (settings: LuaCoded<Settings>) in settings.value.port }
      return try lua.evaluate(
        "return read { port = 2 } .. ' ' .. select(2, pcall(read, {})):match 'port.*nothing'")
    }
  },
  Attack(name: "an iteration asks itself for the next pair", end: "asked by itself") {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop)
      let bag = Bag()
      lua.register(
        Bag.self, as: "Bag",
        .pairs { (bag: Bag) in
          [1, 2].lazy.map { n -> (Int, String) in
            do { return (n, try bag.again?() ?? "") } catch { return (n, "\(error)") }
          }
        })
      lua.set("bag", bag)
      lua.register("set") { (again: LuaFunction) in bag.again = again }
      return try lua.evaluate(
        """
        local f = pairs(bag)
        set(function() return select(2, f()) end)
        local _, text = f()
        set(print)
        return text:match "asked by itself"
        """)
    }
  },
  Attack(name: "one table is in a value 2^40 times", end: "memory limit, timeLimit") {
    try await onOneThread { loop in
      let tree = "local t = { next = {} } for i = 1, 40 do t = { next = { t, t } } end"
      let lua = try LuaState(on: loop, limits: LuaLimits(memory: 8 << 20))
      lua.register("f") { (_: LuaCoded<Tree>) in 1 }
      let found: String = try lua.evaluate(
        "\(tree) return select(2, pcall(f, t)):match 'memory limit'")
      let other = try LuaState(on: loop, limits: LuaLimits(callout: .milliseconds(100)))
      other.register("f") { (_: LuaCoded<Tree>) in 1 }
      do throws(LuaError) { try other.run("\(tree) pcall(f, t)") } catch {
        return "\(found), \(error.kind)"
      }
      return found
    }
  },
  Attack(
    name: "one string is in a value a thousand times",
    end: "memory limit memory limit memory limit memory limit memory limit memory limit"
  ) {
    try await onOneThread { loop in
      let lua = try LuaState(on: loop, limits: LuaLimits(memory: 8 << 20))
      lua.register("f") { (_: LuaCoded<[String]>) in 1 }
      lua.register("g") { (_: LuaCopy) in 1 }
      lua.register("texts") { (_: [String]) in 1 }
      lua.register("fields") { (_: [String: [String]?]) in 1 }
      lua.register("lists") { (_: [[Int]]) in 1 }
      lua.register("coded") { (_: [LuaCoded<[String]>]) in 1 }
      return try lua.evaluate(
        """
        local s, t = ('x'):rep(1 << 20), {}
        for i = 1, 1000 do t[i] = s end
        local function limit(f, t)
          return tostring(select(2, pcall(f, t))):match "memory limit" or "none"
        end
        local numbers, all = {}, {}
        for i = 1, 10000 do numbers[i] = i end
        for i = 1, 1000 do all[i] = numbers end
        return table.concat({
          limit(f, t), limit(g, t), limit(texts, t), limit(fields, { a = t, b = t }),
          limit(lists, all), limit(coded, { t }),
        }, " ")
        """)
    }
  },
  Attack(name: "a duration is longer than any clock counts", end: "1e+19 timedOut finished") {
    try await onOneThread { loop in
      let ages: Duration = .seconds(1e19)
      let lua = try LuaState(
        on: loop, limits: LuaLimits(callout: ages))
      lua.register("ages") { LuaCoded(ages) }
      let text: String = try lua.evaluate("return ('%.0e'):format(ages())")
      lua.setLimits(LuaLimits(callout: Duration.seconds(-1e19)))
      let timer = loop.schedule(after: ages, name: "far") { _ in }
      _ = loop.schedule(after: .seconds(-1e19), name: "near") { $0.invalidate() }
      let first = loop.run(mode: .default, for: .milliseconds(1))
      timer.invalidate()
      return "\(text) \(first) \(loop.run(mode: .default, for: ages))"
    }
  },
]
