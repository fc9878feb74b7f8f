// What scripts see of the loop itself: running, stopping, making items, modes, errors.

internal import LuaEmbed

/// What the loop's handle offers.
let loopEntries: [LuaEntry] =
  loopRunEntries + loopMakingEntries + loopKindEntries + loopItemEntries + [
    .method("record", loopRecord),
    .method("why", loopWhy),
    .method("dump", loopDump),
    .method("metrics", loopMetrics),
    .metamethod("__tostring") { hostValue($0, $1, "tostring") { "loop (\($0.loop.name))" } },
  ]

private let loopRunEntries: [LuaEntry] = [
  .method("run", loopRun),
  .method("stop", loopStop),
  .method("stop_when_next_looking", loopStopLater),
  .method("wake_up", loopWakeUp),
  .field("mode", loopMode),
  .field("depth") { hostValue($0, $1, "loop.depth") { $0.loop.depth } },
  // Whether it is asleep (R5), which code that runs on it never sees.
  .field("is_waiting") { hostValue($0, $1, "loop.is_waiting") { $0.loop.isWaiting } },
  .field("on_error", loopOnError, set: loopSetOnError),
]

/// Makes something that is not an item, and adds it; the kinds of items add theirs.
private let loopMakingEntries: [LuaEntry] = [
  .method("perform", loopPerform),
  .method("perform_after", loopPerformAfter),
  .method("cancel_performs", loopCancelPerforms),
  .method("task", loopTask),
]

/// Modes, and items of any kind in them.
private let loopItemEntries: [LuaEntry] = [
  .method("add", loopAdd),
  .method("remove", loopRemove),
  .method("contains", loopContains),
  .method("modes", loopModes),
  .method("add_common_mode", loopAddCommonMode),
  .method("next_timer", loopNextTimer),
]
