-- Golden files: texts that a test compares with what it kept, in the folder `golden` beside the
-- spec file. With `moonloop test --update` they are written instead.
local failure = require "moonloop.testing.failure"
local files = require "moonloop.testing.files"

local golden = {}

-- The tests of the present file that have snapshots, by the names of these.
local owners = {}

--- Forgets whose the snapshots are: another file begins.
function golden.begin_file() owners = {} end

--- Compares a text with a file, or writes it.
-- @param state that of the test's tools
-- @param name the path in the folder
function golden.compare(state, name, text)
  local path = files.folder_of(state.file) .. "golden/" .. name
  local expected, message = files.read(path)
  if state.options.update then
    if expected == text then return end
    local ok, why = files.write(path, text)
    if not ok then error("t:golden: " .. why, 3) end
    io.stderr:write("moonloop: test: wrote ", path, "\n")
    return
  end
  if not expected then
    failure.fail(("no golden file: %s; 'moonloop test --update' writes it"):format(message), 3)
  end
  if expected == text then return end
  failure.fail(("differs from %s; 'moonloop test --update' rewrites it"):format(path), 3,
    { expected = expected, actual = text })
end

--- The name of the next snapshot of a test: that of the spec file and the test.
function golden.name(state)
  state.snapshots = state.snapshots + 1
  local spec = state.file:match("([^/]+)%.lua$") or "spec"
  local name = files.name_of(state.name)
  if state.snapshots > 1 then name = name .. "-" .. state.snapshots end
  local owner = owners[name]
  if owner and owner.node ~= state.node then
    error(("t:snapshot: its file %s/%s.txt is already that of the test '%s'; rename one of them")
      :format(spec, name, owner.name), 3)
  end
  owners[name] = state
  return ("%s/%s.txt"):format(spec, name)
end

return golden
