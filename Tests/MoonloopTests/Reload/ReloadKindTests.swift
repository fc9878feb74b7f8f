// What each kind of handle keeps when its file is loaded again, what ends, and that nothing grows.

import Moonloop
import Testing

@Suite("Reloading: kinds of handles") struct ReloadKindTests {
  private typealias Step = ReloadRun.Step

  /// One of each kind, by name or by what it watches.
  private static let everything = """
    local ml = require "moonloop"
    local loop = ml.current()
    local part = require "part"
    local state = ml.reload.state("all", {})
    local made = {
      loop:timer { every = 1, tolerance = 0.1, name = "timer", function() end },
      loop:timer { first = 100, name = "once", function() end },
      loop:source { name = "source", schedule = function() end, function() end },
      loop:source { name = "jobs", identity = "jobs", describe = tostring, function() end },
      loop:observer { name = "observer", on = "entry", function() end },
      loop:notifications { name = "notifications", function() end },
      loop:port { name = "port", function() end },
      loop:signal("usr2", function() end),
      loop:watch { FOLDER .. "/part.lua", function() end },
      ml.net.listen { path = FOLDER .. "/socket", function() end },
      ml.net.udp { host = "127.0.0.1", name = "udp", function() end },
      assert(ml.port.listen(FOLDER:match "[^/]+$", { function() end })),
      assert(ml.port.connect(FOLDER:match "[^/]+$")),
    }
    if not READ then
      READ, WRITTEN = require("moonloop.posix").pipe()
      INPUT, OUTPUT = require("moonloop.posix").pipe()
    end
    made[#made + 1] = loop:socket_source { fd = INPUT, close = true, data = function() end }
    made[#made + 1] = loop:socket_source { fd = OUTPUT, close = true, write = function() end }
    made[#made + 1] = loop:fd { fd = READ, close = true, read = function() end }
    made[#made + 1] = loop:fd { fd = WRITTEN, close = true, write = function() end }
    made[#made + 1] = loop:pressure { resource = "io", file = "/proc/self/fd/" .. READ,
      function() end }
    for index, handle in ipairs(made) do
      assert(not state[index] or rawequal(state[index], handle), index)
      state[index] = handle
    end
    loop:timer { every = 1, function() end }
    loop:after(50, function() end)
    loop:source { function() end }
    loop:observer { on = "exit", function() end }
    loop:task({ name = "task" }, function() ml.sleep(1000) end)
    ml.reload.on_unload(function() part.left = true end)
    """

