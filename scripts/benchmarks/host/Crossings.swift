// What W18 calls: the functions that `native/crossings.c` has, as a program in Swift writes them.
import Moonloop

final class Counter: LuaObject {
  var value = 0
}

struct Record: Codable {
  var id: Int
  var score: Double
  var active: Bool
  var name: String
  var tags: [String]
}

func registerCrossings(with lua: LuaState) {
  lua.register(
    Counter.self, as: "Counter",
    .method("add") { (counter: Counter, amount: Int) in
      counter.value += amount
      return counter.value
    },
    .property("value", get: { $0.value }, set: { $0.value = $1 }))
  lua.set("counter", Counter())
  lua.register("call") { (function: LuaFunction, arguments: Int, turns: Int) throws -> Int in
    var sum = 0
    for turn in 0..<turns { sum &+= try call(function, arguments, turn) }
    return sum
  }
  lua.register("take_list") { (list: [Int]) in list.last ?? 0 }
  let list = Array(0..<1000)
  lua.register("give_list") { list }
  lua.register("take_dictionary") { (words: [String: Int]) in words.count }
  let words = Dictionary(uniqueKeysWithValues: (0..<100).map { ("word\($0)", $0) })
  lua.register("give_dictionary") { words }
  lua.register("echo") { (text: String) in text }
  lua.register("take_records") { (records: [Record]) -> Int in records.last?.id ?? 0 }
}

private func call(_ function: LuaFunction, _ arguments: Int, _ turn: Int) throws -> Int {
  switch arguments {
  case 0: try function()
  case 1: try function(turn)
  case 2: try function(turn, turn)
  default: try function(turn, turn, turn)
  }
}
