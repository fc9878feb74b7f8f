-- The plug-in host among malicious plug-ins.
local ml = require "moonloop"

local HARMLESS = [[
  local count = 0
  function answer(path) count = count + 1 return path .. " " .. count end
]]

local HARMFUL = {
  spins = "while true do pcall(function() while true do end end) end",
  grows = "local all = {} while true do all[#all + 1] = ('x'):rep(1000) .. #all end",
  floods = "while true do print(('x'):rep(1000)) end",
  raises = "require 'moonloop'.current():every(0.001, function() error(('y'):rep(1e6)) end)",
  timers = "local l = require 'moonloop'.current() for i = 1, 1e9 do l:every(0.001, print) end",
  reads = "function answer() return io.open('/etc/passwd'):read 'a' end",
  runs = "function answer() return require 'moonloop'.process.run { 'id' }.stdout end",
  huge = "function answer() return ('x'):rep(1e6) end",
  waits = "function answer() require 'moonloop'.sleep(1000) end",
  markup = "host.log '<script>alert(1)</script>'",
  controls = "host.log '\\27[2J\\0'",
  address = "host.log {}",
  page = "function answer() return '<script>alert(1)</script>' end",
  neighbour = "function answer() return tostring(pcall(require, 'good')) end",
  ["local"] = "function answer() return host end",
  broken = "this is no Lua",
}

local url

local function host(t, scripts)
  for name, text in pairs(scripts) do t:file("plugins/" .. name .. ".lua", text) end
  local p = t:spawn { arg[-1], "run", "host.lua", t:tmpdir() .. "/plugins", stderr = "stdout" }
  url = "http://127.0.0.1:" .. p:expect "port (%d+)\n"
  return p
end

local function type_of(path)
  return assert(ml.http.get(url .. path, { timeout = 10 })).headers["content-type"]
end

local function get(path)
  local answer = assert(ml.http.get(url .. path, { timeout = 10 }))
  return answer.status, answer.body
end
local function post(path) return assert(ml.http.post(url .. path, "", { timeout = 10 })).body end

it("asks, suspends, ends and starts plug-ins", function(_, _, t)
  local p = host(t, { good = HARMLESS })
  t:eventually(function() assert.same({ 200, "/a 1" }, { get "/good/a" }) end)
  assert.equal("suspended\n", post "/good/suspend")
  assert.same({ 504, "the plug-in did not answer\n" }, { get "/good/a" })
  assert.equal("idle\n", post "/good/resume")
  assert.equal("ended\n", post "/good/end")
  assert.same({ 503, "the plug-in has ended\n" }, { get "/good/a" })
  assert.equal("running\n", post "/good/reload")
  assert.same({ 200, "/a 1" }, { get "/good/a" })
  assert.equal(404, (get "/other"))
  t:file("plugins/new.lua", HARMLESS)
  t:eventually(function() assert.equal(200, (get "/new/")) end)
  assert.equal(0, p:stop().code)
end)

it("goes on among malicious plug-ins", function(_, _, t)
  local scripts = { good = HARMLESS }
  for name, text in pairs(HARMFUL) do scripts[name] = text end
  local p = host(t, scripts)
  t:eventually(function() assert.equal(200, (get "/good/")) end)
  for count = 2, 20 do assert.same({ 200, "/ " .. count }, { get "/good/" }) end
  assert.equal(500, (get "/reads/"))
  assert.equal(500, (get "/runs/"))
  assert.equal(502, (get "/huge/"))
  assert.equal(504, (get "/waits/"))
  assert.equal(500, (get "/local/"))
  assert.equal(503, (get "/broken/"))
  local _, page = get "/"
  assert.truthy(page:find("&lt;script&gt;", 1, true))
  assert.falsy(page:find("<script>", 1, true))
  assert(not page:find("[\27\0]") and not page:find("0x", 1, true), page)
  assert.equal("text/plain", type_of "/page/")
  assert.same({ 200, "false" }, { get "/neighbour/" })
  for _, name in ipairs { "spins", "grows" } do
    assert(page:match("<td>" .. name .. "<td>%a+<td>%d+ kB<td>[%d.]+ s<td>[1-9]"), page)
  end
  assert.equal(0, p:stop().code)
end)
