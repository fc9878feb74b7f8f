-- The third parameter of a test: tools to drive real programs. They end with the test.
--
-- Hooks get it too: before_each and after_each that of their test, setup and teardown that of their
-- block, whose things last as long as the block.
local bed = require "moonloop.testing.bed"
local ml = require "moonloop"
local beds = require "moonloop.testing.beds"
local failure = require "moonloop.testing.failure"
local files = require "moonloop.testing.files"
local golden = require "moonloop.testing.golden"
local orphans = require "moonloop.testing.orphans"
local output = require "moonloop.testing.output"
local programs = require "moonloop.testing.programs"
local properties = require "moonloop.testing.properties"
local http_double = require "moonloop.testing.doubles.http"
local tcp_double = require "moonloop.testing.doubles.tcp"
local host = require "moonloop.text.host"
local requests = require "moonloop.testing.requests"
local quoting = require "moonloop.text.quoting"
local spelling = require "moonloop.text.spelling"
local values = require "moonloop.testing.values"

local tools = {}
local methods = {}
tools.__name = "moonloop.testing.tools"
tools.begin_file = golden.begin_file
tools.__index = function(_, key)
  if key == "any" then return properties.any end
  local method = methods[key]
  if method == nil then
    if key == "fetch" then host.mistake("t: unknown field 'fetch'", "; did you mean 'get'?") end
    spelling.no_field("t", key, {}, methods)
  end
  return method
end

-- Seconds between polls.
local LOOK_EVERY = 0.005

-- The state of each: its spec file, its folder, and what to end. Not fields, so that the only
-- fields are methods and a misspelt name is reported.
local states = setmetatable({}, { __mode = "k" })

--- Makes the tools of a test or block.
-- @param file the path of the spec file
-- @param name the full name of the test or block
-- @param node the test or block
-- @param leaks "allow" if it may leave things behind
function tools.new(file, options, name, node, leaks)
  local t = setmetatable({}, tools)
  states[t] = { file = file, options = options, name = name, node = node, leaks = leaks,
    snapshots = 0, actions = {}, programs = {}, runs = {}, folders = {}, searches = {} }
  return t
end

--- The state behind the tools; a call without a colon is an error.
local function state_of(t, name)
  return states[t] or error(("t:%s: must be called with a colon"):format(name), 3)
end

--- Ends everything made with them, last things first.
-- @param call runs a function of the spec, which may wait
-- @param keeps asked at the end: whether its folders stay
function tools.close(t, call, keeps)
  local state = states[t]
  -- These may make more to end.
  while #state.actions > 0 do call(table.remove(state.actions)) end
  local left = orphans.finish(state)
  if left and state.leaks ~= "allow" then call(function() failure.fail(left, 0) end) end
  local stays = next(state.folders) and keeps()
  for _, folder in pairs(state.folders) do
    local ok, message = true, nil
    if stays then
      io.stderr:write(("moonloop: test: kept %s of '%s'\n"):format(folder,
        quoting.line(state.name ~= "" and state.name or state.file)))
    else
      ok, message = bed.remove_folder(folder)
    end
    if not ok then call(function() error(message, 0) end) end
  end
  states[t] = nil
end

--- A message; with what `t:forall` has found when it is stopped, and with other advice for a test
-- that takes its first parameter, the loop, for the tools.
-- @param t the tools of the test or block, if it has asked for them
function tools.advised(message, t)
  local search = t and states[t].searches[1]
  if search and search.text then message = message .. "\n" .. search.text end
  if t then states[t].searches = {} end
  local name = message:match "^loop: unknown field '([%w_]+)'"
  if not methods[name] then return message end
  return message:gsub("; did you mean [^\n]*", "")
    .. "; t is the third parameter of a test: function(loop, clock, t)"
end

--- Waits until output matches a pattern; also the word `expect` in spec files.
function tools.expect(stream, pattern, within, options)
  if getmetatable(stream) ~= output then
    error("expect: needs stdout or stderr of a program started with t:spawn", 2)
  end
  return stream:expect(pattern, within, options, "expect")
end

