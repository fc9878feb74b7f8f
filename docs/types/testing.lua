---@meta _
-- Tests
--
-- What spec files of `moonloop test` see besides `ml`: the words of busted, the test's loop, clock
-- and tools. The asserts are luassert's. See [testing.md](../testing.md).

---A test's function: its loop, the loop's clock, and tools that end with the test.
---@alias moonloop.test.Body fun(loop: moonloop.Loop, clock: moonloop.test.Clock, t: moonloop.test.Tools)

---@class moonloop.test.BlockOptions
---@field clock? "real"|"virtual"|"skip_idle" The clock of its tests; default "real".
---@field timeout? moonloop.Seconds Real time that each test and hook may take; default 60.
---@field orders? integer Run each test this many times, with another order of ready events each time.
---@field seed? integer The first seed of the orders; default 1.
---@field leaks? "fail"|"allow" Whether a test that leaves something behind fails; default "fail".
---@field tags? string[] Words that `--tags` selects by.

---A block of tests, whose options apply to everything in it.
---```lua
---describe("a list", { clock = "virtual" }, function()
---  it("is empty at first", function() assert.equal(0, #{}) end)
---end)
---```
---@overload fun(name: string, fn: fun())
---@param name string What is tested; `#tag` in it is a tag.
---@param options moonloop.test.BlockOptions May be left out.
---@param fn fun() Contains tests, hooks and blocks; called when its turn comes.
function describe(name, options, fn) end

---The same as `describe`.
---```lua
---context("a list", { clock = "virtual" }, function()
---  it("is empty at first", function() assert.equal(0, #{}) end)
---end)
---```
---@overload fun(name: string, fn: fun())
---@param name string What is tested; `#tag` in it is a tag.
---@param options moonloop.test.BlockOptions May be left out.
---@param fn fun() Contains tests, hooks and blocks; called when its turn comes.
function context(name, options, fn) end

---A block that leaves globals and loaded modules as it found them.
---Each file is such a block.
---```lua
---insulate("a block of its own", function()
---  it("sees its globals", function() answer = 42 assert.equal(42, answer) end)
---end)
---```
---@overload fun(name: string, fn: fun())
---@param name string What is tested; `#tag` in it is a tag.
---@param options moonloop.test.BlockOptions May be left out.
---@param fn fun() Contains tests, hooks and blocks; called when its turn comes.
function insulate(name, options, fn) end

---A block whose globals and loaded modules stay for the block around it.
---```lua
---expose("a helper", function() greeting = "hello" end)
---it("sees what was exposed", function() assert.equal("hello", greeting) end)
---```
---@overload fun(name: string, fn: fun())
---@param name string What is tested; `#tag` in it is a tag.
---@param options moonloop.test.BlockOptions May be left out.
---@param fn fun() Contains tests, hooks and blocks; called when its turn comes.
function expose(name, options, fn) end

---A test; it runs as a task on a loop of its own.
---Fails when an assert or a handler fails, and when something is left behind.
---```lua
---it("waits a second in no time", { clock = "virtual" }, function(loop, clock)
---  local fired = false
---  loop:after(1, function() fired = true end)
---  clock:advance(1)
---  assert.is_true(fired)
---end)
---```
---@overload fun(name: string, fn: moonloop.test.Body)
---@param name string What is expected; `#tag` in it is a tag.
---@param options moonloop.test.BlockOptions May be left out.
---@param fn moonloop.test.Body The test, which may wait.
function it(name, options, fn) end

---The same as `it`.
---```lua
---spec("waits a second in no time", { clock = "virtual" }, function(loop, clock)
---  local fired = false
---  loop:after(1, function() fired = true end)
---  clock:advance(1)
---  assert.is_true(fired)
---end)
---```
---@overload fun(name: string, fn: moonloop.test.Body)
---@param name string What is expected; `#tag` in it is a tag.
---@param options moonloop.test.BlockOptions May be left out.
---@param fn moonloop.test.Body The test, which may wait.
function spec(name, options, fn) end