  @Test func `a handle made again is the same handle, whatever it is`() throws {
    let run = try ReloadRun.of(
      ["app.lua": Self.everything, "part.lua": "return {}"],
      [Step(time: 1.5, files: [:]), Step(time: 2.5, files: [:])], seconds: 3)
    #expect(
      run.lines == [
        "generation 2: 18 kept, 5 made, 5 ended", "generation 3: 18 kept, 5 made, 5 ended",
      ])
    #expect(run.reports == [])
  }

  @Test func `a socket whose path reads alike is another`() throws {
    let app = { (name: String) in
      """
      local ml = require "moonloop"
      local state = ml.reload.state("all", {})
      local path = FOLDER .. "/\(name)"
      local listener = ml.net.listen { path = path, name = "here", function() end }
      print(rawequal(state.listener, listener), listener.address.path == path)
      state.listener = listener
      """
    }
    let run = try ReloadRun.of(
      ["app.lua": app(#"\u{e9}"#)],
      [
        Step(time: 1, files: ["app.lua": app(#"e\u{301}"#)]),
        Step(time: 2, files: ["app.lua": app(#"\xff"#)]),
        Step(time: 3, files: ["app.lua": app(#"\xfe"#)]),
        Step(time: 4, files: ["app.lua": app(#"\xfe"#) + " "]),
      ], seconds: 5)
    let new = { (number: Int) in "generation \(number): 0 kept, 1 made, 1 ended" }
    #expect(
      run.lines == [
        "false true", "false true", new(2), "false true", new(3), "false true", new(4),
        "true true", "generation 5: 1 kept, 0 made, 0 ended",
      ])
    #expect(run.reports == [])
  }

  @Test func `a named port goes over to the new file, or gives its name back`() throws {
    let app = { (name: String, options: String) in
      """
      local ml = require "moonloop"
      local name = FOLDER:match "[^/]+$" .. "\(name)"
      local port = assert(ml.port.listen(name, { \(options) function(_, message, reply)
        reply("\(name)\(options) got " .. message)
      end }))
      ml.current():task({ owner = "none" }, function()
        print(assert(ml.port.connect(name)):request "hello")
      end)
      """
    }
    let run = try ReloadRun.of(
      ["app.lua": app("a", "")],
      [
        Step(time: 1, files: ["app.lua": app("a", "keep_alive = true,")]),
        Step(time: 2, files: ["app.lua": app("a", "capacity = 5,")]),
        Step(time: 3, files: ["app.lua": app("b", "")]),
        Step(time: 4, files: ["app.lua": app("a", "capacity = 5,")]),
      ], seconds: 5)
    let lines = run.lines
    #expect(lines.count == 8, "\(lines)")
    #expect(lines.filter { $0.hasSuffix("got hello") }.count == 4, "\(lines)")
    #expect(lines.contains("akeep_alive = true, got hello"), "\(lines)")
    #expect(
      lines.contains {
        $0.contains("the port listens with a capacity of 65536, which a reload does not change")
      }, "\(lines)")
    #expect(lines.contains("acapacity = 5, got hello"), "\(lines)")
    #expect(run.reports == [])
  }

  @Test func `nothing grows in ten thousand loads`() throws {
    let files = ["app.lua": Self.everything, "part.lua": "return {}"]
    let few = try ReloadRun.of(files, loads: 100, seconds: 5)
    let many = try ReloadRun.of(files, loads: 10_000, seconds: 5)
    #expect(many.lines == ["loaded 10001"])
    #expect(many.references == few.references)
    #expect(many.memory < few.memory + 64, "KB of Lua")
  }

  @Test func `pending events come to the new handlers`() throws {
    let app = { (word: String) in
      """
      local ml = require "moonloop"
      local loop = ml.current()
      local source = loop:source { name = "source", modes = MODES, function()
        print("\(word) performs")
      end }
      local port = loop:port { name = "port", modes = MODES, function(port, message)
        print("\(word) gets " .. message)
      end }
      local early = loop:timer { first = 0.2, name = "early", modes = MODES, function(_, missed)
        print("\(word) fires")
      end }
      local socket = ml.net.udp { host = "127.0.0.1", name = "udp", modes = MODES,
        function(socket, data) print("\(word) receives " .. data) end }
      if not MODES then return end
      if ml.reload.generation() > 1 then return end
      source:signal()
      port:send "one"
      port:send "two"
      local other <close> = ml.net.udp { host = "127.0.0.1" }
      other:send("three", "127.0.0.1", socket.port)
      """
    }
    // In the mode 'later' nothing is served before the load.
    let run = try ReloadRun.of(
      ["app.lua": "MODES = 'later'\n" + app("old")],
      [Step(time: 1, files: ["app.lua": "MODES = 'default'\n" + app("new")])], seconds: 2)
    #expect(
      run.lines == [
        "new performs", "new gets one", "new fires", "generation 2: 4 kept, 0 made, 0 ended",
        "new receives three", "new gets two",
      ])
    #expect(run.reports == [])
  }

  @Test func `what is not made again ends, what handlers made goes on`() throws {
    let old = """
      local ml = require "moonloop"
      local loop = ml.current()
      GONE = {
        loop:timer { every = 1, name = "timer", function() print "old timer" end },
        loop:source { name = "source", cancel = function() print "cancelled" end,
          function() end },
        loop:port { name = "port" }, loop:signal("usr2", function() end),
        ml.net.listen { path = FOLDER .. "/gone", function() end },
      }
      local job = loop:task(function()
        local closing <close> = setmetatable({}, { __close = function() print "closed" end })
        ml.sleep(100)
      end)
      loop:after(0.5, function()
        loop:timer { every = 1, name = "of a handler", function() print "still here" end }
        loop:task(function() ml.sleep(2) print "slept" end)
      end)
      loop:timer { first = 0.2, function()
        ml.sleep(2)
        print "a handler goes on"
      end }
      """
    let new = """
      for _, handle in ipairs(GONE) do assert(handle:is_valid()) end
      require("moonloop").current():after(0.1, function()
        for _, handle in ipairs(GONE) do assert(not handle:is_valid(), tostring(handle)) end
        print "all gone"
      end)
      """
    let run = try ReloadRun.of(
      ["app.lua": old], [Step(time: 1.2, files: ["app.lua": new])], seconds: 2.9)
    #expect(
      run.lines == [
        "old timer", "cancelled", "closed", "generation 2: 0 kept, 1 made, 6 ended", "all gone",
        "still here", "a handler goes on", "still here", "slept",
      ])
    #expect(run.reports == [])
  }

  @Test func `another interval goes on from the last point of the grid`() throws {
    let app = { (interval: Double) in
      """
      local ml = require "moonloop"
      START = START or ml.now()
      ml.current():timer { every = \(interval), name = "t", function()
        print(("%.2f"):format(ml.now() - START))
      end }
      """
    }
    let run = try ReloadRun.of(
      ["app.lua": app(1)],
      [
        Step(time: 2.6, files: ["app.lua": app(0.5)]), Step(time: 3.2, files: ["app.lua": app(2)]),
      ], seconds: 5.5)
    #expect(
      run.lines == [
        "1.00", "2.00", "generation 2: 1 kept, 0 made, 0 ended", "3.00",
        "generation 3: 1 kept, 0 made, 0 ended", "5.00",
      ])
  }

  static let forbidden: [(text: String, message: String)] = [
    ("require 'moonloop'.sleep(1)", "cannot wait here: a file is reloaded in one go"),
    ("require 'moonloop'.current():run()", "the loop is already running"),
    ("coroutine.yield()", "app.lua:1: the file waits while it is reloaded, which it must not"),
    ("require 'moonloop'.current():task(print):wait()", "the loop is already running"),
    ("require 'moonloop'.reload()", "app.lua is being loaded"),
    ("while true do end", "its load was stopped"),
    ("error { message = 'a table' }", "a table"),
    ("error()", "nil"),
    ("error(setmetatable({}, { __tostring = function() error 'x' end }))", "a table"),
    (
      "require 'moonloop'.reload.state(5)",
      "ml.reload.state: the name must be a string, got 5 (app.lua:1)"
    ),
    (
      "require 'moonloop'.reload.state('x', 5)",
      "ml.reload.state: the default must be a table (its contents survive), got 5 (app.lua:1)"
    ),
    (
      "require 'moonloop'.reload.on_unload(5)",
      "ml.reload.on_unload: the handler must be a function, got 5 (app.lua:1)"
    ),
    ("require 'nothing'", "module 'nothing' not found"),
    ("require 'broken'", "broken.lua:1:"),
    ("return { timers = { a = {} } }", "app.lua:1: timers.a: 'handler' is missing"),
  ]

  @Test(arguments: forbidden)
  func `a file that cannot be loaded says why`(text: String, message: String) throws {
    let app = """
      local ml = require "moonloop"
      ml.limit { callout = 0.2 }
      ml.current():timer { every = 2, name = "beat", function() print "beat" end }
      """
    let run = try ReloadRun.of(
      ["app.lua": app, "broken.lua": "local = 1"],
      [Step(time: 1, files: ["app.lua": text])], seconds: 4.5, endsAtError: true)
    #expect(run.lines.count == 3)
    #expect(run.lines[0].hasPrefix("failed: ") && run.lines[0].contains(message), "\(run.lines)")
    #expect(run.lines.suffix(2) == ["beat", "beat"])
  }

  @Test func `a script that has become a configuration has its phases run`() throws {
    let run = try ReloadRun.of(
      ["app.lua": "require('moonloop').current():every(1, function() print 'script' end)"],
      [
        Step(
          time: 1.5,
          files: [
            "app.lua": """
            return {
              timers = { a = { every = 1, handler = function() print "configured" end } },
              run = { { timeout = 2.5 }, { mode = "none" } },
            }
            """
          ])
      ], seconds: 10)
    #expect(
      run.lines == [
        "script", "generation 2: 0 kept, 1 made, 1 ended", "configured", "configured",
      ])
    #expect(run.reports == [])
  }

  @Test func `what the file ends itself is not kept`() throws {
    let app = """
      local ml = require "moonloop"
      local loop = ml.current()
      TIMER = loop:timer { every = 1, name = "timer", function() print "timer" end }
      SOURCE = loop:source { name = "source", function() print "source" end }
      """
    let run = try ReloadRun.of(
      ["app.lua": app],
      [
        Step(
          time: 0.4,
          files: ["app.lua": app + "\nTIMER:invalidate() SOURCE:invalidate() error 'no'"]),
        Step(time: 1.5, files: ["app.lua": app + "\nTIMER:invalidate() SOURCE:invalidate()"]),
        Step(
          time: 1.6,
          files: ["app.lua": "print(TIMER:is_valid(), SOURCE:is_valid())"]),
      ], seconds: 3)
    #expect(
      run.lines == [
        "failed: app.lua:5: no ENOEXEC", "timer", "generation 2: 0 kept, 0 made, 2 ended",
        "false false", "generation 3: 0 kept, 0 made, 0 ended",
      ])
  }
}
