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
      "metrics: timer 'spin' was held back 1.5 s because its mode did not run.",
      "why: it was held back 1.5 s, until 0.25 s ago, because its mode did not run"),
    Case(
      "a busy call",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      make("hog", 0.3, function() work(1) end)
      run(nil, 2) say "tick"
      """,
      "late 0.8, missed 3, held 0, missed 0",
      "metrics: timer 'tick' came 800 ms late because a call of timer 'hog' took 1 s.",
      "why: it came 0.8 s late 0.7 s ago, because a call of timer 'hog' took 1 s: make that wait, "
        + "or move it to a worker",
      "check: a call of timer 'hog' took 1 s: timer 'tick' (AT) came up to 800 ms late and missed "
        + "3 fires"),
    Case(
      "a busy call, in whose batch the timer is",
      """
      make("hog", 0.05, function() work(0.35) end)
      make("tick", 0.05, nil, { every = 0.1 })
      run(nil, 0.6) say "tick"
      """,
      "late 0.35, missed 3, held 0, missed 0",
      "metrics: timer 'tick' came 350 ms late because a call of timer 'hog' took 350 ms.",
      "why: it came 0.35 s late 0.2 s ago, because a call of timer 'hog' took 0.35 s: make that "
        + "wait, or move it to a worker",
      "check: a call of timer 'hog' took 350 ms: timer 'tick' (AT) came up to 350 ms late and "
        + "missed 3 fires"),
    Case(
      "a nested run",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      make("press", 0.3, function() nest("tracking", 1) end)
      run(nil, 2) say "tick"
      """,
      "late 0, missed 0, held nested_run 0.8, missed 3",
      "metrics: timer 'tick' was held back 800 ms by a nested run of timer 'press'.",
      "why: it was held back 0.8 s, until 0.7 s ago, by a nested run of timer 'press'"),
    Case(
      "its own suspended handler",
      """
      make("tick", 1, function(timer) if timer.fires == 1 then ml.sleep(2.5) end end,
        { every = 1 })
      run(nil, 4.5) say "tick"
      """,
      "late 0, missed 0, held handler 2, missed 2",
      "metrics: timer 'tick' was held back 2 s by its own suspended handler.",
      "why: it was held back 2 s, until 0.5 s ago, by its own suspended handler"),
    Case(
      "another mode, then a nested run",
      """
      make("press", 0.2, function() nest("tracking", 1) end)
      make("tick", 0.5, nil, { every = 100 })
      run("other", 1) run(nil, 2) say "tick"
      """,
      "late 0, missed 0, held mode 0.5 nested_run 1, missed 0",
      "metrics: timer 'tick' was held back 1.5 s: 0.5 s because its mode did not run, 1 s by a "
        + "nested run of timer 'press'.",
      "why: it was held back 1.5 s, until 1 s ago: 0.5 s because its mode did not run, 1 s by a "
        + "nested run of timer 'press'"),
    Case(
      "another mode, then a busy call",
      """
      make("hog", 0.2, function() work(1) end)
      make("tick", 0.5, nil, { every = 0.5 })
      run("other", 1) run(nil, 1.1) say "tick"
      """,
      "late 1, missed 2, held mode 0.5, missed 1",
      // Of several timers that were held back, metrics names the one held longest: 'hog'.
      "metrics: timer 'tick' came 1 s late because a call of timer 'hog' took 1 s.",
      "why: it came 1 s late 0.1 s ago, because a call of timer 'hog' took 1 s: make that wait, or "
        + "move it to a worker",
      "why: it was held back 0.5 s, until 0.1 s ago, because its mode did not run",
      "check: a call of timer 'hog' took 1 s: timer 'tick' (AT) came up to 1 s late and missed 2 "
        + "fires"),
    Case(
      "a call that is busy before and after its nested run",
      """
      make("press", 0.2, function() work(0.5) nest("tracking", 2) work(0.25) end)
      make("tick", 0.3, nil, { every = 0.1 })
      run(nil, 3) say "tick"
      """,
      "late 0.65, missed 6, held nested_run 2, missed 20",
      "metrics: timer 'tick' came 650 ms late because a call of timer 'press' took 750 ms.",
      "metrics: timer 'tick' was held back 2 s by a nested run of timer 'press'.",
      "why: it came 0.65 s late 0.05 s ago, because a call of timer 'press' took 0.75 s: make that "
        + "wait, or move it to a worker",
      "why: it was held back 2 s, until 0.05 s ago, by a nested run of timer 'press'",
      "check: a call of timer 'press' took 750 ms: timer 'tick' (AT) came up to 650 ms late and "
        + "missed 6 fires"),
    Case(
      "a busy call in a nested run of another mode",
      """
      make("press", 0.2, function() nest("tracking", 2) end)
      make("drag", 0.3, function() work(1) end, { modes = "tracking" })
      make("tick", 0.5, nil, { every = 0.5 })
      run(nil, 3) say "tick"
      """,
      "late 0, missed 0, held nested_run 1.7, missed 3",
      "metrics: timer 'tick' was held back 1.7 s by a nested run of timer 'press'.",
      "why: it was held back 1.7 s, until 0.8 s ago, by a nested run of timer 'press'"),
    Case(
      "a busy call in a nested run of its mode",
      """
      make("press", 0.2, function() nest("tracking", 2) end)
      make("drag", 0.3, function() work(1) end, { modes = "tracking" })
      make("tick", 0.5, nil, { every = 0.5, modes = { "default", "tracking" } })
      run(nil, 3) say "tick"
      """,
      "late 0.8, missed 1, held 0, missed 0",
      "metrics: timer 'tick' came 800 ms late because a call of timer 'drag' took 1 s.",
      "why: it came 0.8 s late 1.7 s ago, because a call of timer 'drag' took 1 s: make that wait, "
        + "or move it to a worker",
      "check: a call of timer 'drag' took 1 s: timer 'tick' (AT) came up to 800 ms late and missed "
        + "1 fire"),
    Case(
      "a call that is not over yet",
      """
      make("press", 0.2, function() work(1) nest("default", 1) end)
      make("tick", 0.4, nil, { every = 0.4 })
      run(nil, 3) say "tick"
      """,
      "late 0.8, missed 2, held 0, missed 0",
      "metrics: timer 'tick' came 800 ms late because a call of timer 'press' took 1 s.",
      "why: it came 0.8 s late 1.8 s ago, because a call of timer 'press' took 1 s: make that "
        + "wait, or move it to a worker",
      "check: a call of timer 'press' took 1 s: timer 'tick' (AT) came up to 800 ms late and "
        + "missed 2 fires"),
    Case(
      "its own busy call",
      """
      make("tick", 0.1, function(timer) if timer.fires == 1 then work(0.35) end end,
        { every = 0.1 })
      run(nil, 1) say "tick"
      """,
      "late 0, missed 3, held 0, missed 0"),
    Case(
      "a nested run of its own, in its mode",
      """
      make("tick", 0.5, function(timer) if timer.fires == 1 then nest("default", 1.7) end end,
        { every = 0.5 })
      run(nil, 3) say "tick"
      """,
      "late 0, missed 0, held nested_run 1.2, missed 3",
      "metrics: timer 'tick' was held back 1.2 s by a nested run of timer 'tick'.",
      "why: it was held back 1.2 s, until 0.5 s ago, by a nested run of timer 'tick'"),
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
      "metrics: timer 'tick' was held back 3.4 s by a nested run of timer 'press'.",
      "why: it was held back 3.4 s, until 0.3 s ago, by a nested run of timer 'press'"),
    Case(
      "a suspended handler, and a nested run when it is due again",
      """
      make("tick", 1, function(timer) if timer.fires == 1 then ml.sleep(2.5) end end,
        { every = 1 })
      make("press", 3.8, function() nest("tracking", 1) end)
      run(nil, 6.5) say "tick"
      """,
      "late 0, missed 0, held nested_run 0.8 handler 2, missed 2",
      "metrics: timer 'tick' was held back 2.8 s: 0.8 s by a nested run of timer 'press', 2 s by "
        + "its own suspended handler.",
      "why: it was held back 2.8 s, until 1.7 s ago: 0.8 s by a nested run of timer 'press', 2 s "
        + "by its own suspended handler"),
    Case(
      "two busy calls, the longer one first",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      make("long", 0.3, function() work(2) end)
      make("short", 3.1, function() work(0.6) end)
      run(nil, 5) say "tick"
      """,
      "late 1.8, missed 8, held 0, missed 0",
      "metrics: timer 'tick' came 1.8 s late because a call of timer 'long' took 2 s.",
      "why: it came 1.8 s late 2.7 s ago, because a call of timer 'long' took 2 s: make that wait, "
        + "or move it to a worker",
      "check: a call of timer 'long' took 2 s: timer 'tick' (AT) came up to 1.8 s late and missed "
        + "7 fires",
      "check: a call of timer 'short' took 600 ms: timer 'tick' (AT) came up to 450 ms late and "
        + "missed 1 fire"),
    Case(
      "a busy source",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      local feed <close> = loop:source { name = "feed", function() work(0.6) end }
      make("feeder", 0.3, function() feed:signal() end)
      run(nil, 2) say "tick"
      """,
      "late 0.4, missed 1, held 0, missed 0",
      "metrics: timer 'tick' came 400 ms late because a call of source 'feed' took 600 ms.",
      "why: it came 0.4 s late 1.1 s ago, because a call of source 'feed' took 0.6 s: make that "
        + "wait, or move it to a worker",
      "check: a call of source 'feed' took 600 ms: timer 'tick' (AT) came up to 400 ms late and "
        + "missed 1 fire"),
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
      "metrics: timer 'tick' came 450 ms late because a call of observer 'watcher' took 650 ms.",
      "why: it came 0.45 s late 1.05 s ago, because a call of observer 'watcher' took 0.65 s: make "
        + "that wait, or move it to a worker",
      "check: a call of observer 'watcher' took 650 ms: timer 'tick' (AT) came up to 450 ms late "
        + "and missed 1 fire"),
    Case(
      "a busy task",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      loop:task({ name = "job" }, function() ml.sleep(0.3) work(0.65) end)
      run(nil, 2) say "tick"
      """,
      "late 0.45, missed 1, held 0, missed 0",
      "metrics: timer 'tick' came 450 ms late because a call of task 'job' took 650 ms.",
      "why: it came 0.45 s late 1.05 s ago, because a call of task 'job' took 0.65 s: make that "
        + "wait, or move it to a worker",
      "check: a call of task 'job' took 650 ms: timer 'tick' (AT) came up to 450 ms late and "
        + "missed 1 fire"),
    Case(
      "a busy perform",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      make("go", 0.3, function() loop:perform(function() work(0.65) end) end)
      run(nil, 2) say "tick"
      """,
      "late 0.45, missed 1, held 0, missed 0",
      "metrics: timer 'tick' came 450 ms late because a call of perform took 650 ms.",
      "why: it came 0.45 s late 1.05 s ago, because a call of perform took 0.65 s: make that wait, "
        + "or move it to a worker",
      "check: a call of perform took 650 ms: timer 'tick' (AT) came up to 450 ms late and missed 1 "
        + "fire"),
    Case(
      "the main chunk between two runs",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      run(nil, 0.3) work(1) run(nil, 1) say "tick"
      """,
      "late 0, missed 0, held not_running 0.8, missed 3",
      "metrics: timer 'tick' was held back 800 ms because the loop was not running.",
      "why: it was held back 0.8 s, until 1 s ago, because the loop was not running"),
    Case(
      "the main chunk after it made a timer",
      """
      make("tick", 0.25)
      work(1) run(nil, 1) say "tick"
      """,
      "late 0, missed 0, held not_running 0.75, missed 0",
      "metrics: timer 'tick' was held back 750 ms because the loop was not running."),
    Case(
      "a pause of the loop, then a run in another mode",
      """
      make("spin", 0.5, nil, { every = 0.5, modes = "modal" })
      run(nil, 1) work(1) run(nil, 0.5) run("modal", 0.25) say "spin"
      """,
      "late 0, missed 0, held not_running 1 mode 1, missed 4",
      "metrics: timer 'spin' was held back 2 s: 1 s because the loop was not running, 1 s because "
        + "its mode did not run.",
      "why: it was held back 2 s, until 0.25 s ago: 1 s because the loop was not running, 1 s "
        + "because its mode did not run"),
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
      "metrics: timer 'tick' was held back 3.2 s: 2 s by a nested run of timer 'press', 1.2 s by "
        + "its own suspended handler.",
      "why: it was held back 3.2 s, until 1.3 s ago: 2 s by a nested run of timer 'press', 1.2 s "
        + "by its own suspended handler"),
    Case(
      "in a mode that does not run, and put back into its own",
      """
      make("tick", 0.25, nil, { every = 0.25, modes = { "default", "modal" } })
      make("out", 0.3, function() loop:remove(made.tick, "default") end)
      make("back", 1.3, function() loop:add(made.tick, "default") end)
      run(nil, 2) say "tick"
      """,
      "late 0, missed 0, held mode 0.8, missed 3",
      "metrics: timer 'tick' was held back 800 ms because its mode did not run.",
      "why: it was held back 0.8 s, until 0.7 s ago, because its mode did not run"),
    Case(
      "late in a nested run of its mode, later held back outside of it",
      """
      make("press", 0.2, function() nest("tracking", 2) end)
      make("drag", 0.3, function() work(1) end, { modes = "tracking" })
      make("tick", 0.5, nil, { every = 0.5, modes = "tracking" })
      run(nil, 3.9) run("tracking", 0.25) say "tick"
      """,
      "late 0.8, missed 1, held mode 1.4, missed 2",
      "metrics: timer 'tick' came 800 ms late because a call of timer 'drag' took 1 s.",
      "metrics: timer 'tick' was held back 1.4 s because its mode did not run.",
      "why: it came 0.8 s late 2.85 s ago, because a call of timer 'drag' took 1 s: make that "
        + "wait, or move it to a worker",
      "why: it was held back 1.4 s, until 0.25 s ago, because its mode did not run",
      "check: a call of timer 'drag' took 1 s: timer 'tick' (AT) came up to 800 ms late and missed "
        + "1 fire"),
    Case(
      "a busy call, then a nested run of another handler of the batch",
      """
      make("hog", 0.2, function() work(0.5) end)
      make("ask", 0.25, function() nest("asking", 1.5) end)
      make("tick", 0.3, nil, { every = 100 })
      run(nil, 3) say "tick"
      """,
      "late 0.4, missed 0, held nested_run 1.5, missed 0",
      // Of several late fires, metrics names the latest: 'ask'.
      "metrics: timer 'tick' was held back 1.5 s by a nested run of timer 'ask'.",
      "why: it came 0.4 s late 0.8 s ago, because a call of timer 'hog' took 0.5 s: make that "
        + "wait, or move it to a worker",
      "why: it was held back 1.5 s, until 0.8 s ago, by a nested run of timer 'ask'",
      "check: a call of timer 'hog' took 500 ms: timer 'ask' (AT) came up to 450 ms late, and 1 "
        + "other handle came late too"),
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
      "metrics: timer 'tick' came 900 ms late because a call of timer 'hog' took 1 s.",
      "metrics: timer 'tick' was held back 1.5 s by its own suspended handler.",
      "why: it came 0.9 s late 1.1 s ago, because a call of timer 'hog' took 1 s: make that wait, "
        + "or move it to a worker",
      "why: it was held back 1.5 s, until 1.1 s ago, by its own suspended handler",
      "check: a call of timer 'hog' took 1 s: timer 'tick' (AT) came up to 900 ms late"),
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
      "metrics: timer 'tick' came 350 ms late because a call of timer 'hog' took 400 ms.",
      "metrics: timer 'tick' was held back 250 ms by its own suspended handler.",
      "why: it came 0.35 s late 0.15 s ago, because a call of timer 'hog' took 0.4 s: make that "
        + "wait, or move it to a worker",
      "why: it was held back 0.25 s, until 0.15 s ago, by its own suspended handler",
      "check: a call of timer 'hog' took 400 ms: timer 'tick' (AT) came up to 350 ms late and "
        + "missed 4 fires"),
    Case(
      "two busy calls, one after the other",
      """
      make("one", 0.1, function() work(0.6) end)
      make("two", 0.15, function() work(0.4) end)
      make("tick", 0.2, nil, { every = 0.5 })
      run(nil, 2) say "tick"
      """,
      "late 0.9, missed 1, held 0, missed 0",
      "metrics: timer 'tick' came 900 ms late because a call of timer 'one' took 600 ms, and one "
        + "of timer 'two' 400 ms.",
      "why: it came 0.9 s late 0.9 s ago, because a call of timer 'one' took 0.6 s, and one of "
        + "timer 'two' 0.4 s: make those wait, or move them to workers",
      "check: a call of timer 'one' took 600 ms: timer 'tick' (AT) came up to 900 ms late and "
        + "missed 1 fire, and 1 other handle came late too",
      "check: a call of timer 'two' took 400 ms: timer 'tick' (AT) came up to 900 ms late"),
    Case(
      "a moment of a second cause",
      """
      make("spin", 0.5, nil, { modes = "modal" })
      work(0.501) run(nil, 1) run("modal", 0.25) say "spin"
      """,
      "late 0, missed 0, held not_running 0.001 mode 1, missed 0",
      "metrics: timer 'spin' was held back 1 s because its mode did not run."),
    Case(
      "many calls, each less than a quarter of it",
      """
      for place = 1, 5 do make("h" .. place, 0.19 + place / 100, function() work(0.2) end) end
      make("tick", 0.3)
      run(nil, 2) say "tick"
      """,
      "late 0.9, missed 0, held 0, missed 0",
      // None of the five had a quarter of the time that 'tick' waited, but of the times of others.
      "check: a call of timer 'h1' took 200 ms: timer 'h4' (AT) came up to 570 ms late, and 2 "
        + "other handles came late too",
      "check: a call of timer 'h2' took 200 ms: timer 'h5' (AT) came up to 760 ms late, and 2 "
        + "other handles came late too",
      "check: a call of timer 'h3' took 200 ms: timer 'h5' (AT) came up to 760 ms late, and 1 "
        + "other handle came late too",
      "check: a call of timer 'h4' took 200 ms: timer 'h5' (AT) came up to 760 ms late"),
    Case(
      "taken out of its mode, and put back later",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      make("out", 0.3, function() loop:remove(made.tick, "default") end)
      make("back", 1.3, function() loop:add(made.tick, "default") end)
      run(nil, 2) say "tick"
      """,
      "late 0, missed 0, held no_mode 0.8, missed 3",
      "metrics: timer 'tick' was held back 800 ms because it was in no mode.",
      "why: it was held back 0.8 s, until 0.7 s ago, because it was in no mode"),
    Case(
      "in no mode at its date, and a busy call when it is added",
      """
      made.tick = ml.timer { first = 0.2, name = "tick", function() end }
      make("back", 0.6, function() loop:add(made.tick, "default") work(0.3) end)
      run(nil, 1) say "tick"
      """,
      "late 0.3, missed 0, held no_mode 0.4, missed 0",
      "metrics: timer 'tick' came 300 ms late because a call of timer 'back' took 300 ms.",
      "metrics: timer 'tick' was held back 400 ms because it was in no mode.",
      "check: a call of timer 'back' took 300 ms: timer 'tick' (AT) came up to 300 ms late"),
    Case(
      "a nested run of a task",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      loop:task({ name = "dialog" }, function() ml.sleep(0.3) nest("asking", 1) end)
      run(nil, 2) say "tick"
      """,
      "late 0, missed 0, held nested_run 0.8, missed 3",
      "metrics: timer 'tick' was held back 800 ms by a nested run of task 'dialog'.",
      "why: it was held back 0.8 s, until 0.7 s ago, by a nested run of task 'dialog'"),
    Case(
      "a run that is nested in a nested run of its mode",
      """
      make("press", 0.2, function() nest("tracking", 2) end)
      make("drag", 0.4, function() nest("dragging", 1) end, { modes = "tracking" })
      make("tick", 0.5, nil, { every = 100, modes = "tracking" })
      run(nil, 3) say "tick"
      """,
      "late 0, missed 0, held nested_run 0.9, missed 0",
      "metrics: timer 'tick' was held back 900 ms by a nested run of timer 'drag'.",
      "why: it was held back 0.9 s, until 1.6 s ago, by a nested run of timer 'drag'"),
    Case(
      "more changes of runs than are remembered",
      """
      make("spin", 0.5, nil, { every = 1, modes = "modal" })
      for _ = 1, 3000 do run("other", 0.001) end
      run("modal", 0.25) say "spin"
      """,
      "late 0, missed 0, held mode 2.5, missed 2",
      "metrics: timer 'spin' was held back 2.5 s because its mode did not run.",
      "why: it was held back 2.5 s, until 0.25 s ago, because its mode did not run"),
  ]
}
