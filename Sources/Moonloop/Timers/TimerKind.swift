// Timers as items: those of the program. The timers of scripts are records in slots.

internal import LuaEmbed
internal import MoonloopCore

final class TimerKind: ItemKind {
  static let word = "timer"
  static var handles: ItemHandles? { nil }
  static var loopEntries: [LuaEntry] {
    [
      .method("timer", loopTimer),
      .method("after") { hostLoop($0, $1, "loop:after", loopAfter) },
      .method("every") { hostLoop($0, $1, "loop:every", loopEvery) },
      .method("at") { hostLoop($0, $1, "loop:at", loopAt) },
      .method("cron", loopCron, then: sourceResults),
    ]
  }
  static var moduleEntries: [LuaEntry] { [.function("timer", moduleTimer)] }

  let seat: KindSeat

  init(_ seat: KindSeat) { self.seat = seat }

  func stateText(of timer: Loop.Timer) -> String { "" }

  func obstacle(to timer: Loop.Timer) -> String {
    "it is in the mode that runs, and its time has not come"
  }
}
