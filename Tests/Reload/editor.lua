-- What you see when you edit a program that runs with --watch: editor.lua PROGRAM
local ml = require "moonloop"
local folder = (os.getenv "TMPDIR" or "/tmp") .. ("/moonloop-editor-%d"):format(ml.process.id())
assert(ml.process.run({ "mkdir", folder }).code == 0)

-- Saves as editors do: beside it, then by renaming.
local function save(name, text)
  local file = assert(io.open(folder .. "/" .. name .. "~", "w"))
  file:write(text)
  file:close()
  assert(os.rename(folder .. "/" .. name .. "~", folder .. "/" .. name))
end

local SERVER <const> = [[
local ml = require "moonloop"
local server = ml.net.listen { path = "socket", function(stream)
  for line in stream:lines() do stream:write("WORD: ", line, "\n") end
end }
require "parts"
]]
save("app.lua", SERVER:gsub("WORD", "old") .. "")
save("parts.lua", "print('module: first') return {}")

local program <close> = assert(ml.process.spawn { arg[1], "run", "--watch", "app.lua",
  cwd = folder, stdout = "pipe", stderr = "pipe" })
-- The next line of its report that has a text.
local function report(pattern)
  for line in program.stderr:lines() do
    assert(not line:find "moonloop/", "a call of ours in a traceback: " .. line)
    local found = line:match(pattern)
    if found then return found end
  end
  error("no report of " .. pattern)
end
local function connect() return assert(ml.net.connect { path = folder .. "/socket" }) end
local function echo(stream)
  stream:write "hello\n"
  return stream:read "l"
end

assert(program.stdout:read "l" == "module: first")
local old <close> = connect()
print(echo(old))
save("app.lua", SERVER:gsub("WORD", "new") .. "")
report "generation (2)"
print("old connection: " .. echo(old))
local new <close> = connect()
print("new connection: " .. echo(new))
assert(program.stdout:read "l" == "module: first")

save("parts.lua", "print('module: better') return {}")
report "generation (3)"
print(program.stdout:read "l")
save("parts.lua", "return { }}")
print("broken: " .. report "not reloaded: (.*)", report "parts.lua:(%d+:.*)")
report "generation 3 of app.lua continues()"
save("parts.lua", "print('module: best') return {}")
report "generation (4)"
print(program.stdout:read "l")
program:kill "hup"
print("hup: generation " .. report "generation (5)")

old:close()
new:close()
save("app.lua", "local nothing")
print(report "(nothing left)")
save("app.lua", SERVER:gsub("WORD", "new") .. "")
report "generation (7)"
local last <close> = connect()
print("alive again: " .. echo(last))
last:close()
program:kill "term"
print("status", program:await().code or 128 + 15)
ml.process.run { "rm", "-r", folder }
