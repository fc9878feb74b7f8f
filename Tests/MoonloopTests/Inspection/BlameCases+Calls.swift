// The planted cases of `BlameTests` in which several calls have one name, or a call has none of its
// own.

extension BlameTests {
  static let callCases = [
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
      "metrics: timer 'tick' came 450 ms late because a call of perform took 650 ms.",
      "why: it came 0.45 s late 1.05 s ago, because a call of perform took 0.65 s: make that wait, "
        + "or move it to a worker",
      "check: a call of perform took 650 ms: timer 'tick' (AT) came up to 450 ms late and missed 1 "
        + "fire",
      "check: a call of perform took 350 ms: timer 'tick' (AT) came up to 150 ms late"),
    Case(
      "a busy handler of notifications",
      """
      make("tick", 0.25, nil, { every = 0.25 })
      local notes <close> = loop:notifications { name = "notes", function() work(0.65) end }
      make("go", 0.3, function() notes:enqueue("a", { style = "as_soon_as_possible" }) end)
      run(nil, 2) say "tick"
      """,
      "late 0.45, missed 1, held 0, missed 0",
      "metrics: timer 'tick' came 450 ms late because a call of notifications 'notes' took 650 ms.",
      "why: it came 0.45 s late 1.05 s ago, because a call of notifications 'notes' took 0.65 s: "
        + "make that wait, or move it to a worker",
      "check: a call of notifications 'notes' took 650 ms: timer 'tick' (AT) came up to 450 ms "
        + "late and missed 1 fire"),
    Case(
      "two calls of one task",
      """
      loop:task({ name = "job" }, function() ml.sleep(0.3) work(0.4) ml.sleep(0) work(0.4) end)
      make("tick", 0.65, nil, { every = 100 })
      run(nil, 2) say "tick"
      """,
      "late 0.45, missed 0, held 0, missed 0",
      "metrics: timer 'tick' came 450 ms late because 2 calls of task 'job' took 800 ms.",
      "why: it came 0.45 s late 0.9 s ago, because 2 calls of task 'job' took 0.8 s: make those "
        + "wait, or move them to a worker",
      "check: 2 calls of task 'job' took 800 ms: timer 'tick' (AT) came up to 450 ms late"),
  ]
}
