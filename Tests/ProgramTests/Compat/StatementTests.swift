// Database statements whose waits were given up, in real time: LuaSQL's calls in C.

import Foundation
import Testing

@Suite("Statements of databases that are stopped")
struct StatementTests {
  @Test func `a limit ends a statement of SQLite`() throws {
    let script = """
      local db = require "luasql.sqlite3".sqlite3():connect ":memory:"
      local query = [[with recursive n(i) as (select 1 union all select i from n)
        select count(*) from n]]
      require "moonloop".current():after(0, function()
        assert(db:execute(query))
      end)
      """
    let outcome = try withFile(script, name: "app.lua") {
      try moonloop(["run", "--callout", "100ms", $0])
    }
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("call-out took longer than 0.1 seconds"), "\(outcome)")
    #expect(outcome.errors.contains("app.lua:5: in function"), "\(outcome)")
  }

  /// A driver in Lua, with one statement that lasts until another connection ends it.
  static let driver = #"""
    local posix = require "moonloop.posix"
    local stop = os.getenv "STOP_FILE"
    local function class(name, methods)
      local meta = { __name = name, __index = methods, __tostring = function() return name end }
      debug.getregistry()[name] = meta
      return function() return debug.setmetatable(posix.blank(), meta) end
    end
    local cursor = class("MySQL cursor", {
      fetch = function(self, row)
        local value = debug.getuservalue(self, 1)
        debug.setuservalue(self, nil, 1)
        if row then row[1] = value end
        return value and (row or value)
      end,
      getcolnames = function() return { "value" } end,
      getcoltypes = function() return { "text" } end,
      close = function() return true end,
    })
    local connection = class("MySQL connection", {
      execute = function(_, statement)
        local asked = statement:match "^select (%d+)$"
        if statement == "select connection_id()" then asked = 38 end
        if asked then
          local made = cursor()
          debug.setuservalue(made, asked, 1)
          return made
        end
        if statement == "kill query 38" then return assert(io.open(stop, "w")):close() end
        repeat local file = io.open(stop) until file
        return nil, "interrupted"
      end,
      close = function() return true end,
    })
    local environment = class("MySQL environment", {
      connect = function() return connection() end,
      close = function() return true end,
    })
    return { mysql = environment }
    """#

  @Test func `a statement at a server ends when its task does, and the connection goes on`() throws
  {
    let script = """
      local ml = require "moonloop"
      require "moonloop.compat.socket"
      ml.current():task(function()
        local connection = require "luasql.mysql".mysql():connect()
        print(select(3, ml.timeout(0.05, connection.execute, connection, "wait")))
        print(connection:execute "select 7":fetch())
        print((connection:close()))
      end)
      """
    let outcome = try withFile(script) { file in
      let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
      let drivers = folder.appendingPathComponent("luasql")
      try FileManager.default.createDirectory(at: drivers, withIntermediateDirectories: true)
      try Data(Self.driver.utf8).write(to: drivers.appendingPathComponent("mysql.lua"))
      return try Program(["run", file], environment: ["STOP_FILE": file + ".stop"]).wait()
    }
    #expect(outcome.output == "ETIMEDOUT\n7\ntrue\n", "\(outcome)")
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
  }
}
