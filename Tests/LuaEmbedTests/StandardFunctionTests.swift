// The standard functions that we replace: they do what liblua's do, and nothing else is changed.

import LuaEmbed
import Testing

@Suite("The standard functions that are ours")
struct StandardFunctionTests {
  @Test(
    "pass the scripts that stock Lua passes",
    arguments: ["string", "table", "coroutine", "load"])
  func battery(name: String) throws {
    let text = try scriptText("StandardLibrary/\(name).lua")
    #expect(runStock(text, name: "@\(name).lua") == "")
    let lua = try LuaState()
    try lua.run(text, name: "@\(name).lua")
  }

  @Test(
    "give what stock Lua's give, call by call",
    arguments: [("patterns", 6000), ("tables", 2500)], [1, 2])
  func comparison(_ battery: (name: String, rounds: Int), _ seed: Int) throws {
    let lua = try LuaState()
    lua.addStock()
    lua.set("rounds", battery.rounds * testScale)
    lua.set("seed", seed + (testScale > 1 ? testScale : 0))
    try lua.run(try scriptText("StandardLibrary/\(battery.name).lua"), name: "@\(battery.name).lua")
  }

  /// Names and types of all globals, and of the fields of libraries and of their metatables.
  private static let reach = """
    local lines, seen = {}, {}
    local function list(path, t)
      if seen[t] then return end
      seen[t] = true
      local keys = {}
      for k in next, t do keys[#keys + 1] = tostring(k) end
      table.sort(keys)
      for _, k in ipairs(keys) do
        local v = t[k] or t[tonumber(k)]
        lines[#lines + 1] = path .. k .. ": " .. type(v)
        if type(v) == 'table' then list(path .. k .. '.', v) end
      end
      local m = debug.getmetatable(t)
      if m then list(path .. '(metatable).', m) end
    end
    list('', _G)
    list('(string).', debug.getmetatable(''))
    list('(file).', debug.getmetatable(io.stdout))
    table.sort(lines)
    return table.concat(lines, '\\n')
    """

  @Test("are all that differs from stock Lua: it gains and loses nothing")
  func reachable() throws {
    let lua = try LuaState()
    let ours: String = try lua.evaluate(Self.reach)
    let stock = runStock(Self.reach)
    let added = Set(ours.split(separator: "\n")).subtracting(stock.split(separator: "\n"))
    #expect(added.sorted() == [])
    #expect(ours == stock)
    #expect(ours.contains("coroutine.close: function"))
  }

  /// Functions in the libraries that differ from liblua's, compared as functions.
  @Test("are these")
  func replaced() throws {
    let lua = try LuaState()
    lua.addStock()
    let names: String = try lua.evaluate(
      """
      local names = {}
      for library, functions in pairs(stock) do
        for name, f in pairs(functions) do
          local ours = package.loaded[library][name]
          -- The same C function is the same value, as it has no upvalues.
          if ours ~= f then
            names[#names + 1] = (library == '_G' and '' or library .. '.') .. name
          end
        end
      end
      table.sort(names)
      return table.concat(names, ' ')
      """)
    #expect(
      names == """
        coroutine.close coroutine.create coroutine.isyieldable coroutine.resume coroutine.running \
        coroutine.wrap coroutine.yield dofile io.input io.lines io.open io.output io.popen load \
        loadfile os.execute os.getenv os.remove os.rename package.loadlib package.searchpath pcall \
        print string.find string.gmatch string.gsub string.match string.rep table.concat \
        table.insert table.move table.remove table.sort warn xpcall
        """)
  }

  @Test("refuse the host's coroutines, which a script can get hold of")
  func tasks() throws {
    let lua = try LuaState()
    lua.setHost(Unmanaged.passUnretained(lua).toOpaque())
    let stack = lua.stack
    stack.push(function: { _, _ in LuaStatus.wait(handing: 0) })
    stack.popGlobal("wait")
    let outcome = lua.start(push: { stack in
      do { try lua.load("task = coroutine.running() wait() return 1", name: "=t", on: stack) } catch
      {}
      return 0
    })
    guard case .suspended(let task) = outcome else { return #expect(Bool(false)) }
    try lua.run(
      """
      local ok, e = coroutine.resume(task)
      assert(not ok and e == 'cannot resume a task of the loop; await it or cancel it', e)
      local ok, e = pcall(coroutine.close, task)
      assert(not ok and e == 'cannot close a task of the loop; await it or cancel it', e)
      local f = coroutine.wrap(function() return coroutine.resume(task) end)
      local ok, e = f()
      assert(not ok and e == 'cannot resume a task of the loop; await it or cancel it', e)
      assert(coroutine.status(task) == 'suspended' and not coroutine.isyieldable(task))
      """)
    guard case .returned = lua.resume(task) else { return #expect(Bool(false)) }
    // It is back in the pool, where it must not be revived either.
    try lua.run("assert(not coroutine.resume(task)) pcall(coroutine.close, task)")
    #expect(lua.tasksInUse == 0)
    #expect(try lua.evaluate("return 1 + 1") == 2)
    lua.close()
  }

  @Test("load no bytecode where only text is allowed")
  func textOnly() throws {
    let lua = try LuaState()
    lua.allowTextOnly()
    try lua.run(
      """
      local code = string.dump(function() return 1 end)
      for _, mode in ipairs { 'b', 'bt', 't' } do
        local f, e = load(code, 'x', mode)
        assert(f == nil and e:find('attempt to load a binary chunk', 1, true), e)
        assert(load(function() local c = code code = nil return c end, 'x', mode) == nil)
        code = string.dump(function() return 1 end)
      end
      assert(load('return 1', 'x')() == 1 and load('return 1', 'x', 'bt')() == 1)
      assert(load('return 1', 'x', 'b') == nil)
      """)
  }
}
