// What scripts see of the loop itself: running, stopping, making items, modes, errors.

internal import LuaEmbed

/// What the loop's handle offers.
let loopEntries: [LuaEntry] =
  loopRunEntries + loopMakingEntries + loopKindEntries + loopItemEntries + [
    .method("record") { hostLoop($0, $1, "loop:record", loopRecord) },
    .method("why") { hostLoop($0, $1, "loop:why", loopWhy) },
    .method("dump") { hostValue($0, $1, "loop:dump", loopDump) },
    .method("metrics") { hostLoop($0, $1, "loop:metrics", loopMetrics) },
    .metamethod("__tostring") { hostValue($0, $1, "tostring") { "loop (\($0.loop.name))" } },
  ]

private let loopRunEntries: [LuaEntry] = [
  .method("run") { hostLoop($0, $1, "loop:run", loopRun) },
  .method("stop") { hostValue($0, $1, "loop:stop", loopStop) },
  .method("stop_when_next_looking", loopStopLater),
  .method("wake_up") { hostAction($0, $1, "loop:wake_up", loopWakeUp) },
  .field("mode") { host($0, $1, "loop.mode", loopMode) },
  .field("depth") { hostValue($0, $1, "loop.depth") { $0.loop.depth } },
  // Whether it is asleep (R5), which code that runs on it never sees.
  .field("is_waiting") { hostValue($0, $1, "loop.is_waiting") { $0.loop.isWaiting } },
  .field("on_error", loopOnError, set: loopSetOnError),
]

/// Makes something that is not an item, and adds it; the kinds of items add theirs.
private let loopMakingEntries: [LuaEntry] = [
  .method("perform") { hostLoop($0, $1, "loop:perform", loopPerform) },
  .method("perform_after") { hostLoop($0, $1, "loop:perform_after", loopPerformAfter) },
  .method("cancel_performs") { hostValue($0, $1, "loop:cancel_performs", loopCancelPerforms) },
  .method("task", loopTask),
]

/// Modes, and items of any kind in them.
private let loopItemEntries: [LuaEntry] = [
  .method("add") { hostLoop($0, $1, "loop:add", loopAdd) },
  .method("remove") { hostLoop($0, $1, "loop:remove", loopRemove) },
  .method("contains") { hostLoop($0, $1, "loop:contains", loopContains) },
  .method("modes") { hostLoop($0, $1, "loop:modes", loopModes) },
  .method("add_common_mode") { hostValue($0, $1, "loop:add_common_mode", loopAddCommonMode) },
  .method("next_timer") { hostValue($0, $1, "loop:next_timer", loopNextTimer) },
]