--- The ends and the output of its programs, for the report of a failure.
-- @param reported what the report says already
function tools.said(t, reported)
  local texts = {}
  for _, program in ipairs(states[t].programs) do
    local text = programs.said(program, reported)
    if text ~= "" then texts[#texts + 1] = text end
  end
  return table.concat(texts, "\n")
end

-- Calls a function with each program of the blocks around a test.
local function each_around(node, body)
  local block = node.parent
  while block do
    for _, program in ipairs(block.tools and states[block.tools].programs or {}) do
      body(program)
    end
    block = block.parent
  end
end

--- Waits for the ends of the programs that are about to end, before a failure is reported.
-- @param may_end whether each of them may be, whatever its outputs say
function tools.settle(node, may_end)
  local function settle(program) programs.how_ended(program, may_end) end
  for _, one in ipairs(node.tools and states[node.tools].programs or {}) do settle(one) end
  each_around(node, settle)
end

--- A test begins: what the programs of the blocks around it write from now on may be about it.
function tools.mark(node) each_around(node, programs.mark) end

--- What explains the failure of a test: the output of its programs; and of those of the blocks
--- around it what they wrote meanwhile, or all if they have failed.
-- @param problems those of the report, which need not say it twice
function tools.said_around(node, problems)
  local messages = {}
  for place, problem in ipairs(problems) do messages[place] = problem.message end
  local told = table.concat(messages, "\n")
  local texts = { node.tools and tools.said(node.tools, told) or "" }
  for _, text in ipairs(node.tools and states[node.tools].runs or {}) do
    if not told:find(text, 1, true) then texts[#texts + 1] = text end
  end
  each_around(node, function(program) texts[#texts + 1] = programs.said(program, told, true) end)
  for _, program in ipairs(node.tools and states[node.tools].programs or {}) do
    programs.note_told(program)
  end
  each_around(node, programs.note_told)
  return (table.concat(texts, "\n"):gsub("\n\n+", "\n"):gsub("^\n+", ""):gsub("\n+$", ""))
end

-- Raises what a helper of a function has answered, at the line of the test.
local function need(name, ok, message)
  return ok or error(("t:%s: %s"):format(name, message), 3)
end

-- An argument that must be a string.
local function check_text(name, what, value)
  if type(value) == "string" then return end
  error(("t:%s: %s must be a string, got %s"):format(name, what, host.given(value)), 3)
end

-- Where Linux has a file system in memory.
local MEMORY = "/dev/shm"

--- The test's own folder, removed with its contents after the test; with `memory` another one,
--- which is on no disk.
function methods.tmpdir(t, options)
  local folders = state_of(t, "tmpdir").folders
  local where = "disk"
  for name, value in pairs(options or {}) do
    if name ~= "memory" or type(value) ~= "boolean" then
      error("t:tmpdir: takes { memory = true } or nothing", 2)
    end
    where = value and "memory" or "disk"
  end
  folders[where] = folders[where]
    or need("tmpdir", bed.make_folder(where == "memory" and MEMORY or nil))
  return folders[where]
end

--- Calls a function after the test, before what was made earlier ends. It may wait.
function methods.defer(t, fn)
  if type(fn) ~= "function" then
    error(("t:defer: takes a function, got %s"):format(type(fn)), 2)
  end
  table.insert(state_of(t, "defer").actions, fn)
end

-- Time passes on a virtual clock, but not while a program runs.
local function check_real(t, name)
  if beds.clock() == "virtual" and #states[t].programs > 0 then
    error(("t:%s: time stands still in a test with clock = \"virtual\" while a program runs; "
      .. "use \"real\" or \"skip_idle\""):format(name), 3)
  end
end

local function check_command(name, options)
  if type(options) == "table" then return end
  local text = "t:%s: takes a table, such as { \"ls\", \"-l\" }, got %s"
  error(text:format(name, options == nil and "nothing" or "a " .. type(options)), 3)
end

--- Starts a program, which ends with the test.
-- @param options as for `ml.process.spawn`. Its output is read; its environment holds only PATH,
--   the test's HOME and TMPDIR, and a fixed language and time zone, unless `env` is given.
-- @return the program, a process with `stdout`, `stderr`, `expect` and `stop`; an error if it
--   cannot be run
function methods.spawn(t, options)
  local state = state_of(t, "spawn")
  check_command("spawn", options)
  orphans.begin(state)
  programs.check("spawn", options)
  local program, message = programs.spawn(options, function() return t:tmpdir() end)
  need("spawn", program, message)
  table.insert(state.programs, program)
  t:defer(function() programs.close(program) end)
  return program
end

-- How many runs of programs the report of a failure shows.
local RUNS_SHOWN = 5

-- Keeps how a program ended and what it wrote, for the report of a failure: the last ones that
-- failed, and the last one.
local function note_run(state, text, has_failed)
  local runs = state.runs
  if state.last_is_well then runs[#runs] = nil end
  if #runs == RUNS_SHOWN then table.remove(runs, 1) end
  runs[#runs + 1], state.last_is_well = text, not has_failed
end

--- Runs a program to its end, like `ml.process.run`, in the same environment.
-- @return how it ended and its output: code or signal, stdout, stderr
function methods.run(t, options)
  local state = state_of(t, "run")
  check_command("run", options)
  orphans.begin(state)
  programs.check("run", options)
  local all = programs.options(options, function() return t:tmpdir() end)
  if all.group == nil then all.group = true end  -- what it leaves behind can be told from others
  local checks = all.check == true
  if checks then all.check = nil end
  local result, message, _, part = ml.process.run(all)
  if not result then
    message = message:gsub("^ml%.process%.run: ", "")
    if part then message = ("%s. It wrote:\n%s"):format(message, programs.wrote(part)) end
  end
  need("run", result, message)
  local text = programs.ran(options, result)
  note_run(state, text, result.code ~= 0)
  if checks and result.code ~= 0 then error("t:run: " .. text, 2) end
  return result
end

--- Waits until output matches a pattern: `t:expect(p.stdout, "ready", 2)`.
function methods.expect(_, stream, ...) return tools.expect(stream, ...) end

--- A free TCP port of 127.0.0.1.
function methods.free_port() return need("free_port", bed.free_port()) end

-- How many seconds a tool waits, 5 by default.
local function seconds(name, within)
  if within == nil then return 5 end
  if type(within) == "number" and within >= 0 then return within end
  error(("t:%s: the time must be seconds, got %s"):format(name,
    type(within) == "number" and within or "a " .. type(within)), 3)
end

-- Sleeps until the next look at what may take long. On a clock that jumps that is after a 200th of
-- the time so far: looks every 5 ms would take most of the test's time there.
local function sleep_until_look(begun, within)
  local waited = ml.now() - begun
  local pause = beds.clock() == "real" and 0 or math.min(waited / 200, within - waited - LOOK_EVERY)
  ml.sleep(math.max(LOOK_EVERY, pause))
end

--- Waits until a function returns a true value.
-- @param within seconds, by default 5
-- @param what the words for a failure
-- @return that value
function methods.wait_until(t, fn, within, what)
  state_of(t, "wait_until")
  check_real(t, "wait_until")
  within = seconds("wait_until", within)
  local begun = ml.now()
  local value = ml.timeout(within, function()
    while true do
      local result = fn()
      if result then return result end
      sleep_until_look(begun, within)
    end
  end)
  if value then return value end
  failure.fail(("%s: not true after %g s"):format(what or "the condition", within), 2)
end

--- Calls a function over and over until it raises no error and returns a true value, or nothing.
-- @param within seconds, by default 5
-- @return what it returned; after that time the test fails with the last error
function methods.eventually(t, fn, within)
  state_of(t, "eventually")
  check_real(t, "eventually")
  within = seconds("eventually", within)
  if type(fn) ~= "function" then
    error(("t:eventually: takes a function, got %s"):format(type(fn)), 2)
  end
  local last
  local how, begun = "had not returned", ml.now()
  local ends = begun + within
  local results = ml.timeout(within, function()
    while true do
      local results = table.pack(pcall(fn))
      if results[1] and (results[2] or results.n == 1) then return results end
      local found = results[2]
      local is_over = ml.now() >= ends and failure.text(found):find("^timed out")
      if not is_over then
        last = found
        how = results[1] and "still returned " .. tostring(last)
          or "still failed: " .. failure.text(last)
      end
      if failure.kind(found) == "pending" then error(found, 0) end
      sleep_until_look(begun, within)
    end
  end)
  if results then return table.unpack(results, 2, results.n) end
  local info = debug.getinfo(fn, "S")
  failure.fail(("t:eventually: after %g s the function at %s:%d %s"):format(within, info.short_src,
    info.linedefined, how), 2, failure.compared(last))
end

--- Calls a function with many values; see `moonloop.testing.properties`.
-- @param makers a list of makers of its arguments, from `t.any`
-- @param options `runs` (100) and `seed` (1)
function methods.forall(t, makers, fn, options)
  local state = state_of(t, "forall")
  local search = {}  -- its failure so far: it may be stopped while it looks for simpler values
  state.searches[#state.searches + 1] = search
  local ok, why = pcall(properties.check, makers, fn, options or {}, state.options.seed,
    function(found)
      search.text = ("%s\n  to see it again: moonloop test %s --name '%s' --seed %d"):format(
        found.text, state.file, state.name:gsub("'", "'\\''"), found.seed)
    end)
  for place, one in ipairs(state.searches) do
    if one == search and why ~= properties.OVER then table.remove(state.searches, place) end
  end
  if not ok then error(why, 0) end
  if search.text then failure.fail(search.text, 2) end
end

-- How a program of the test, or of the blocks around it if it has none, has failed, if none runs
-- that could still listen. One that ended well may have left another behind.
local function how_all_failed(t)
  local how, may_listen
  local function look(program)
    local status = program.process.status
    may_listen = may_listen or not status or status.code == 0
    how = status and programs.how(status)
  end
  for _, program in ipairs(states[t].programs) do look(program) end
  if not how and not may_listen then each_around(states[t].node, look) end
  return not may_listen and how or nil
end

--- Waits until something listens at a TCP port of this machine. Fails at once when all programs of
-- the test have failed.
function methods.wait_port(t, port, within)
  state_of(t, "wait_port")
  check_real(t, "wait_port")
  within = seconds("wait_port", within)
  local number = math.tointeger(port)
  if type(port) == "string" or not number or number < 1 or number > 65535 then
    error(("t:wait_port: the port must be a whole number from 1 to 65535, got %s"):format(
      values.format(port)), 2)
  end
  local how
  local function is_over()
    if bed.is_listening(port) then return true end
    how = how_all_failed(t)
    return how ~= nil
  end
  local ok = pcall(methods.wait_until, t, is_over, within)
  if ok and not how then return port end
  local why = how and "is listening on port %s: its program " .. how
    or ("was listening on port %%s after %g s%s"):format(within, bed.is_listening(port, true)
      and ", but on ::1 something is: let it listen on 127.0.0.1" or "")
  failure.fail(("nothing " .. why):format(tostring(port)), 2)
end

-- ── requests ─────────────────────────────────────────────────────────────────────────────────────

-- What explains that there was no answer: what the programs said, and how they failed if all did.
-- Connections of a program that dies end a moment before it does.
local function said_now(t, has_left)
  tools.settle(states[t].node, has_left)
  return tools.said(t, ""), how_all_failed(t)
end

--- Makes a request, like `ml.http.request`, by default with a `timeout` of 5 s.
-- @param options including `url`: `":8080/path"` is short for that port of 127.0.0.1
-- @return the response, which has `expect(status, pattern, options)`; without one the test fails
function methods.request(t, options)
  if type(options) ~= "table" then
    error(("t:request: the options must be a table, got %s"):format(type(options)), 2)
  end
  local made = {}
  for key, value in pairs(options) do made[key] = value end
  return requests.send("request", made, function(has_left) return said_now(t, has_left) end)
end

--- `t:get(url, options)` and so on: `t:request` with a method, and `t:post(url, body, options)`.
for name, has_body in pairs({
  get = false, head = false, delete = false, options = false,
  post = true, put = true, patch = true,
}) do
  methods[name] = function(t, url, ...)
    if not states[t] then error(("t:%s: must be called with a colon"):format(name), 2) end
    local body, options = nil, ...
    if has_body then body, options = ... end
    local made = { method = name:upper(), url = url, body = body }
    for key, value in pairs(options or {}) do made[key] = value end
    return requests.send(name, made, function(has_left) return said_now(t, has_left) end)
  end
end

-- ── doubles ──────────────────────────────────────────────────────────────────────────────────────

-- What a double needs of the test, and the line that makes it.
local function context_of(t, name)
  local state = state_of(t, name)
  local info = debug.getinfo(3, "Sl")
  return {
    update = state.options.update,
    golden = function(file) return files.folder_of(state.file) .. "golden/" .. file .. ".lua" end,
    defer = function(fn) t:defer(fn) end,
    where = ("%s:%d"):format(info.short_src, info.currentline),
  }
end

--- A server in place of another one; see `moonloop.testing.doubles.http`.
function methods.http(t, expectations)
  return http_double.new(expectations, context_of(t, "http"), 2)
end

--- A peer in place of another one; see `moonloop.testing.doubles.tcp`.
function methods.tcp(t, steps) return tcp_double.new(steps, context_of(t, "tcp"), 2) end

-- ── files ────────────────────────────────────────────────────────────────────────────────────────

--- Writes a file in the test's folder and returns its path. Makes folders in the name. A file that
-- is there already is replaced by another one.
-- @param options `append = true` adds to the file that is there; `mode = "755"` sets its mode
function methods.file(t, name, text, options)
  check_text("file", "the name", name)
  files.check_inside("file", name)
  check_text("file", "the text", text)
  local asked = files.check_options(options)
  local path = t:tmpdir() .. "/" .. name
  need("file", files.write(path, text, asked))
  return path
end

--- The path of a file beside the spec file.
function methods.fixture(t, name)
  check_text("fixture", "the name", name)
  return files.folder_of(state_of(t, "fixture").file) .. name
end

--- The text of a file beside the spec file.
function methods.read(t, name)
  check_text("read", "the name", name)
  return need("read", files.read(t:fixture(name)))
end

--- Compares a text with a golden file, in the folder `golden` beside the spec file.
-- With `moonloop test --update` the file is written instead.
function methods.golden(t, name, text)
  check_text("golden", "the name", name)
  files.check_inside("golden", name)
  check_text("golden", "the text", text)
  golden.compare(state_of(t, "golden"), name, text)
end

--- Compares any value with its golden file, whose name is that of the spec file and the test.
function methods.snapshot(t, value)
  local state = state_of(t, "snapshot")
  golden.compare(state, golden.name(state), values.format(value, values.without_address) .. "\n")
end

return tools
