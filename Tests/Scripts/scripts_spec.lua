-- The scripts beside this file, as tests: `swift test` runs the same ones in separate states.
local bed = require "moonloop.testing.bed"

local here = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"

-- What only `swift test` can run, and why.
local compares = "compares with liblua's own functions, which no script can reach"
local alone = {
  ["StandardLibrary/patterns.lua"] = compares,
  ["StandardLibrary/tables.lua"] = compares,
  ["Streams/finalizers.lua"] = "wants many collections: a heap without a test runner in it",
}
-- Errors that a script causes on purpose.
local reports = { ["Tasks/failure.lua"] = 2 }

-- What the scripts expect of their host.
local host = {
  pipe = bed.pipe, close = bed.close, write = bed.write, open_file = bed.open, seed = 1,
  print = function() end,
  same = function(actual, expected) assert.same(expected, actual) end,
}

--- Reads a script, with its own globals.
local function load_script(name)
  local globals = {}
  for key, value in pairs(_G) do globals[key] = value end
  for key, value in pairs(host) do globals[key] = value end
  local file <close> = assert(io.open(here .. name))
  return assert(load(file:read "a", "@" .. name, "t", globals))
end

--- Runs a script as `moonloop run` does: as the main chunk of a loop that runs nothing else.
local function run(name)
  local script = load_script(name)
  bed.enter { clock = "virtual", name = "the loop of a script" }
  local ending = bed.start(60, script)
  local left = {}
  for _, one in ipairs(bed.leftovers()) do left[#left + 1] = one.text end
  bed.leave()
  assert.equal("ok", ending.status)
  assert.equal(reports[name] or 0, #ending.reports, table.concat(ending.reports, "\n"))
  assert.same({}, left)
end

for _, folder in ipairs(assert(bed.files(here))) do
  for _, file in ipairs(folder.kind == "directory" and bed.files(here .. folder.name) or {}) do
    local name = folder.name .. "/" .. file.name
    if alone[name] then
      pending(name .. ": " .. alone[name])
    elseif name:find "%.lua$" then
      it(name, function() run(name) end)
    end
  end
end
