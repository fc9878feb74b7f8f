// Every message about a wrong argument, as a table: a changed wording is a visible difference.

import LuaEmbed
import Testing

/// A state with a function that checks its arguments, and a kind of handles.
private final class Fixture {
  let lua: LuaState
  let timer: LuaHandleKind

  init() throws {
    lua = try LuaState()
    timer = lua.makeHandleKind(
      "timer", slots: 1,
      [
        .field(
          "next_fire",
          { L, host in
            LuaStack(L: L!).push(1.5)
            return 1
          })
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
      let stack = LuaStack(L: L!)
      do throws(LuaArgumentError) {
        switch try stack.text(1, "the rule") {
        case "seconds": _ = try stack.seconds(2, "'first'", .notNegative)
        case "positive": _ = try stack.seconds(2, "'every'", .positive)
        case "any": _ = try stack.seconds(2, "'timeout'", .any)
        case "integer": _ = try stack.integer(2, "'order'", in: 0...100)
        case "count": _ = try stack.integer(2, "'count'", in: 1 ... .max)
        case "text": _ = try stack.text(2, "'name'")
        case "flag": _ = try stack.flag(2, "'close'")
        case "function": try stack.function(2, "the handler")
        case "handle":
          _ = me.timer.push(stack.L)
          return 1
        case let word: throw .unknown("rule", word, among: ["seconds", "positive"])
        }
        return 0
      } catch { return me.lua.raise(error, in: "check", on: stack) }
    })
    stack.popGlobal("check")
  }
}

@Suite("The message for")
struct ArgumentTests {
  @Test(
    "a wrong argument names function, field, expected, given and place",
    arguments: [
      ("check('positive', -1)", "check: 'every' must be > 0 seconds, got -1 (app.lua:1)"),
      ("check('positive', 0)", "check: 'every' must be > 0 seconds, got 0 (app.lua:1)"),
      ("check('positive', 0/0)", "check: 'every' must be > 0 seconds, got nan (app.lua:1)"),
      ("check('positive', '1')", "check: 'every' must be > 0 seconds, got \"1\" (app.lua:1)"),
      (
        "check('seconds', -0.5)",
        "check: 'first' must be seconds, a number >= 0, got -0.5 (app.lua:1)"
      ),
      (
        "check('any', -1/0)",
        "check: 'timeout' must be seconds, a finite number, got -inf (app.lua:1)"
      ),
      ("check('text', {})", "check: 'name' must be a string, got a table (app.lua:1)"),
      ("check('text', 1)", "check: 'name' must be a string, got 1 (app.lua:1)"),
      ("check('text')", "check: 'name' must be a string, got no value (app.lua:1)"),
      ("check('flag', 'no')", "check: 'close' must be true or false, got \"no\" (app.lua:1)"),
      ("check('function', nil)", "check: the handler must be a function, got nil (app.lua:1)"),
      (
        "check('function', ('x'):rep(41))",
        "check: the handler must be a function, got a string of 41 bytes (app.lua:1)"
      ),
      (
        "check('function', io.stdout)",
        "check: the handler must be a function, got a userdata (app.lua:1)"
      ),
      (
        "check('integer', 101)",
        "check: 'order' must be a whole number from 0 to 100, got 101 (app.lua:1)"
      ),
      (
        "check('integer', 1.5)",
        "check: 'order' must be a whole number from 0 to 100, got 1.5 (app.lua:1)"
      ),
      ("check('count', 0)", "check: 'count' must be a whole number >= 1, got 0 (app.lua:1)"),
      (
        "\n\ncheck 'minutes'",
        "check: unknown rule 'minutes' (app.lua:3); use one of seconds, positive"
      ),
      ("check 'second'", "check: unknown rule 'second' (app.lua:1); did you mean 'seconds'?"),
      (
        "return check('handle').nextfire",
        "timer: unknown field 'nextfire' (app.lua:1); did you mean 'next_fire'?"
      ),
      (
        "check('handle').next_fire = 1",
        "timer: cannot set field 'next_fire' (app.lua:1)"
      ),
    ])
  func message(_ script: String, _ message: String) throws {
    let fixture = try Fixture()
    let error = #expect(throws: LuaError.self) { try fixture.lua.run(script, name: "@app.lua") }
    #expect(error?.message == message)
    fixture.lua.close()
  }

  @Test("a right argument is none")
  func good() throws {
    let fixture = try Fixture()
    try fixture.lua.run(
      """
      check('positive', math.huge) check('seconds', 0) check('any', -1) check('integer', 7.0)
      check('count', math.maxinteger) check('text', '') check('flag', false)
      check('function', print)
      """)
    fixture.lua.close()
  }

  @Test(
    "seconds become nanoseconds that fit",
    arguments: [
      (0.5, 500_000_000), (1e-12, 1), (0, 0), (-1, -1_000_000_000), (1e300, .max),
      (1.1, 1_100_000_000),
      (.infinity, .max), (-.infinity, nil), (-1e10, .min), (9.3e9, .max), (.nan, nil),
    ] as [(Double, Int64?)])
  func seconds(_ seconds: Double, _ nanoseconds: Int64?) {
    #expect(LuaSeconds.nanoseconds(seconds, .any) == nanoseconds)
  }
}
