// What scripts see of items that the program made in Swift, with its documentation.

internal import LuaEmbed

/// What a handle of a program's item offers.
let programItemEntries: [LuaEntry] = [
  .method("signal", programItemSignal) {
    LuaDocs(
      "Marks a source: one of the loops that it is in performs it, whichever looks first.",
      details: "Wakes no loop, as with a source of a script.",
      errors: ["Raises an error when it is no source, or has ended."],
      example: """
        loop:add(jobs)   -- `jobs`: a source of the program
        jobs:signal()    --> jobs performed
        loop:after(1, function() jobs:invalidate() end)
        """)
  },
  .method("invalidate", programItemInvalidate) {
    LuaDocs(
      "Ends the item for good, in all loops that it is in.",
      details: "Has no effect on one that has ended. A `<close>` variable does the same at the "
        + "end of its block. Dropping the handle does not: the item is the program's.",
      errors: ["Raises an error when it is on another loop, unless it is a source or port."],
      example: """
        jobs:invalidate()
        print(jobs:is_valid())   --> false
        """)
  },
  .method("is_valid", programItemIsValid) {
    LuaDocs(
      "Whether the item has not ended.",
      returns: [LuaParameter("valid", "boolean", "False once it has ended, on whatever loop.")],
      example: """
        print(jobs:is_valid())   --> true
        """)
  },
  .method("modes", programItemModes) {
    LuaDocs(
      "The modes of this loop that the item is in.",
      returns: [LuaParameter("modes", "string[]", "Names; none if it is only on other loops.")],
      example: """
        loop:add(tick, { "default", "tracking" })   -- `tick`: a timer of the program
        print(#tick:modes())   --> 2
        loop:remove(tick, { "default", "tracking" })
        """)
  },
  .field("name", programItemName) {
    LuaDocs(
      "The name that the program gave it.",
      returns: [LuaParameter("name", "string", "As reports and traces show it; may be empty.")],
      example: """
        print(jobs.name)   --> jobs
        """)
  },
  .field("signalled", programItemSignalled) {
    LuaDocs(
      "Whether a source was signalled and has not performed since, on any loop.",
      returns: [LuaParameter("signalled", "boolean", "True while it waits for its turn.")],
      errors: ["Raises an error when it is no source."],
      example: """
        jobs:signal()
        print(jobs.signalled)   --> true
        """)
  },
  .field("next_fire", programItemNextFire, set: programItemSetNextFire) {
    LuaDocs(
      "When a timer is due next, on the clock of `ml.now()`; may be set.",
      details: "A timer keeps its date while it is on no loop.",
      returns: [LuaParameter("date", "number?", unit: "s", "The date; nil when it has ended.")],
      errors: ["Raises an error when it is no timer, or is on another loop."],
      example: """
        tick.next_fire = ml.now() + 5
        loop:add(tick)
        loop:run { timeout = 6 }   --> tick
        """)
  },
  .metamethod("__close", programItemInvalidate),
  .metamethod("__tostring", programItemToString),
]
