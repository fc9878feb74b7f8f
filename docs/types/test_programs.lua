---@meta _
-- Programs in tests
--
-- What `t:spawn` returns: its outputs, and the screen of its terminal. See
-- [testing.md](../testing.md#driving-programs).

---A program that `t:spawn` started; it also has everything that a process has.
---@class moonloop.test.Program
---@field stdout moonloop.test.Output What it writes to standard output.
---@field stderr moonloop.test.Output What it writes to standard error.
---@field stdin moonloop.Stream? Its standard input, with `stdin = "pipe"`.
---@field screen moonloop.test.Screen? What its terminal shows, with `pty = true`.
local program = {}

---Waits until its standard output matches a Lua pattern, after what was matched before.
---```lua
---it("runs", function(loop, clock, t)
---  local p = t:spawn { "sh", "-c", "echo ready; cat", stdin = "pipe" }
---  p:expect "ready"
---  p.stdin:close()
---  assert.equal(0, p:await().code)
---end)
---```
---@async
---@param pattern string A Lua pattern.
---@param within? moonloop.Seconds Default 5.
---@param options? { plain: boolean } Whether the pattern is plain text.
---@return string ... The captures, or the whole match.
function program:expect(pattern, within, options) end

---Types text on the terminal of the program.
---Raises an error if it was not started with `pty = true`.
---```lua
---it("asks", function(loop, clock, t)
---  local p = t:spawn { "sh", "-c", "read name; echo Hello, $name", pty = true }
---  p:type "moon\r"
---  p.screen:expect "Hello, moon"
---end)
---```
---@param text string The text; `\r` is the enter key.
---@return moonloop.Stream? stream Nil, message and code if the terminal is closed.
function program:type(text) end

---Presses keys on the terminal of the program.
---"enter", "tab", "shift-tab", "escape", "space", "backspace", "up", "down", "left", "right",
---"home", "end", "page_up", "page_down", "insert", "delete", "f1" to "f12", "ctrl-c", "alt-x", or
---a character. Raises an error for an unknown key, with the nearest one.
---```lua
---it("is interrupted", function(loop, clock, t)
---  local p = t:spawn { "sh", "-c", "echo ready; read line", pty = true }
---  p:expect "ready"
---  p:press "ctrl-c"
---  assert.equal("int", p:await().signal)
---end)
---```
---@param ... string The keys.
---@return moonloop.Stream? stream Nil, message and code if the terminal is closed.
function program:press(...) end

---Resizes the program's terminal; what is shown stays, as far as it fits.
---```lua
---it("fits", function(loop, clock, t)
---  local p = t:spawn { "sh", "-c", "read x; stty size", pty = true }
---  p:resize(40, 10)
---  p:press "enter"
---  p.screen:expect "10 40"
---end)
---```
---@param columns integer The width.
---@param rows integer The height.
---@return true? resized Nil, message and code if the terminal is closed.
function program:resize(columns, rows) end

---Waits until it has ended.
---Fails if it has not within a time, if that is given.
---```lua
---it("runs", function(loop, clock, t)
---  local p = t:spawn { "sh", "-c", "echo ready; cat", stdin = "pipe" }
---  p:expect "ready"
---  p.stdin:close()
---  assert.equal(0, p:await(5).code)
---end)
---```
---@async
---@param within? moonloop.Seconds Default: as long as the test may take.
---@return moonloop.ProcessStatus status How it ended.
function program:await(within) end

---@class moonloop.test.StopOptions: moonloop.TerminateOptions
---@field grace? moonloop.Seconds Time until it is killed; default 2.

---Asks it to end, and waits; it is killed if it has not ended after a while.
---```lua
---it("stops", function(loop, clock, t)
---  assert.equal("term", t:spawn({ "sleep", "10" }):stop().signal)
---end)
---```
---@async
---@param options? moonloop.test.StopOptions Optional.
---@return moonloop.ProcessStatus status How it ended.
function program:stop(options) end

---Sends it a signal.
---```lua
---it("is killed", function(loop, clock, t)
---  local p = t:spawn { "sleep", "10" }
---  p:kill "term"
---  assert.equal("term", p:await().signal)
---end)
---```
---@param signal? string|integer Default "kill".
---@return true? sent Nil, message and code if it has ended.
function program:kill(signal) end

---Whether its end has not been reported yet.
---```lua
---it("ends", function(loop, clock, t)
---  local p = t:spawn { "true" }
---  p:await()
---  assert.is_false(p:is_valid())
---end)
---```
---@return boolean valid True while it runs.
function program:is_valid() end

---What the terminal of a program shows: rows of cells, as an xterm draws them.
---@class moonloop.test.Screen
---@field columns integer Its width.
---@field rows integer Its height.
---@field title string The title that the program has set.
local screen = {}

---Waits until the text of the screen matches a Lua pattern.
---The text is that of `text()`, with the blanks in front of the cursor, as those of a prompt. A
---failure shows the screen.
---```lua
---it("greets", function(loop, clock, t)
---  local p = t:spawn { "printf", "\27[5;3HHello, moon", pty = true }
---  assert.equal("moon", p.screen:expect "Hello, (%a+)")
---end)
---```
---@async
---@param pattern string A Lua pattern.
---@param within? moonloop.Seconds Default 5.
---@param options? { plain: boolean } Whether the pattern is plain text.
---@return string ... The captures, or the whole match.
function screen:expect(pattern, within, options) end

---All rows as one text, without blanks at their ends, and without empty rows at the end.
---```lua
---it("draws", function(loop, clock, t)
---  local p = t:spawn { "printf", "one\r\n\r\nthree", pty = true }
---  p:await()
---  assert.equal("one\n\nthree", p.screen:text())
---end)
---```
---@return string text The text.
function screen:text() end

---The text of a row, without blanks at its end.
---```lua
---it("draws", function(loop, clock, t)
---  local p = t:spawn { "printf", "\27[2;3Hhere", pty = true }
---  p:await()
---  assert.equal("  here", p.screen:line(2))
---end)
---```
---@param row integer From 1.
---@return string text The text.
function screen:line(row) end

---The character at a place, and how it is drawn.
---```lua
---it("is red", function(loop, clock, t)
---  local p = t:spawn { "printf", "\27[1;31mred", pty = true }
---  p:await()
---  assert.same({ text = "r", color = "red", bold = true }, p.screen:cell(1, 1))
---end)
---```
---@param row integer From 1.
---@param column integer From 1.
---@return moonloop.test.Cell cell The cell.
function screen:cell(row, column) end

---One place of a screen.
---@class moonloop.test.Cell
---@field text string Its character; empty after a wide one.
---@field color? string|integer "red", "bright red", "#ff8000", or a number from 16 to 255.
---@field background? string|integer Likewise.
---@field bold? true Whether it is bold.
---@field dim? true Whether it is dimmed.
---@field italic? true Whether it is italic.
---@field underline? true Whether it is underlined.
---@field blink? true Whether it is blinking.
---@field reverse? true Whether it is in reversed colours.
---@field hidden? true Whether it is hidden.
---@field struck? true Whether it is struck through.

---Where the cursor is.
---```lua
---it("moves", function(loop, clock, t)
---  local p = t:spawn { "printf", "\27[3;7H", pty = true }
---  p:await()
---  assert.same({ row = 3, column = 7, visible = true }, p.screen:cursor())
---end)
---```
---@return { row: integer, column: integer, visible: boolean } cursor Its place.
function screen:cursor() end

---The place at which a text begins.
---```lua
---it("finds", function(loop, clock, t)
---  local p = t:spawn { "printf", "\27[2;3Hhere", pty = true }
---  p:await()
---  assert.same({ 2, 3 }, { p.screen:find "here" })
---end)
---```
---@param text string Plain text.
---@return integer? row Nil if it is not there.
---@return integer? column
function screen:find(text) end

---What a program writes to its standard output or standard error.
---@class moonloop.test.Output
---@field text string What it has written so far.
local output = {}

---Waits until the output matches a Lua pattern, after what was matched before.
---Fails if it does not in time.
---```lua
---it("greets", function(loop, clock, t)
---  local p = t:spawn { "echo", "Hello, Ada" }
---  assert.equal("Ada", p.stdout:expect "Hello, (%w+)")
---  p:await()
---end)
---```
---@async
---@param pattern string A Lua pattern.
---@param within? moonloop.Seconds Default 5.
---@param options? { plain: boolean } Whether the pattern is plain text.
---@return string ... The captures, or the whole match.
function output:expect(pattern, within, options) end

---Waits until the output has ended, and returns all of it; of more than 16 MiB, the end.
---```lua
---it("says everything", function(loop, clock, t)
---  assert.equal("a\n", t:spawn({ "echo", "a" }).stdout:all())
---end)
---```
---@async
---@param within? moonloop.Seconds Default 5.
---@return string text Everything it wrote.
function output:all(within) end
