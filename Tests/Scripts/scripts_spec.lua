-- The scripts beside this file, as tests: `swift test` runs the same ones in states of their own.
local bed = require "moonloop.bed"

local here = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"

-- These stay with `swift test`, which gives them a loop that runs nothing else, or a second Lua:
-- they look at all that the loop holds, are to be at top level, report errors on purpose, or
-- compare with the stock functions.
local alone = {}
for name in ([[
  compat/uv_timers configuration/making configuration/mistakes inspect/dump inspect/why items/modes
  net/closing net/connecting net/echo net/failures net/half_close net/slow net/udp
  process/wait process/words
  standard/patterns standard/tables stock/hooks stream/copying stream/waiting
  task/channel task/failure task/scope task/wait
]]):gmatch "%S+" do alone[name .. ".lua"] = true end

-- What the scripts expect of their host.
local host = {
  pipe = bed.pipe, close = bed.close, write = bed.write, open_file = bed.open, seed = 1,
  print = function() end,
  same = function(actual, expected) assert.same(expected, actual) end,
}

local function run(name, loop)
  local globals = setmetatable({}, { __index = function(_, key)
    local value = host[key]
    if value == nil then value = _G[key] end
    return value
  end })
  assert(loadfile(here .. name, "t", globals))()
  loop:run { timeout = 1e6 }  -- what the script began is to end as well
end

for _, folder in ipairs(assert(bed.files(here))) do
  for _, file in ipairs(folder.kind == "directory" and bed.files(here .. folder.name) or {}) do
    local name = folder.name .. "/" .. file.name
    if alone[name] then
      pending(name)
    elseif name:find "%.lua$" then
      it(name, { clock = "virtual" }, function(loop) run(name, loop) end)
    end
  end
end
