// What scripts see of timers, with its documentation.

internal import LuaEmbed

/// What a timer handle offers.
let timerEntries: [LuaEntry] = [
  .method("again", timerAgain) {
    LuaDocs(
      "Sets the next fire to a delay from now.",
      details: "Works in a one-shot timer too, also in its own handler. A repeating timer keeps "
        + "its interval; its grid starts anew at the new date.",
      parameters: [
        LuaParameter("delay", "number", unit: "s", "From now; 0 is the next pass, never at once.")
      ],
      errors: ["Raises an error when the timer is invalid."],
      example: """
        local tries = 0
        loop:after(1, function(timer)
          tries = tries + 1
          if tries < 3 then timer:again(0.5) end
        end)
        loop:run()
        print(tries)   --> 3
        """)
  },
  .field("next_fire", timerNextFire, set: timerSetNextFire) {
    LuaDocs(
      "When the timer is due next, on the clock of `ml.now()`.",
      details: "Setting it moves one fire; a repeating timer goes on from there. A date in the "
        + "past is due at once. Infinity is never. Setting it raises an error when the timer is "
        + "invalid.",
      returns: [LuaParameter("date", "number?", unit: "s", "The date; nil when it is invalid.")],
      example: """
        local timer = loop:every(60, function(timer) timer:invalidate() end)
        timer.next_fire = ml.now() + 5
        print(("%.1f s"):format(timer.next_fire - ml.now()))   --> 5.0 s
        """)
  },
  .field("interval", timerInterval) {
    LuaDocs(
      "The distance of its fires; 0 for a one-shot timer.",
      returns: [LuaParameter("seconds", "number?", unit: "s", "Nil when the timer is invalid.")],
      example: """
        local timer <close> = loop:every(0.25, print)
        print(timer.interval)   --> 0.25
        """)
  },
  .field("tolerance", timerTolerance) {
    LuaDocs(
      "How much later than due it may fire, so that wake-ups can be shared.",
      details: "Of a repeating timer at most half of the interval.",
      returns: [LuaParameter("seconds", "number?", unit: "s", "Nil when the timer is invalid.")],
      example: """
        local timer <close> = loop:timer { every = 1, tolerance = 0.25, print }
        print(timer.tolerance)   --> 0.25
        """)
  },
  // What all items have: documented with `itemEntries`.
  .method("invalidate", timerInvalidate),
  .method("is_valid", timerIsValid),
  .method("modes", timerModes),
  .method("keep_alive", timerKeepAlive),
  .field("name", timerName),
  .field("fires", timerFires),
  .field("on_error", timerOnError, set: timerSetOnError),
  .metamethod("__close", timerInvalidate),
  .metamethod("__tostring", timerToString),
]

/// The options of `loop:timer` and `ml.timer`.
func timerOptionDocs(isAdded: Bool) -> LuaParameter {
  LuaParameter(
    "options", isAdded ? "moonloop.LoopTimerOptions" : "moonloop.TimerOptions",
    "When it fires, and the handler as first element; 'first' or 'every' must be there.",
    fields: [
      LuaParameter(
        "[1]", "fun(timer: moonloop.Timer, missed: integer)",
        "The handler; `missed` counts the fires that fell into one because they came too late."),
      LuaParameter(
        "first", "number", unit: "s", "From now to the first fire; default: 'every'. May be < 0.",
        optional: true),
      LuaParameter(
        "every", "number", unit: "s", "The interval, > 0; without it the timer fires once.",
        optional: true),
      LuaParameter(
        "tolerance", "number", unit: "s", "How much later than due it may fire; default 0.",
        optional: true),
    ] + itemOptionDocs(isAdded: isAdded))
}
