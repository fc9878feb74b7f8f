-- Attacks of guests, by family: each must be contained. `attacks.lua here|isolated FAMILY` runs
-- those in this process, or in processes of their own; prints what got out, and "held COUNT".
local ml = require "moonloop"
local loop = ml.current()

local where, only, folder = ...
local broken, count = 0, 0

local function check(held, name, ...)
  count = count + 1
  if held then return end
  broken = broken + 1
  print("NOT HELD: " .. name, ...)
end

-- A guest that runs the code it is sent.
local text = [[
  shared = ...
  ml = require "moonloop"
  loop = ml.current()
  function attack(text)
    local body = assert(load(text, "=attack"))
    return body()
  end
  function ping() return "pong" end
]]
local function open(options)
  local told = { limits = {}, errors = {}, output = 0 }
  options.isolate, options.text = where == "isolated", text
  options.on_limit = function(_, what) told.limits[#told.limits + 1] = what end
  options.on_error = function(error) told.errors[#told.errors + 1] = error end
  options.on_output = function(_, written) told.output = told.output + #written end
  return assert(ml.guest(options)), told
end

-- The attacks of a file, each behind a line `---- NAME`.
local function attacks(name)
  local all, title = {}, nil
  for line in (assert(ml.fs.read(folder .. name)) .. "\n"):gmatch "([^\n]*)\n" do
    local found = line:match "^%-%-%-%- (.*)"
    if found then
      title = found
      all[#all + 1] = { name = title, text = "" }
    elseif title then
      all[#all].text = all[#all].text .. line .. "\n"
    end
  end
  return all
end

local families = {}

-- An attack that returns anything has got out.
function families.reach()
  local guest <close>, told = open { functions = {
    echo = function(...) return ... end, fail = function() error {} end,
  } }
  for _, one in ipairs(attacks "Data/Attacks/reach.txt") do
    local done, what = pcall(guest.call, guest, "attack", one.text)
    check(not done or not what, one.name, what)
    check(guest:call "ping" == "pong", one.name, "the guest is gone")
  end
  check(#told.limits == 0, "reach: no limit", told.limits[1])
end

-- Each runs forever and is stopped; the host's timer goes on.
function families.runaways()
  local beats, guest, told = 0, nil, nil
  local beat = loop:every(0.01, function() beats = beats + 1 end)
  for number, one in ipairs(attacks "Scripts/StandardLibrary/runaways.txt") do
    if number % 8 == 1 then
      if guest then guest:stop() end
      guest, told = open { limits = { callout = 0.02, memory = "256M" } }
    end
    local before = #told.limits
    local done, what = pcall(guest.call, guest, "attack", one.text)
    check(not done, one.name, what)
    local pong, why = guest:call "ping"
    check(pong == "pong", one.name, why)
    what = tostring(what)
    local is_refused = what:find "may not use" or what:find "call a nil value"
    check(#told.limits > before or is_refused, one.name, what)
  end
  guest:stop()
  beat:invalidate()
  check(beats > 10, "the host's timer", beats)
end

-- Each takes all the memory that it can get and is stopped; the memory comes back.
function families.memory()
  for _, one in ipairs(attacks "Data/Attacks/memory.txt") do
    local guest <close>, told = open { limits = { memory = "8M", callout = 5 } }
    local done, what = pcall(guest.call, guest, "attack", one.text)
    check(not done, one.name, what)
    check(guest:call "ping" == "pong", one.name, "the guest is gone")
    guest:call("attack", "collectgarbage() collectgarbage()")
    check(guest:usage().memory < 4 << 20, one.name, guest:usage().memory)
    check(told.limits[1] == "memory" or what:find "is reached", one.name, what)
  end
end

local function status(field)
  return tonumber(ml.fs.read("/proc/self/status"):match(field .. ":%s*(%d+)"))
end

-- The most memory that this process has had so far, in kB.
local function peak() return status "VmHWM" end

-- Small in Lua's memory, where a string is there once, and large as a copy: the process grows by no
-- more than three times the guest's memory.
function families.copies()
  for _, one in ipairs(attacks "Data/Attacks/copies.txt") do
    local guest <close> = open { limits = { memory = "8M", callout = 5 }, functions = {
      take = function() end, wait = function() ml.sleep(1000) end,
    } }
    guest:call "ping"
    local before = peak()
    pcall(guest.call, guest, "attack", one.text)
    for _ = 1, 5 do ml.sleep(0.001) end
    check(peak() - before < 3 * 8 << 10, one.name, peak() - before)
  end
end

-- Known to crash liblua: the guest gets an error or a result, or its process ends; its host lives.
function families.crashes()
  for _, one in ipairs(attacks "Data/Attacks/crashes.txt") do
    local guest <close> = open { limits = { memory = "16M", callout = 5 } }
    local done, value, message = pcall(guest.call, guest, "attack", one.text)
    print(one.name, done and (message or "passed") or (tostring(value):gsub("\n.*", "")))
    check(true, one.name)
  end
end

-- Errors of every sort stay with the guest, in handlers too; reports of them are bounded.
function families.errors()
  local guest <close>, told = open { allow = { "timers" } }
  for _, one in ipairs(attacks "Data/Attacks/errors.txt") do
    local before = #told.errors
    local done, what = pcall(guest.call, guest, "attack", one.text)
    check(not done, one.name, what)
    guest:call("attack", "function failing() " .. one.text .. "\nend loop:after(0, failing)")
    for _ = 1, 100 do
      if #told.errors > before then break end
      ml.sleep(0.001)
      guest:call "ping"
    end
    check(#told.errors > before, one.name, "no report")
    check(guest:call "ping" == "pong", one.name, "the guest is gone")
  end
  for _, error in ipairs(told.errors) do
    check(#error.message < 8192 and #error.traceback < 65536, "a report in bounds", #error.message)
  end
end

-- Whatever it tries, it gets nothing, and both sides go on.
local function gets_nothing(file, grant, names)
  local shared, before = ml.freeze { secret = "kept" }, nil
  for _, one in ipairs(attacks(file)) do
    local guest, functions = nil, { echo = function(...) return ... end }
    function functions.back(name, ...) return guest:call(name, ...) end
    function functions.pause()
      guest:suspend()
      local count = guest:usage().callouts
      ml.sleep(0.01)
      check(guest:usage().callouts == count, one.name, "it runs while it is suspended")
      guest:resume()
    end
    local told
    guest, told = open {
      name = "guest", args = shared, functions = functions, allow = { "timers", "inspect", grant },
      limits = { memory = "8M", callout = 0.1, handles = 100 },
    }
    guest:call "ping"
    before = before or #ml.fs.list "/proc/self/fd"
    local beats, memory, threads, most = 0, peak(), status "Threads", 0
    local beat = loop:every(0.001, function()
      beats, most = beats + 1, math.max(most, status "Threads")
    end)
    local script = (names or "") .. one.text
    local _, done, what = ml.timeout(10, pcall, pcall, guest.call, guest, "attack", script)
    check(not done or not what, one.name, what)
    ml.sleep(0.002)
    check(select(2, pcall(ml.timeout, 10, guest.call, guest, "ping")) == "pong", one.name,
      guest.status, table.concat(told.limits, " "))
    check(grant or peak() - memory < 3 * 8 << 10, one.name, peak() - memory, "kB")
    check(most - threads < 2 * 100 + 10, one.name, most - threads, "threads")  -- one to stop each
    check(beats > 0, one.name, "the host's timer")
    check(shared.secret == "kept", one.name, shared.secret)
    beat:invalidate()
    guest:stop()
  end
  for _ = 1, 100 do if #ml.fs.list "/proc/self/fd" > before then ml.sleep(0.01) end end
  check(#ml.fs.list "/proc/self/fd" <= before, "descriptors", before)
end
function families.tricks() gets_nothing "Data/Attacks/tricks.txt" end
function families.escapes() gets_nothing "Data/Attacks/escapes.txt" end
function families.items() gets_nothing "Data/Attacks/items.txt" end
function families.libraries() gets_nothing "Data/Attacks/libraries.txt" end

-- Workers have no more than their guest, whose handles they are, those of its workers too.
function families.workers()
  gets_nothing("Data/Attacks/workers.txt", "worker", [[
    local function run(text, args)
      text = "local ml = require 'moonloop' local loop = ml.current() " .. text
      local worker = ml.worker { source = text, args = args }
      local _, fine, got = ml.timeout(5, pcall, worker.await, worker)
      return fine and got or nil
    end
  ]])
end

-- A folder with what is granted, and with what is not: files, and links to both.
local function tree(place)
  local function path(name) return place .. "/" .. name end
  local function link(to, ...)
    for _, name in ipairs { ... } do ml.fs.link(path(to), path(name), { symbolic = true }) end
  end
  for _, name in ipairs { "given", "given/sub", "given2", "work", "work/tree", "secret" } do
    ml.fs.mkdir(path(name))
  end
  ml.fs.write(path "given/a.txt", "granted")
  ml.fs.write(path "work/mine", "mine")
  for _, name in ipairs { "secret", "given2" } do ml.fs.write(path(name .. "/s.txt"), "SECRET") end
  link("secret", "given/out", "work/out", "work/tree/out")
  link("secret/s.txt", "given/link", "work/link")
  return path
end

-- A server that misbehaves in the way that a request's target names; sends some to port `others`.
local function server(others)
  local requests, endless = 0, ("x"):rep(1 << 16)
  local to, empty = ("//127.0.0.1:%d/"):format(others), "Content-Length: 0\r\n\r\n"
  local ways = {}
  function ways.redirect(stream)
    stream:write("HTTP/1.1 302 Found\r\nLocation: http:" .. to .. "\r\n" .. empty)
  end
  function ways.relative(stream)
    stream:write("HTTP/1.1 302 Found\r\nLocation: " .. to .. "\r\n" .. empty)
  end
  function ways.endless(stream)
    stream:write "HTTP/1.1 200 OK\r\n\r\n"
    while stream:write(endless) do end
  end
  function ways.head(stream)
    stream:write "HTTP/1.1 200 OK\r\n"
    while stream:write("X: " .. endless .. "\r\n") do end
  end
  function ways.count(stream)
    ml.sleep(0.001)
    stream:write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" .. requests % 10)
  end
  return ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
    requests = requests + 1
    local way = ways[((stream:read "h" or ""):match "^%u+ /(%l+)")]
    if way then way(stream) else stream:write("HTTP/1.1 200 OK\r\n" .. empty) end
    stream:close()
  end }
end

-- What is granted reaches no further: files beside the granted folders, and another's port, stay as
-- they are.
function families.grants()
  local visits = 0
  local others = ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
    visits = visits + 1
    stream:write "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nOTHERS"
    stream:close()
  end }
  local names = "given, work, secret, port, others = table.unpack(shared) fs = ml.fs\n"
  for _, one in ipairs(attacks "Data/Attacks/grants.txt") do
    local place, ours = assert(ml.fs.temporary_folder()), server(others.port)
    local path = tree(place)
    local guest <close>, told = open {
      args = { path "given", path "work", path "secret", ours.port, others.port },
      allow = {
        "timers", "fs=read:" .. path "given", "fs=" .. path "work", "net=127.0.0.1:" .. ours.port,
      },
      limits = { memory = "8M", callout = 0.5, handles = 100 },
    }
    local script = names .. one.text
    local _, done, what = ml.timeout(20, pcall, pcall, guest.call, guest, "attack", script)
    check(not done or not what, one.name, what)
    check(select(2, pcall(ml.timeout, 10, guest.call, guest, "ping")) == "pong", one.name,
      guest.status, table.concat(told.limits, " "))
    check(ml.fs.read(path "secret/s.txt") == "SECRET", one.name, "the secret")
    check(#ml.fs.list(path "secret") == 1, one.name, "the folder of the secret")
    check(ml.fs.stat(path "secret/s.txt").permissions == 420, one.name, "its permissions")
    check(ml.fs.read(path "given/a.txt") == "granted", one.name, "what is read")
    check(#ml.fs.list(path "given") == 4, one.name, "the folder that is read")
    check(visits == 0, one.name, "a visit to others", visits)
    visits = 0
    ours:invalidate()
    ml.fs.remove(place, { recursive = true })
  end
  others:invalidate()
end

-- Of programs, those that were granted run, as the host would run them; isolated guests get none.
function families.programs()
  for _, one in ipairs(attacks "Data/Attacks/programs.txt") do
    local options = {
      allow = { "timers", "process=echo", "process=bin/echo" },
      limits = { memory = "8M", callout = 0.5, handles = 100 },
    }
    if where == "isolated" then return check(not pcall(open, options), "programs, isolated") end
    local guest <close>, told = open(options)
    local _, done, what = ml.timeout(20, pcall, pcall, guest.call, guest, "attack", one.text)
    check(not done or not what, one.name, what)
    check(select(2, pcall(ml.timeout, 10, guest.call, guest, "ping")) == "pong", one.name,
      guest.status, table.concat(told.limits, " "))
  end
end

-- What is granted by its name is granted by those bytes: not by others that are the same text, or
-- that are no text.
function families.names()
  local folder, kinds, servers = assert(ml.fs.temporary_folder()), { "socket" }, {}
  if where == "here" then kinds[2] = "program" end
  local reach = {
    socket = "return ml.net.connect { path = name, timeout = 10 }:read 'a'",
    program = "return ml.process.run({ name }).stdout",
  }
  for number, pair in ipairs {
    { "\u{E9}", "e\u{301}" }, { "e\u{301}", "\u{E9}" }, { "\u{C5}", "\u{212B}" },
    { "K", "\u{212A}" },
    { "\u{FFFD}", "\xff" }, { "a\u{301}\u{323}", "a\u{323}\u{301}" },
  } do
    for _, kind in ipairs(kinds) do
      local places = {}
      for place, name in ipairs(pair) do
        places[place] = ("%s/%s %d %s"):format(folder, kind, number, name)
        if kind == "socket" then
          local function serve(stream) stream:write "reached" end
          servers[#servers + 1] = assert(ml.net.listen { path = places[place], serve })
        else
          local script = "#!/bin/sh\nprintf reached\n"
          assert(ml.fs.write(places[place], script, { permissions = 493 }))
        end
      end
      local grant = kind == "socket" and "net=unix:" or "process="
      local guest <close> = open { args = places, allow = { "timers", grant .. places[1] } }
      for place, name in ipairs(pair) do
        local script = ("local name = shared[%d] %s"):format(place, reach[kind])
        local done, what = pcall(guest.call, guest, "attack", script)
        if place == 1 then
          check(what == "reached", "what is granted", name, what)
        else
          check(not done and what:find("may not do that", 1, true), kind, name, what)
        end
      end
    end
  end
  for _, grant in ipairs { "net=unix:/run/s\xff", "process=/opt/p\xff", "fs=/srv/\xff" } do
    check(not pcall(open, { allow = { grant } }), "a grant that is no text", grant)
  end
  local guest <close> = open { allow = { "timers", "net=k.example" } }
  local script = "return ml.net.connect { host = '\u{212A}.example', port = 80, timeout = 10 }"
  local done, what = pcall(guest.call, guest, "attack", script)
  check(not done and what:find("may not do that", 1, true), "another host", what)
  for _, server in ipairs(servers) do server:invalidate() end
  ml.fs.remove(folder, { recursive = true })
end

-- A flood of anything leaves the host its turns.
function families.floods()
  for _, one in ipairs(attacks "Data/Attacks/floods.txt") do
    local guest <close>, told = open {
      allow = { "timers" }, limits = { handles = 100, callout = 0.1, memory = "16M" },
      functions = { quick = function() end, slow = function() ml.sleep(1000) end },
    }
    pcall(guest.call, guest, "attack", one.text)
    local beats = 0
    for _ = 1, 20 do
      ml.sleep(0.001)
      beats = beats + 1
    end
    check(beats == 20, one.name)
    check(told.output <= 4 << 20, one.name, told.output)
  end
end

loop:task(function()
  families[only]()
  print(("%s %d"):format(broken == 0 and "held" or "broken", broken == 0 and count or broken))
end)
