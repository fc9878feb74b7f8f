// Every message about a wrong argument, as a table: a changed wording is a visible difference.

import LuaEmbed
import Testing

/// A state with one raw function of each sort, as the loop's modules are written.
private final class Fixture {
  let lua: LuaState
  let timerKeys: LuaOptionKeys
  let timer: LuaHandleKind

  init() throws {
    lua = try LuaState()
    timerKeys = LuaOptionKeys(["first", "every", "tolerance", "modes", "name"], in: lua)
    timer = lua.makeHandleKind(
      "timer", slots: 1,
      [
        .method(
          "invalidate",
          { L, host in
            Fixture.from(host).lua.body("timer:invalidate", L!) {
              stack throws(LuaArgumentError) in
              _ = try stack.handle(1, "self", Fixture.from(host).timer)
              return 0
            }
          }),
        .field(
          "next_fire",
          { L, host in
            LuaStack(L: L!).push(1.5)
            return 1
          }),
      ])
    lua.setHost(Unmanaged.passUnretained(self).toOpaque())
    install()
  }

  static func from(_ host: UnsafeMutableRawPointer?) -> Fixture {
    Unmanaged<Fixture>.fromOpaque(host!).takeUnretainedValue()
  }

  private func install() {
    let stack = lua.stack
    stack.push(function: { L, host in
      let me = Fixture.from(host)
      return me.lua.body("timer", L!) { stack throws(LuaArgumentError) in
        try stack.table(1, "argument 1")
        var options = LuaOptions(stack, 1, me.timerKeys)
        _ = try options.seconds(0)
        _ = try options.seconds(1, .positive)
        _ = try options.seconds(2)
        _ = try options.names(3) { (_) throws(LuaArgumentError) in }
        _ = try options.text(4)
        try options.pushHandler()
        try options.finish()
        let handle = me.timer.push(stack.L)
        handle.index = 7
        return 1
      }
    })
    stack.popGlobal("timer")
    stack.push(function: { L, host in
      Fixture.from(host).lua.body("observer", L!) { stack throws(LuaArgumentError) in
        let names = ["entry", "before_timers", "before_waiting"]
        let word = try stack.text(1, "argument 1")
        guard names.contains(word) else {
          throw .unknown("activity", word, among: names, quote: "\"")
        }
        _ = try stack.integer(2, "'order'", in: 0...100)
        return 0
      }
    })
    stack.popGlobal("observer")
  }
}

@Suite("The message for")
struct ArgumentTests {
  @Test(
    "a wrong argument names function, field, expected, given and place",
    arguments: [
      ("timer(1)", "timer: argument 1 must be a table, got 1 (app.lua:1)"),
      ("timer()", "timer: argument 1 must be a table, got nothing (app.lua:1)"),
      ("timer{}", "timer: handler missing: the first element must be a function (app.lua:1)"),
      ("timer{1}", "timer: the handler ([1]) must be a function, got 1 (app.lua:1)"),
      ("timer{every=-1}", "timer: 'every' must be > 0 seconds, got -1 (app.lua:1)"),
      ("timer{every=0}", "timer: 'every' must be > 0 seconds, got 0 (app.lua:1)"),
      ("timer{every=0/0}", "timer: 'every' must be > 0 seconds, got nan (app.lua:1)"),
      ("timer{first=-1/0}", "timer: 'first' must be >= 0 seconds, got -inf (app.lua:1)"),
      ("timer{every='1'}", "timer: 'every' must be > 0 seconds, got \"1\" (app.lua:1)"),
      ("timer{name={}}", "timer: 'name' must be a string, got table (app.lua:1)"),
      (
        "timer{modes={'a',2}}", "timer: 'modes'[2] must be a string, got 2 (app.lua:1)"
      ),
      (
        "timer{modes=1}",
        "timer: 'modes' must be a string or a list of strings, got 1 (app.lua:1)"
      ),
      (
        "timer{evry=1, print}",
        "timer: unknown option 'evry' (app.lua:1); did you mean 'every'?"
      ),
      (
        "timer{print, colour='red'}",
        """
        timer: unknown option 'colour' (app.lua:1); \
        use one of first, every, tolerance, modes, name
        """
      ),
      ("timer{print, [true]=1}", "timer: unknown option of type boolean (app.lua:1)"),
      (
        "\n\nobserver 'sleep'",
        """
        observer: unknown activity "sleep" (app.lua:3); \
        use one of entry, before_timers, before_waiting
        """
      ),
      (
        "observer 'before_timer'",
        "observer: unknown activity \"before_timer\" (app.lua:1); did you mean \"before_timers\"?"
      ),
      (
        "observer('entry', 101)",
        "observer: 'order' must be an integer from 0 to 100, got 101 (app.lua:1)"
      ),
      (
        "observer('entry', 1.5)",
        "observer: 'order' must be an integer from 0 to 100, got 1.5 (app.lua:1)"
      ),
      (
        "timer{print}.invalidate(io.stdout)",
        "timer:invalidate: self must be a timer, got userdata (app.lua:1)"
      ),
      (
        "return timer{print}.nextfire",
        "timer: unknown field 'nextfire' (app.lua:1); did you mean 'next_fire'?"
      ),
      ("timer{print}.next_fire = 1", "timer: cannot set field 'next_fire' (app.lua:1)"),
    ])
  func message(_ script: String, _ message: String) throws {
    let fixture = try Fixture()
    let error = #expect(throws: LuaError.self) { try fixture.lua.run(script, name: "@app.lua") }
    #expect(error?.message == message)
    fixture.lua.close()
  }

  @Test("no wrong argument is not made")
  func good() throws {
    let fixture = try Fixture()
    try fixture.lua.run("timer{every=1, first=math.huge, modes={'a','b'}, name='x', print}")
    fixture.lua.close()
  }

  @Test(
    "seconds become nanoseconds that fit",
    arguments: [
      (0.5, 500_000_000), (1e-12, 1), (0, 0), (-1, -1_000_000_000), (1e300, .max),
      (.infinity, .max),
      (-.infinity, .min), (-1e10, .min), (9.3e9, .max), (.nan, nil),
    ] as [(Double, Int64?)])
  func seconds(_ seconds: Double, _ nanoseconds: Int64?) {
    #expect(LuaSeconds.nanoseconds(seconds) == nanoseconds)
  }
}
