// A table of mistakes that scripts make in a handler: each is reported with its line and what to
// do, the program's status is 1, and the loop goes on.

import Foundation
import Testing

@Suite("Mistakes of a handler")
struct MistakeTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let what: String
    let line: String
    /// The message, with "HERE" for the place; empty: it is no mistake.
    let message: String

    init(_ what: String, _ line: String, _ message: String) {
      (self.what, self.line, self.message) = (what, line, message)
    }
    var testDescription: String { what }
  }

  static let rows: [Row] = [
    Row(
      "a wrong type", #"loop:after("soon", print)"#,
      #"loop:after: the delay must be seconds, a number >= 0, got "soon" (HERE)"#),
    Row(
      "a handler of a wrong type", "loop:every(1, 5)",
      "loop:every: the handler must be a function, got 5 (HERE)"),
    Row(
      "a missing handler", "loop:timer { every = 1 }",
      "loop:timer: the handler is missing: give a function as the first element of the table "
        + "(HERE)"),
    Row(
      "an unknown option", "loop:timer { evry = 1, print }",
      "loop:timer: unknown option 'evry' (HERE); did you mean 'every'?"),
    Row(
      "an unknown activity", #"loop:observer { on = "sleep", print }"#,
      #"loop:observer: 'on': unknown activity "sleep" (HERE); use one of entry, before_timers, "#),
    Row(
      "a mode of a wrong type", "loop:timer { every = 1, modes = 5, print }",
      "loop:timer: 'modes' must be the name of a mode or a list, got 5 (HERE)"),
    Row(
      "a run of the common modes", #"loop:run { mode = "common" }"#,
      "loop:run: 'common' stands for all common modes, and a run is in one mode; name one"),
    Row(
      "a negative interval", "loop:every(-1, print)",
      "loop:every: the interval must be > 0 seconds, got -1 (HERE)"),
    Row(
      "an interval of 0", "loop:every(0, print)",
      "loop:every: the interval must be > 0 seconds, got 0 (HERE)"),
    Row(
      "an interval that is no number", "loop:every(0/0, print)",
      "loop:every: the interval must be > 0 seconds, got nan (HERE)"),
    Row("an infinite interval: never", "loop:every(1/0, print):invalidate()", ""),
    Row("a huge interval: never", "loop:every(1e300, print):invalidate()", ""),
    Row(
      "a delay that is no number", "loop:after(0/0, print)",
      "loop:after: the delay must be seconds, a number >= 0, got nan (HERE)"),
    Row(
      "a negative delay", "loop:after(-1, print)",
      "loop:after: the delay must be seconds, a number >= 0, got -1 (HERE)"),
    Row("an infinite delay: never", "loop:after(1/0, print):invalidate()", ""),
    Row("a huge delay: never", "loop:after(1e300, print):invalidate()", ""),
    Row("a huge date: never", "loop:at(1e300, print):invalidate()", ""),
    Row(
      "an infinite date", "loop:at(1/0, print)",
      "loop:at: the date must be seconds since 1970, a finite number, got inf (HERE)"),
    Row(
      "an infinite date among options", "loop:timer { at = 1/0, print }",
      "loop:timer: 'at' must be seconds since 1970, a finite number, got inf (HERE)"),
    Row(
      "a function that a table of the module does not have", "ml.process.exec 'true'",
      "ml.process: unknown field 'exec' (HERE); did you mean 'run'?"),
    Row(
      "a timeout that is no number", "loop:run { timeout = 0/0 }",
      "loop:run: 'timeout' must be seconds, a finite number, got nan (HERE)"),
    Row(
      "a sleep that is no number", "ml.sleep(0/0)",
      "ml.sleep: the time must be seconds, a number >= 0, got nan (HERE)"),
    Row(
      "a date that is no number", "local t <close> = loop:every(1, print) t.next_fire = 0/0",
      "timer.next_fire: the date must be seconds, a finite number, got nan (HERE)"),
    Row(
      "a negative tolerance", "loop:timer { every = 1, tolerance = -1, print }",
      "loop:timer: 'tolerance' must be seconds, a number >= 0, got -1 (HERE)"),
    Row(
      "a negative descriptor", "loop:fd { fd = -1, read = print }",
      "loop:fd: 'fd' must be a whole number from 0 to 2147483647, got -1 (HERE)"),
    Row(
      "a descriptor that is not open", "assert(loop:fd { fd = 900, read = print })",
      "HERE: loop:fd: descriptor 900 cannot be watched: Bad file descriptor (EBADF)"),
    Row(
      "the same descriptor twice",
      "local f <close> = loop:fd { fd = 0, read = print } loop:fd { fd = 0, read = print }",
      "loop:fd: descriptor 0 is watched already by the source on descriptor 0; use one source for "
        + "both directions (HERE)"),
    Row(
      "an invalid handle", "local s = loop:source { print } s:invalidate() s:signal()",
      "source:signal: source (made at HERE) was invalidated at HERE (HERE); make a new one"),
    Row(
      "a closed handle",
      "local s do local x <close> = loop:source { print } s = x end loop:add(s)",
      "loop:add: source (made at HERE) was invalidated at HERE (HERE); make a new one"),
    Row(
      "what is no handle", "loop:add {}",
      "loop:add: takes a timer, source, fd, observer or port, got a table (HERE)"),
    Row(
      "a handle that is sent to another loop",
      "local p <close> = ml.port {} p:send { a = { loop } }",
      "port:send: message.a[1] is a loop, which cannot be sent (HERE)"),
    Row(
      "a field that is not there", "print(loop.nonsense)",
      "loop: unknown field 'nonsense' (HERE)"),
    Row(
      "a dot for a colon", "loop.every(1, print)",
      "loop:every: must be called with a colon; got 1 for the loop (HERE)"),
    Row(
      "an observer that adds itself, again and again",
      #"loop:observer { on = "before_timers", function(o) loop:add(o) loop:add(o, "side") end }"#,
      ""),
    Row(
      "a source with two handlers",
      "loop:source { function() end, perform = function() end }",
      "loop:source: there are two handlers: an element without a name, and 'perform' (HERE)"),
    Row(
      "an unknown option of a module in Lua", #"ml.fs.read("a", { limt = 1 })"#,
      "ml.fs.read: unknown option 'limt' (HERE); did you mean 'limit'?"),
    Row(
      "the same in a tail call", #"return ml.fs.read("a", { limt = 1 })"#,
      "ml.fs.read: unknown option 'limt'"),
    Row(
      "a path of a wrong type", "ml.fs.read(5)",
      "ml.fs.read: the path must be a string, got 5 (HERE)"),
    Row(
      "an unknown option of a schedule", #"loop:cron { "@daily", zon = "UTC", print }"#,
      "loop:cron: unknown option 'zon' (HERE); did you mean 'zone'?"),
    Row(
      "a value without a form in JSON", "ml.json.encode(print)",
      "ml.json.encode: a function has no JSON form (HERE)"),
    Row(
      "an unknown field of a log", "print(ml.log().levl)",
      "log: unknown field 'levl' (HERE); did you mean 'level'?"),
    Row(
      "an unknown option of a request", #"ml.http.get("http://127.0.0.1:9/", { timout = 1 })"#,
      "ml.http.get: unknown option 'timout' (HERE); did you mean 'timeout'?"),
    Row(
      "an address in place of options", #"ml.http.request "http://127.0.0.1:9/""#,
      #"ml.http.request: takes a table of options, such as { url = "http://host/" }; got "#
        + #""http://127.0.0.1:9/" (HERE)"#),
    Row(
      "a port in place of options", "ml.http.serve(8080, print)",
      "ml.http.serve: takes a table of options, such as { port = 8080, handler }; got 8080 (HERE)"),
    Row(
      "a handler of HTTP with a misspelt name", "ml.http.serve { port = 0, handlr = print }",
      "ml.http.serve: unknown option 'handlr' (HERE); did you mean 'handler'?"),
    Row(
      "no handler of HTTP", "ml.http.serve { port = 0 }",
      "ml.http.serve: the handler is missing (HERE); put a function first in the table"),
    Row(
      "a configuration that is not there", #"ml.configure "nofile.lua""#,
      "ml.configure: cannot read nofile.lua: No such file or directory (HERE)"),
    Row(
      "no number of workers", #"ml.workers("two", {})"#,
      #"ml.workers: needs the number of workers first, got "two" (HERE)"#),
    Row(
      "a repeating timer of a nanosecond",
      "local n = 0 loop:every(1e-9, function(t) n = n + 1 if n == 99 then t:invalidate() end end)",
      ""),
  ]

  @Test("is reported with its line, and the loop goes on", arguments: rows)
  func isTold(_ row: Row) throws {
    let script = """
      local ml = require "moonloop"
      local loop = ml.current()
      loop:after(0, function()
        \(row.line)
      end)
      loop:after(0.005, function() print "on" end)
      """
    try withFile(script) { path in
      // Standard input stays open, so that it can be watched.
      let program = try Program(["run", path], input: nil)
      let outcome = try program.wait()
      let errors = outcome.errors.replacing(/[^ '(\n\t]*\/?script\.lua:4/, with: "HERE")
      #expect(outcome.output == "on\n", "\(outcome)")
      #expect(outcome.status == (row.message.isEmpty ? 0 : 1), "\(outcome)")
      #expect(row.message.isEmpty ? errors.isEmpty : errors.contains(row.message), "\(errors)")
      #expect(outcome.isOurs)
    }
  }
}