---The same as `it`.
---```lua
---test("waits a second in no time", { clock = "virtual" }, function(loop, clock)
---  local fired = false
---  loop:after(1, function() fired = true end)
---  clock:advance(1)
---  assert.is_true(fired)
---end)
---```
---@overload fun(name: string, fn: moonloop.test.Body)
---@param name string What is expected; `#tag` in it is a tag.
---@param options moonloop.test.BlockOptions May be left out.
---@param fn moonloop.test.Body The test, which may wait.
function test(name, options, fn) end

---A test that is not run, but reported; in a test it ends the test as pending.
---```lua
---pending "shows a picture"
---it("needs a program", function() if true then pending "it is not installed" end end)
---```
---@overload fun(name: string, fn?: moonloop.test.Body)
---@param name string What is expected; `#tag` in it is a tag.
---@param options moonloop.test.BlockOptions May be left out.
---@param fn moonloop.test.Body The test, which may wait.
function pending(name, options, fn) end

---Called before each test of the block; those of outer blocks come first.
---```lua
---local list
---before_each(function() list = { 1 } end)
---it("finds its list", function() assert.equal(1, #list) end)
---```
---@param fn moonloop.test.Body May wait.
function before_each(fn) end

---Called after each test of the block, even a failed one; those of outer blocks come last.
---```lua
---after_each(function() collectgarbage() end)
---it("passes", function() end)
---```
---@param fn moonloop.test.Body May wait.
function after_each(fn) end

---Called once before the tests of the block.
---```lua
---local list
---setup(function() list = { 1 } end)
---it("finds its list", function() assert.equal(1, #list) end)
---```
---@param fn moonloop.test.Body May wait.
function setup(fn) end

---The same as `setup`, even with `--lazy`.
---```lua
---local list
---strict_setup(function() list = { 1 } end)
---it("finds its list", function() assert.equal(1, #list) end)
---```
---@param fn moonloop.test.Body May wait.
function strict_setup(fn) end

---Like `setup`, but only called if the block runs a test.
---```lua
---local list
---lazy_setup(function() list = { 1 } end)
---it("finds its list", function() assert.equal(1, #list) end)
---```
---@param fn moonloop.test.Body May wait.
function lazy_setup(fn) end

---Called once after the tests of the block, even if one failed.
---```lua
---teardown(function() collectgarbage() end)
---it("passes", function() end)
---```
---@param fn moonloop.test.Body May wait.
function teardown(fn) end

---The same as `teardown`, even with `--lazy`.
---```lua
---strict_teardown(function() collectgarbage() end)
---it("passes", function() end)
---```
---@param fn moonloop.test.Body May wait.
function strict_teardown(fn) end

---Like `teardown`, but only called if the block has run a test.
---```lua
---lazy_teardown(function() collectgarbage() end)
---it("passes", function() end)
---```
---@param fn moonloop.test.Body May wait.
function lazy_teardown(fn) end

---In a test: sets a function to call at its end, whether it passes or not.
---```lua
---it("tidies up", function()
---  local name = os.tmpname()
---  finally(function() os.remove(name) end)
---end)
---```
---@param fn fun() May wait.
function finally(fn) end

---Runs the tests of this block in random order.
---```lua
---randomize(7)
---it("runs first or second", function() end)
---it("runs second or first", function() end)
---```
---@param seed? integer|boolean The seed; false: in the order of the file.
function randomize(seed) end

---Waits until output matches a Lua pattern; the same as `output:expect`.
---```lua
---it("greets", function(loop, clock, t)
---  local p = t:spawn { "echo", "Hello, Ada" }
---  assert.equal("Ada", expect(p.stdout, "Hello, (%w+)"))
---  p:await()
---end)
---```
---@async
---@param output moonloop.test.Output `stdout` or `stderr` of what `t:spawn` started.
---@param pattern string A Lua pattern.
---@param within? moonloop.Seconds Default 5.
---@param options? { plain: boolean } Whether the pattern is plain text.
---@return string ... The captures, or the whole match.
function expect(output, pattern, within, options) end
