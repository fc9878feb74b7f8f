---@meta _
-- Terminals

---@class moonloop
local ml = {}

---`ml.tty`: opening terminals. See [terminals](../system.md#terminals).
---@class moonloop.tty
ml.tty = {}

---@class moonloop.TtyOptions
---@field fd? integer The descriptor of a terminal.
---@field raw? boolean Raw mode; default false.
---@field signals? boolean Let Ctrl-C and the like send signals in raw mode, too.
---@field name? string Name in reports.

---Opens a terminal: that of standard input, or the process's controlling terminal.
---In raw mode each key arrives at once, there is no echo, and Ctrl-C is a byte. The terminal is
---restored when the handle is closed, when the script ends, and when a signal ends or stops the
---process. Returns `nil, message, code`: "ENXIO" or "ENOTTY" if there is none.
---```lua
---loop:task(function()
---  local term <close> = ml.tty.open { raw = true }
---  if not term then return end   -- not a terminal
---  print(term:read(1))
---end)
---```
---@param options? moonloop.TtyOptions Optional.
---@return moonloop.Tty? tty The terminal.
---@return string? message
---@return string? code
function ml.tty.open(options) end

---Whether a descriptor is a terminal.
---```lua
---print(ml.tty.is_tty(0))   --> false
---```
---@param fd integer Such as 0 for standard input.
---@return boolean is False for a file, a pipe or a closed descriptor.
function ml.tty.is_tty(fd) end

---A terminal, opened by `ml.tty.open`.
---@class moonloop.Tty
local tty = {}

---The width of the terminal now, in characters.
---0 if the terminal does not know.
---```lua
---loop:task(function()
---  local term <close> = ml.tty.open { raw = true }
---  if not term then return end   -- not a terminal
---  print(term.columns)
---end)
---```
---@type integer
tty.columns = nil

---The height of the terminal now, in lines.
---0 if the terminal does not know.
---```lua
---loop:task(function()
---  local term <close> = ml.tty.open { raw = true }
---  if not term then return end   -- not a terminal
---  print(term.rows)
---end)
---```
---@type integer
tty.rows = nil

---Whether it is in raw mode.
---Settable.
---```lua
---loop:task(function()
---  local term <close> = ml.tty.open { raw = true }
---  if not term then return end   -- not a terminal
---  term.raw = false
---end)
---```
---@type boolean
tty.raw = nil

---The stream of the terminal, for everything that the handle itself does not offer.
---It ends with the handle.
---```lua
---loop:task(function()
---  local term <close> = ml.tty.open { raw = true }
---  if not term then return end   -- not a terminal
---  print(term.stream)
---end)
---```
---@type moonloop.Stream
tty.stream = nil

---Reads what the user types, as `stream:read` does; in raw mode ask for bytes, not lines.
---Returns `nil, message, code` as `stream:read`.
---```lua
---loop:task(function()
---  local term <close> = ml.tty.open { raw = true }
---  if not term then return end   -- not a terminal
---  local key = term:read(1)
---end)
---```
---@async
---@param format? integer|"l"|"L"|"a"|"n" Default "l".
---@return string? data The data; nil at the end.
---@return string? message
---@return string? code
function tty:read(format) end

---Reads what was typed so far, at least one byte, as `stream:read_some` does.
---Returns `nil, message, code` as `stream:read_some`.
---```lua
---loop:task(function()
---  local term <close> = ml.tty.open { raw = true }
---  if not term then return end   -- not a terminal
---  local keys = term:read_some()
---end)
---```
---@async
---@param max? integer Maximum number of bytes to read.
---@return string? data An escape sequence usually arrives whole.
---@return string? message
---@return string? code
function tty:read_some(max) end

---Iterates over the lines as they are typed, as `stream:lines` does.
---```lua
---loop:task(function()
---  local term <close> = ml.tty.open { raw = true }
---  if not term then return end   -- not a terminal
---  term.raw = false
---  for line in term:lines() do print(line) end
---end)
---```
---@return fun(): string? next The iterator.
function tty:lines() end

---Writes to the terminal, as `stream:write` does.
---Returns `nil, message, code` as `stream:write`.
---```lua
---loop:task(function()
---  local term <close> = ml.tty.open { raw = true }
---  if not term then return end   -- not a terminal
---  term:write("\27[2J")
---end)
---```
---@async
---@param ... string|number Strings or numbers, written one after the other.
---@return moonloop.Stream? stream The stream of the terminal.
---@return string? message
---@return string? code
function tty:write(...) end

---Sets the function to call when the size changes; it replaces the former one.
---Does not keep a run alive.
---```lua
---loop:task(function()
---  local term <close> = ml.tty.open { raw = true }
---  if not term then return end   -- not a terminal
---  term:on_resize(function(term, columns, rows) print(columns, rows) end)
---end)
---```
---@param handler fun(tty: moonloop.Tty, columns: integer, rows: integer)|nil The function, or nil for none.
---@return moonloop.Tty tty The handle itself.
function tty:on_resize(handler) end

---Closes and restores the terminal; a `<close>` variable does the same.
---```lua
---loop:task(function()
---  local term <close> = ml.tty.open { raw = true }
---  if not term then return end   -- not a terminal
---  term:invalidate()
---end)
---```
function tty:invalidate() end

---Whether it is open.
---```lua
---loop:task(function()
---  local term <close> = ml.tty.open { raw = true }
---  if not term then return end   -- not a terminal
---  print(term:is_valid())
---end)
---```
---@return boolean valid False once it was closed.
function tty:is_valid() end
