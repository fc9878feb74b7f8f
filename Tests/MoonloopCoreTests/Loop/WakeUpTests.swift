// Wake-ups: what they end, and where they are not needed.

internal import MoonloopCore
internal import Testing

@Suite struct WakeUpTests {
  @Test(
    "asked for between the start of a pass and its sleep it ends that at once",
    arguments: [Activity.beforeTimers, .beforeSources, .beforeWaiting])
  func beforeTheSleep(activity: Activity) throws {
    try withLoop { rig in  // R117
      try rig.source("s")
      try rig.observe(.beforeWaiting, name: "-")
      try rig.observe(activity, name: "w", repeats: false) { _, _ in
        rig.loop.wakeUp()
        rig.loop.wakeUp()
      }
      rig.run(for: 1)
      let rows = rig.trace.filter { $0 == "-:beforeWaiting" }
      #expect(rows.count == 2)
      #expect(rig.clock == "1")
    }
  }

  @Test func `in a callback after the sleep it costs no extra pass`() throws {
    try withLoop { rig in  // R119
      try rig.observe()
      try rig.timer("t", after: 1) { _ in
        rig.loop.wakeUp()
        rig.block("b") { rig.loop.wakeUp() }
      }
      try rig.source("s")
      rig.run(for: 2)
      rig.expect("entry \(slept) t@1 b \(slept) exit timedOut")
    }
  }

  @Test func `in the callback of a source it is answered by the pass that follows anyway`() throws {
    try withLoop { rig in
      try rig.observe(.beforeWaiting)
      try rig.source("s", signalled: true) { _ in rig.loop.wakeUp() }
      rig.run(for: 1)
      rig.expect("s beforeWaiting timedOut")
    }
  }
}
