// What scripts see of `loop:metrics`, with its documentation.

internal import LuaEmbed

/// A method of the loop.
let metricsEntry = LuaEntry.method("metrics", loopMetrics) {
  LuaDocs(
    "What the loop did since the first call, which begins to measure.",
    details: "Until then nothing is measured, and nothing is paid. Handles that were made at one "
      + "place under one name are one row. See [seeing.md](seeing.md).",
    parameters: [
      LuaParameter(
        "options", "moonloop.MetricsOptions", "What becomes of the measuring.", optional: true,
        fields: [
          LuaParameter(
            "on", "boolean", "False: ends it, after a last look. Default true.", optional: true),
          LuaParameter(
            "reset", "boolean", "True: all begins anew, after this look.", optional: true),
        ])
    ],
    returns: [
      LuaParameter(
        "metrics", "moonloop.Metrics?", "Nil if `on = false` and nothing was measured.")
    ],
    example: """
      loop:metrics()
      local beat = loop:every(1, function() end)
      loop:run { timeout = 3.5 }
      print(loop:metrics().handles[1].calls)   --> 3
      beat:invalidate()
      loop:metrics { on = false }
      """)
}

/// What `loop:metrics` gives.
let metricsRecords: [LuaParameter] = [
  LuaParameter(
    "moonloop.Metrics", "table", "What a loop did since it is measured.",
    fields: [
      LuaParameter("loop", "string", "The name of the loop."),
      LuaParameter("clock", "string", "\"real\", \"virtual\" or \"skip_idle\"."),
      LuaParameter("mode", "string", "The mode that runs now.", optional: true),
      LuaParameter("depth", "integer", "How many runs are nested now."),
      LuaParameter("measured", "number", unit: "s", "For how long, on the loop's clock."),
      LuaParameter("passes", "integer", "How many passes there were."),
      LuaParameter("wake_ups", "integer", "How many sleeps ended."),
      LuaParameter(
        "causes", "table<string, integer>",
        "What was called first after them: 'timer', 'source', 'port', 'fd', 'perform', "
          + "'main_queue'; or 'nothing'."),
      LuaParameter("idle", "number", unit: "s", "The time asleep."),
      LuaParameter("busy", "number", unit: "s", "The time in handlers."),
      LuaParameter(
        "under_way", "table",
        "The call that a console asks in the middle of: 'by', which handle, 'took', so far.",
        optional: true),
      LuaParameter(
        "live", "table<string, integer>",
        "How many 'timers', 'items', 'tasks' and 'requests' there are now."),
      LuaParameter("handles", "moonloop.HandleMetrics[]", "A row each, the busiest first."),
    ]),
  LuaParameter(
    "moonloop.HandleMetrics", "table",
    "The handles that were made at one place under one name.",
    fields: [
      LuaParameter("kind", "string", "\"timer\", \"source\", \"task\", …"),
      LuaParameter("name", "string", "Empty if it has none."),
      LuaParameter("made_at", "string", "File and line."),
      LuaParameter("calls", "integer", "How often a handler was called, or went on after a wait."),
      LuaParameter("missed", "integer", "Fires of timers that were coalesced into later ones."),
      LuaParameter("wake_ups", "integer", "How many sleeps ended for it."),
      LuaParameter("busy", "number", unit: "s", "The time in its handlers."),
      LuaParameter(
        "duration", "moonloop.Percentiles",
        "How long a call took, without the runs and calls inside."),
      LuaParameter(
        "late", "moonloop.Percentiles", "How long after its date a timer was called.",
        optional: true),
      LuaParameter(
        "made_late", "table",
        "The last call that had the thread when it was due: 'by', which handle, 'took', 'late'.",
        optional: true),
    ]),
  LuaParameter(
    "moonloop.Percentiles", "table", "Times; a percentile is at most an eighth too high.",
    fields: [
      LuaParameter("p50", "number", unit: "s", "Half took no longer."),
      LuaParameter("p90", "number", unit: "s", "Nine of ten."),
      LuaParameter("p99", "number", unit: "s", "Ninety-nine of a hundred."),
      LuaParameter("max", "number", unit: "s", "The longest."),
      LuaParameter("mean", "number", unit: "s", "The sum by the number."),
    ]),
]
