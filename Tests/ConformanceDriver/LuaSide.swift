// One Lua state on one loop: where the Lua functions of `LuaScript` live.

import ConformanceFormat
import LuaEmbed
import Moonloop
import MoonloopCore

// Sendable: a Lua state belongs to the thread of its loop, and the face uses it on no other.
final class LuaSide: @unchecked Sendable {
  let loop: Loop
  private let lua: LuaState

  init(_ loop: Loop, _ receiver: any CallbackReceiver) {
    self.loop = loop
    do {
      lua = try LuaState(on: loop, limits: LuaLimits(nesting: 60))
      lua.register("called") { (id: String, word: String, detail: String) in
        guard let event = Event(word, detail) else { fail("unknown event '\(word)'") }
        receiver.called(id, event)
      }
      try lua.run(LuaScript.source, name: "=conformance")
    } catch {
      fail("\(error)")
    }
  }

  /// Gives the state a handle of an item that Swift made.
  func adopt(_ id: String, _ item: Loop.Item) { call("adopt", id, item) }

  private func function(_ name: String) -> LuaFunction {
    guard let function = lua.globals[function: name] else {
      fail("the Lua side has no function '\(name)'")
    }
    return function
  }

  func call<each A: LuaPushable>(_ name: String, _ arguments: repeat each A) {
    do { try function(name)(repeat each arguments) } catch { fail("\(name): \(error)") }
  }

  func ask<each A: LuaPushable, R: LuaReadable>(
    _ name: String, _ arguments: repeat each A
  ) -> R {
    do { return try function(name)(repeat each arguments) } catch {
      fail("\(name): \(error)")
    }
  }

  /// - Parameter age: How long ago the scenario made the object, in nanoseconds.
  func make(_ spec: ObjectSpec, descriptor: Int32?, age: Int64) {
    let id = spec.id
    switch spec.kind {
    case .timer(let delay, let interval, let tolerance):
      call(
        "make_timer", id, Double(delay - age) / 1e9, Double(interval) / 1e9,
        Double(tolerance) / 1e9)
    case .source(let order, let hasLifecycle, let identity):
      call("make_source", id, order, hasLifecycle, identity)
    case .port: call("make_port", id)
    case .descriptor(let events, let reenabled, _):
      call("make_fd", id, Int(descriptor ?? -1), events.map(\.rawValue), reenabled.map(\.rawValue))
    case .observer(let activities, let repeats, let order):
      call("make_observer", id, activities.map(\.luaName), repeats, order)
    case .block: break
    }
  }
}

extension ActivityName {
  /// The word of the Lua interface: `before_timers` for `beforeTimers`.
  fileprivate var luaName: String {
    rawValue.reduce(into: "") { name, letter in
      name += letter.isUppercase ? "_" + letter.lowercased() : String(letter)
    }
  }
}

extension Event {
  fileprivate init?(_ word: String, _ detail: String) {
    switch word {
    case "plain": self = .plain
    case "perform": self = .perform
    case "schedule": self = .schedule(mode: detail)
    case "cancel": self = .cancel(mode: detail)
    case "message": self = .message(detail)
    case "ready":
      guard let direction = Direction(rawValue: detail) else { return nil }
      self = .ready(direction)
    case "activity":
      guard let activity = ActivityName(rawValue: detail) else { return nil }
      self = .activity(activity)
    default: return nil
    }
  }
}
