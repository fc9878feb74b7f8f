// The planted cases of `BlameTests`.

extension BlameTests {
  static let cases = [
    Case(
      "a mode that ran later; a nested run elsewhere meanwhile",
      """
      make("spin", 0.5, nil, { every = 0.5, modes = "modal" })
      make("press", 0.2, function() nest("tracking", 1) end)
      run(nil, 2) run("modal", 0.25) say "spin"
      """,
      "late 0, missed 0, held mode 1.5, missed 3",
      .held(1.5, ago: 0.25, "because its mode did not run", of: "spin"),
      .check("timer 'spin' missed 3 fires because its mode did not run")),
    Case(
      "a busy call",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      make("hog", 0.3, function() work(1) end)
      run(nil, 2) say "tick"
      """,
      "late 0.8, missed 3, held 0, missed 0",
      .late(0.8, ago: 0.7, "a call of timer 'hog'", took: 1, missed: 3)),
    Case(
      "a busy call, in whose batch the timer is",
      """
      make("hog", 0.05, function() work(0.35) end)
      make("tick", 0.05, nil, { every = 0.1 })
      run(nil, 0.6) say "tick"
      """,
      "late 0.35, missed 3, held 0, missed 0",
      .late(0.35, ago: 0.2, "a call of timer 'hog'", took: 0.35, missed: 3)),
    Case(
      "a nested run",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      make("press", 0.3, function() nest("tracking", 1) end)
      run(nil, 2) say "tick"
      """,
      "late 0, missed 0, held nested_run 0.8, missed 3",
      .held(0.8, ago: 0.7, "by a nested run of timer 'press'"),
      .nested(3, "timer 'press'", "tracking")),
    Case(
      "its own suspended handler",
      """
      make("tick", 1, function(timer) if timer.fires == 1 then ml.sleep(2.5) end end,
        { every = 1 })
      run(nil, 4.5) say "tick"
      """,
      "late 0, missed 0, held handler 2, missed 2",
      .held(2, ago: 0.5, "by its own suspended handler"),
      .check("timer 'tick' missed 2 fires because its own handler had not returned")),
    Case(
      "another mode, then a nested run",
      """
      make("press", 0.2, function() nest("tracking", 1) end)
      make("tick", 0.5, nil, { every = 100 })
      run("other", 1) run(nil, 2) say "tick"
      """,
      "late 0, missed 0, held mode 0.5 nested_run 1, missed 0",
      .held(
        1.5, ago: 1, ": 0.5 s because its mode did not run, 1 s by a nested run of timer 'press'"),
      .check("timer 'press' was held back 800 ms because its mode did not run"),
      .check("timer 'tick' was held back 1 s while timer 'press' ran the loop in mode 'tracking'"),
      .check("timer 'tick' was held back 500 ms because its mode did not run")),
    Case(
      "another mode, then a busy call",
      """
      make("hog", 0.2, function() work(1) end)
      make("tick", 0.5, nil, { every = 0.5 })
      run("other", 1) run(nil, 1.1) say "tick"
      """,
      "late 1, missed 2, held mode 0.5, missed 1",
      // Of several timers that were held back, metrics names the one held longest: 'hog'.
      .late(1, ago: 0.1, "a call of timer 'hog'", took: 1, missed: 2),
      .why("it was held back 0.5 s, until 0.1 s ago, because its mode did not run"),
      .check("timer 'hog' was held back 800 ms because its mode did not run"),
      .check("timer 'tick' missed 1 fire because its mode did not run")),
    Case(
      "a call that is busy before and after its nested run",
      """
      make("press", 0.2, function() work(0.5) nest("tracking", 2) work(0.25) end)
      make("tick", 0.3, nil, { every = 0.1 })
      run(nil, 3) say "tick"
      """,
      "late 0.65, missed 6, held nested_run 2, missed 20",
      .late(0.65, ago: 0.05, "a call of timer 'press'", took: 0.75, missed: 6),
      .held(2, ago: 0.05, "by a nested run of timer 'press'"),
      .nested(20, "timer 'press'", "tracking")),
    Case(
      "a busy call in a nested run of another mode",
      """
      make("press", 0.2, function() nest("tracking", 2) end)
      make("drag", 0.3, function() work(1) end, { modes = "tracking" })
      make("tick", 0.5, nil, { every = 0.5 })
      run(nil, 3) say "tick"
      """,
      "late 0, missed 0, held nested_run 1.7, missed 3",
      .held(1.7, ago: 0.8, "by a nested run of timer 'press'"),
      .nested(3, "timer 'press'", "tracking")),
    Case(
      "a busy call in a nested run of its mode",
      """
      make("press", 0.2, function() nest("tracking", 2) end)
      make("drag", 0.3, function() work(1) end, { modes = "tracking" })
      make("tick", 0.5, nil, { every = 0.5, modes = { "default", "tracking" } })
      run(nil, 3) say "tick"
      """,
      "late 0.8, missed 1, held 0, missed 0",
      .late(0.8, ago: 1.7, "a call of timer 'drag'", took: 1, missed: 1)),
    Case(
      "a call that is not over yet",
      """
      make("press", 0.2, function() work(1) nest("default", 1) end)
      make("tick", 0.4, nil, { every = 0.4 })
      run(nil, 3) say "tick"
      """,
      "late 0.8, missed 2, held 0, missed 0",
      .late(0.8, ago: 1.8, "a call of timer 'press'", took: 1, missed: 2)),
    Case(
      "its own busy call",
      """
      make("tick", 0.1, function(timer) if timer.fires == 1 then work(0.35) end end,
        { every = 0.1 })
      run(nil, 1) say "tick"
      """,
      "late 0, missed 3, held 0, missed 0",
      .check("timer 'tick' missed 3 fires because its own handler had not returned")),
    Case(
      "a nested run of its own, in its mode",
      """
      make("tick", 0.5, function(timer) if timer.fires == 1 then nest("default", 1.7) end end,
        { every = 0.5 })
      run(nil, 3) say "tick"
      """,
      "late 0, missed 0, held nested_run 1.2, missed 3",
      .held(1.2, ago: 0.5, "by a nested run of timer 'tick'"),
      .nested(3, "timer 'tick'", "default")),
    Case(
      "its tolerance",
      """
      make("tick", 0.5, nil, { tolerance = 0.2 })
      run(nil, 1) say "tick"
      """,
      "late 0.2, missed 0, held 0, missed 0"),
    Case(
      "two nested runs: the longer one is named, with what is nested in it",
      """
      make("press", 0.2, function() nest("tracking", 2) end)
      make("drag", 0.4, function() nest("dragging", 1) end, { modes = "tracking" })
      make("ask", 0.25, function() nest("asking", 1.5) end)
      make("tick", 0.3, nil, { every = 100 })
      run(nil, 4) say "tick"
      """,
      "late 0, missed 0, held nested_run 3.4, missed 0",
      .held(3.4, ago: 0.3, "by a nested run of timer 'press'"),
      .check(
        "timer 'ask' was held back 1.95 s while timer 'press' ran the loop in mode 'tracking'"),
      .check("timer 'tick' was held back 3.4 s while timer 'press' ran the loop in mode 'tracking'")
    ),
    Case(
      "a suspended handler, and a nested run when it is due again",
      """
      make("tick", 1, function(timer) if timer.fires == 1 then ml.sleep(2.5) end end,
        { every = 1 })
      make("press", 3.8, function() nest("tracking", 1) end)
      run(nil, 6.5) say "tick"
      """,
      "late 0, missed 0, held nested_run 0.8 handler 2, missed 2",
      .held(
        2.8, ago: 1.7,
        ": 0.8 s by a nested run of timer 'press', 2 s by its own suspended "
          + "handler"),
      .check(
        "timer 'tick' was held back 800 ms while timer 'press' ran the loop in mode 'tracking'"),
      .check("timer 'tick' missed 2 fires because its own handler had not returned")),
    Case(
      "two busy calls, the longer one first",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      make("long", 0.3, function() work(2) end)
      make("short", 3.1, function() work(0.6) end)
      run(nil, 5) say "tick"
      """,
      "late 1.8, missed 8, held 0, missed 0",
      .late(1.8, ago: 2.7, "a call of timer 'long'", took: 2, missed: 7),
      .check(
        "a call of timer 'short' took 600 ms: timer 'tick' (AT) came up to 450 ms late and "
          + "missed 1 fire")),
    Case(
      "a busy source",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      local feed <close> = loop:source { name = "feed", function() work(0.6) end }
      make("feeder", 0.3, function() feed:signal() end)
      run(nil, 2) say "tick"
      """,
      "late 0.4, missed 1, held 0, missed 0",
      .late(0.4, ago: 1.1, "a call of source 'feed'", took: 0.6, missed: 1)),
    Case(
      "a busy observer",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      local is_time
      local watcher <close> = loop:observer { on = "before_sources", name = "watcher", function()
        if is_time then work(0.65) end
        is_time = false
      end }
      make("go", 0.3, function() is_time = true end)
      run(nil, 2) say "tick"
      """,
      "late 0.45, missed 1, held 0, missed 0",
      .late(0.45, ago: 1.05, "a call of observer 'watcher'", took: 0.65, missed: 1)),
    Case(
      "a busy task",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      loop:task({ name = "job" }, function() ml.sleep(0.3) work(0.65) end)
      run(nil, 2) say "tick"
      """,
      "late 0.45, missed 1, held 0, missed 0",
      .late(0.45, ago: 1.05, "a call of task 'job'", took: 0.65, missed: 1)),
    Case(
      "a busy perform",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      make("go", 0.3, function() loop:perform(function() work(0.65) end) end)
      run(nil, 2) say "tick"
      """,
      "late 0.45, missed 1, held 0, missed 0",
      .late(0.45, ago: 1.05, "a call of perform", took: 0.65, missed: 1)),
    Case(
      "the main chunk between two runs",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      run(nil, 0.3) work(1) run(nil, 1) say "tick"
      """,
      "late 0, missed 0, held not_running 0.8, missed 3",
      .held(0.8, ago: 1, "because the loop was not running"),
      .check("timer 'tick' missed 3 fires because the loop was not running")),
    Case(
      "the main chunk after it made a timer",
      """
      make("tick", 0.25)
      work(1) run(nil, 1) say "tick"
      """,
      "late 0, missed 0, held not_running 0.75, missed 0",
      .held(0.75, "because the loop was not running"),
      .check("timer 'tick' was held back 750 ms because the loop was not running")),
    Case(
      "a pause of the loop, then a run in another mode",
      """
      make("spin", 0.5, nil, { every = 0.5, modes = "modal" })
      run(nil, 1) work(1) run(nil, 0.5) run("modal", 0.25) say "spin"
      """,
      "late 0, missed 0, held not_running 1 mode 1, missed 4",
      .held(
        2, ago: 0.25,
        ": 1 s because the loop was not running, 1 s because its mode did not "
          + "run", of: "spin"),
      .check("timer 'spin' missed 2 fires because the loop was not running"),
      .check("timer 'spin' missed 2 fires because its mode did not run")),
    Case(
      "a suspended handler, and a nested run meanwhile",
      """
      make("tick", 1, function(timer) if timer.fires == 1 then ml.sleep(2.5) end end,
        { every = 1 })
      make("press", 3.2, function() nest("tracking", 2) end)
      run(nil, 6.5) say "tick"
      """,
      // Its handler should go on at 3.5, but is held back for 1.7 s; then the timer fires for 4.
      "late 0, missed 0, held nested_run 3.7 handler 1.2, missed 3",
      .held(
        3.2, ago: 1.3,
        ": 2 s by a nested run of timer 'press', 1.2 s by its own suspended "
          + "handler"),
      .nested(1, "timer 'press'", "tracking"),
      .check("timer 'tick' missed 2 fires because its own handler had not returned")),
    Case(
      "in a mode that does not run, and put back into its own",
      """
      make("tick", 0.25, nil, { every = 0.25, modes = { "default", "modal" } })
      make("out", 0.3, function() loop:remove(made.tick, "default") end)
      make("back", 1.3, function() loop:add(made.tick, "default") end)
      run(nil, 2) say "tick"
      """,
      "late 0, missed 0, held mode 0.8, missed 3",
      .held(0.8, ago: 0.7, "because its mode did not run"),
      .check("timer 'tick' missed 3 fires because its mode did not run")),
    Case(
      "late in a nested run of its mode, later held back outside of it",
      """
      make("press", 0.2, function() nest("tracking", 2) end)
      make("drag", 0.3, function() work(1) end, { modes = "tracking" })
      make("tick", 0.5, nil, { every = 0.5, modes = "tracking" })
      run(nil, 3.9) run("tracking", 0.25) say "tick"
      """,
      "late 0.8, missed 1, held mode 1.4, missed 2",
      .late(0.8, ago: 2.85, "a call of timer 'drag'", took: 1, missed: 1),
      .held(1.4, ago: 0.25, "because its mode did not run"),
      .check("timer 'tick' missed 2 fires because its mode did not run")),
    Case(
      "a busy call, then a nested run of another handler of the batch",
      """
      make("hog", 0.2, function() work(0.5) end)
      make("ask", 0.25, function() nest("asking", 1.5) end)
      make("tick", 0.3, nil, { every = 100 })
      run(nil, 3) say "tick"
      """,
      "late 0.4, missed 0, held nested_run 1.5, missed 0",
      .why(
        "it came 0.4 s late 0.8 s ago, because a call of timer 'hog' took 0.5 s: make that "
          + "wait, or move it to a worker"),
      // Of several late fires, metrics names the latest: 'ask'.
      .held(1.5, ago: 0.8, "by a nested run of timer 'ask'"),
      .check(
        "a call of timer 'hog' took 500 ms: timer 'ask' (AT) came up to 450 ms late, and 1 "
          + "other handle came late too"),
      .check("timer 'tick' was held back 1.5 s while timer 'ask' ran the loop in mode 'asking'")),
    Case(
      "its own suspended handler, then a busy call",
      """
      make("tick", 1, function(timer) if timer.fires == 1 then ml.sleep(2.5) end end,
        { every = 1 })
      make("hog", 3.4, function() work(1) end)
      run(nil, 5.5) say "tick"
      """,
      // Its handler should have gone on at 3.5, and its next date was 4.
      "late 0.9, missed 0, held handler 1.5, missed 2",
      .late(0.9, ago: 1.1, "a call of timer 'hog'", took: 1),
      .held(1.5, ago: 1.1, "by its own suspended handler"),
      .check("timer 'tick' missed 2 fires because its own handler had not returned")),
    Case(
      "its own suspended handler, and a busy call when that was to go on",
      """
      make("tick", 0.1, function(timer) if timer.fires == 2 then ml.sleep(0.3) end end,
        { every = 0.1 })
      make("hog", 0.45, function() work(0.4) end)
      run(nil, 1.05) say "tick"
      """,
      // Its handler should have gone on at 0.5; until 0.85 'hog' was in its way.
      "late 0.35, missed 4, held handler 0.25, missed 2",
      .late(0.35, ago: 0.15, "a call of timer 'hog'", took: 0.4, missed: 4),
      .held(0.25, ago: 0.15, "by its own suspended handler"),
      .check("timer 'tick' missed 2 fires because its own handler had not returned")),
    Case(
      "two busy calls, one after the other",
      """
      make("one", 0.1, function() work(0.6) end)
      make("two", 0.15, function() work(0.4) end)
      make("tick", 0.2, nil, { every = 0.5 })
      run(nil, 2) say "tick"
      """,
      "late 0.9, missed 1, held 0, missed 0",
      .metrics(
        "timer 'tick' came 900 ms late because a call of timer 'one' took 600 ms, and one of "
          + "timer 'two' 400 ms."),
      .why(
        "it came 0.9 s late 0.9 s ago, because a call of timer 'one' took 0.6 s, and one of "
          + "timer 'two' 0.4 s: make those wait, or move them to workers"),
      .check(
        "a call of timer 'one' took 600 ms: timer 'tick' (AT) came up to 900 ms late and "
          + "missed 1 fire, and 1 other handle came late too"),
      .check("a call of timer 'two' took 400 ms: timer 'tick' (AT) came up to 900 ms late")),
    Case(
      "a moment of a second cause",
      """
      make("spin", 0.5, nil, { modes = "modal" })
      work(0.501) run(nil, 1) run("modal", 0.25) say "spin"
      """,
      "late 0, missed 0, held not_running 0.001 mode 1, missed 0",
      .held(1, "because its mode did not run", of: "spin"),
      .check("timer 'spin' was held back 1 s because its mode did not run")),
    Case(
      "many calls, each less than a quarter of it",
      """
      for place = 1, 5 do make("h" .. place, 0.19 + place / 100, function() work(0.2) end) end
      make("tick", 0.3)
      run(nil, 2) say "tick"
      """,
      "late 0.9, missed 0, held 0, missed 0",
      // None of the five had a quarter of the time that 'tick' waited, but of the times of others.
      .check(
        "a call of timer 'h1' took 200 ms: timer 'h4' (AT) came up to 570 ms late, and 2 "
          + "other handles came late too"),
      .check(
        "a call of timer 'h2' took 200 ms: timer 'h5' (AT) came up to 760 ms late, and 2 "
          + "other handles came late too"),
      .check(
        "a call of timer 'h3' took 200 ms: timer 'h5' (AT) came up to 760 ms late, and 1 "
          + "other handle came late too"),
      .check("a call of timer 'h4' took 200 ms: timer 'h5' (AT) came up to 760 ms late")),
    Case(
      "taken out of its mode, and put back later",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      make("out", 0.3, function() loop:remove(made.tick, "default") end)
      make("back", 1.3, function() loop:add(made.tick, "default") end)
      run(nil, 2) say "tick"
      """,
      "late 0, missed 0, held no_mode 0.8, missed 3",
      .held(0.8, ago: 0.7, "because it was in no mode"),
      .check("timer 'tick' missed 3 fires because it was in no mode")),
    Case(
      "in no mode at its date, and a busy call when it is added",
      """
      made.tick = ml.timer { first = 0.2, name = "tick", function() end }
      make("back", 0.6, function() loop:add(made.tick, "default") work(0.3) end)
      run(nil, 1) say "tick"
      """,
      "late 0.3, missed 0, held no_mode 0.4, missed 0",
      .late(0.3, "a call of timer 'back'", took: 0.3),
      .held(0.4, "because it was in no mode"),
      .check("timer 'tick' was held back 400 ms because it was in no mode")),
    Case(
      "a nested run of a task",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      loop:task({ name = "dialog" }, function() ml.sleep(0.3) nest("asking", 1) end)
      run(nil, 2) say "tick"
      """,
      "late 0, missed 0, held nested_run 0.8, missed 3",
      .held(0.8, ago: 0.7, "by a nested run of task 'dialog'"),
      .nested(3, "task 'dialog'", "asking")),
    Case(
      "a run that is nested in a nested run of its mode",
      """
      make("press", 0.2, function() nest("tracking", 2) end)
      make("drag", 0.4, function() nest("dragging", 1) end, { modes = "tracking" })
      make("tick", 0.5, nil, { every = 100, modes = "tracking" })
      run(nil, 3) say "tick"
      """,
      "late 0, missed 0, held nested_run 0.9, missed 0",
      .held(0.9, ago: 1.6, "by a nested run of timer 'drag'"),
      .check("timer 'tick' was held back 900 ms while timer 'drag' ran the loop in mode 'dragging'")
    ),
    Case(
      "more changes of runs than are remembered",
      """
      make("spin", 0.5, nil, { every = 1, modes = "modal" })
      for _ = 1, 3000 do run("other", 0.001) end
      run("modal", 0.25) say "spin"
      """,
      "late 0, missed 0, held mode 2.5, missed 2",
      .held(2.5, ago: 0.25, "because its mode did not run", of: "spin"),
      .check("timer 'spin' missed 2 fires because its mode did not run")),
    Case(
      "performs of two lines",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      make("one", 0.3, function() loop:perform(function() work(0.65) end) end)
      make("two", 1.3, function()
        loop:perform(function() work(0.35) end)
      end)
      run(nil, 2) say "tick"
      """,
      "late 0.45, missed 1, held 0, missed 0",
      .late(0.45, ago: 1.05, "a call of perform", took: 0.65, missed: 1),
      .check("a call of perform took 350 ms: timer 'tick' (AT) came up to 150 ms late")),
    Case(
      "a busy handler of notifications",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      local notes <close> = loop:notifications { name = "notes", function() work(0.65) end }
      make("go", 0.3, function() notes:enqueue("a", { style = "as_soon_as_possible" }) end)
      run(nil, 2) say "tick"
      """,
      "late 0.45, missed 1, held 0, missed 0",
      .late(0.45, ago: 1.05, "a call of notifications 'notes'", took: 0.65, missed: 1)),
    Case(
      "two calls of one task",
      """
      loop:task({ name = "job" }, function() ml.sleep(0.3) work(0.4) ml.sleep(0) work(0.4) end)
      make("tick", 0.65, nil, { every = 100 })
      run(nil, 2) say "tick"
      """,
      "late 0.45, missed 0, held 0, missed 0",
      .late(0.45, ago: 0.9, "2 calls of task 'job'", took: 0.8)),
  ]
}
