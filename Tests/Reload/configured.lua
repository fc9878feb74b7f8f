-- A configuration that is reloaded by SIGHUP: configured.lua PROGRAM
local ml = require "moonloop"
local folder = (os.getenv "TMPDIR" or "/tmp") .. ("/moonloop-conf-%d"):format(ml.process.id())
assert(ml.process.run({ "mkdir", folder }).code == 0)

local function save(name, text)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  file:write(text)
  file:close()
end

local CONFIGURATION <const> = [[return {
  timers = { beat = { EVERY = 0.05, handler = "handlers.beat" }, MORE },
  signals = { hup = { reload = true }, usr1 = { stop = true } },
  run = { { mode = "default" }, PHASES },
}]]
local EXTRA <const> = "extra = { first = 0.01, handler = 'handlers.extra' }"
local PHASES <const> = "{ mode = 'drain' }"
local DRAIN <const> = "drain = { first = 0.01, modes = 'drain', handler = 'handlers.drain' }"
local HANDLERS <const> = [[
local n = 0
return {
  beat = function() n = n + 1 if n == 1 then print "beat WORD" io.flush() end end,
  extra = function() print "extra" io.flush() end,
  drain = function() print "draining" end,
}]]
local function configure(every, more, phases)
  save("app.lua", (CONFIGURATION:gsub("%u+", { EVERY = every, MORE = more, PHASES = phases })))
end
save("handlers.lua", (HANDLERS:gsub("WORD", "one")))
configure("every", "", "")

local program <close> = assert(ml.process.spawn { arg[1], "run", "app.lua", cwd = folder,
  stdout = "pipe", stderr = "pipe" })
local function report(pattern)
  for line in program.stderr:lines() do
    local found = line:match(pattern)
    if found then return found end
  end
  error("no report of " .. pattern)
end
print(program.stdout:read "l")

save("handlers.lua", (HANDLERS:gsub("WORD", "two")))
configure("every", EXTRA .. ", " .. DRAIN, PHASES)
program:kill "hup"
print(report "reloaded (.*)")
local lines = { program.stdout:read "l", program.stdout:read "l" }
table.sort(lines)
print(lines[1], lines[2])
configure("evry", "", "")
program:kill "hup"
print(report "not reloaded: (.*)")
program:kill "usr1"
print(program.stdout:read "l")
print("status", program:await().code)
ml.process.run { "rm", "-r", folder }
