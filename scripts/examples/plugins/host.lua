-- A plug-in host: runs each script of a folder as a guest, and shows them on a page.
--
--   moonloop run host.lua folder 8080
--
-- A plug-in may define `answer(path, body)`, which serves /NAME/..., and has `host.log(text)` and
-- timers, nothing else. GET / shows what each one uses; POST /NAME/reload, suspend, resume and end
-- do what they say. Scripts that appear in the folder are started.
local ml = require "moonloop"
local loop = ml.current()

local folder, port = arg[1] or "folder", tonumber(arg[2]) or 0
local LIMITS = { memory = "8M", callout = 0.1, handles = 100, share = 0.2, output = 10000 }
local ANSWER_LIMIT, ANSWER_TIME = 65536, 2

local plugins = {}  -- by name: guest, and what it did last

local function note(name, text)
  local plugin = plugins[name]
  plugin.last = #text > 200 and text:sub(1, 200) .. "…" or text
end

local function start(name)
  local plugin = plugins[name] or { last = "" }
  plugins[name] = plugin
  if plugin.guest then plugin.guest:stop() end
  local guest, message = ml.guest {
    file = folder .. "/" .. name .. ".lua", name = name, allow = { "timers" }, limits = LIMITS,
    keep_alive = false,
    -- A table's text would be an address of this process.
    functions = { log = function(text) note(name, type(text) == "string" and text or "?") end },
    on_output = function(_, text) note(name, text) end,
    on_error = function(failure) note(name, tostring(failure.message)) end,
    on_limit = function(_, what)
      note(name, "over its limit of " .. what)
      if what == "stops" then return "end" end
    end,
  }
  plugin.guest = guest
  if not guest then note(name, message) end
end

local function look()
  for _, entry in ipairs(assert(ml.fs.list(folder))) do
    local name = entry.name:match "^([%w_-]+)%.lua$"
    if name and not plugins[name] then start(name) end
  end
end

local ESCAPES = { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;", ['"'] = "&quot;" }
local function escape(text) return (text:gsub("%c", "?"):gsub('[<>&"]', ESCAPES)) end

local function page()
  local names, rows = {}, {}
  for name in pairs(plugins) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local plugin = plugins[name]
    local usage = plugin.guest and plugin.guest:usage() or { memory = 0, busy = 0, stops = 0 }
    rows[#rows + 1] = ("<tr><td>%s<td>%s<td>%d kB<td>%.3f s<td>%d<td>%s\n"):format(
      name, plugin.guest and plugin.guest.status or "broken", usage.memory // 1024, usage.busy,
      usage.stops, escape(plugin.last))
  end
  return 200, "<!doctype html><title>Plug-ins</title><table>\n"
    .. "<tr><th>name<th>status<th>memory<th>busy<th>stops<th>last\n" .. table.concat(rows)
    .. "</table>\n", { ["Content-Type"] = "text/html; charset=utf-8" }
end

--- Asks a plug-in; what it returns is not trusted to be text, or to come.
local function ask(plugin, path, body)
  local ok, answer, _, code = pcall(ml.timeout, ANSWER_TIME, plugin.guest.call, plugin.guest,
    "answer", path, body)
  if not ok then return 500, "the plug-in failed\n" end
  if code == "ETIMEDOUT" then return 504, "the plug-in did not answer\n" end
  if code then return 503, "the plug-in has ended\n" end
  if type(answer) ~= "string" or #answer > ANSWER_LIMIT then return 502, "no answer in text\n" end
  -- On this page's address, so it must not be taken for a page that may send orders.
  return 200, answer, { ["Content-Type"] = "text/plain", ["X-Content-Type-Options"] = "nosniff" }
end

local orders = {
  reload = start,
  suspend = function(name) plugins[name].guest:suspend() end,
  resume = function(name) plugins[name].guest:resume() end,
  ["end"] = function(name) plugins[name].guest:stop() end,
}

local function serve(request)
  if request.path == "/" then return page() end
  local name, rest = request.path:match "^/([^/]+)(/?.*)$"
  local plugin = plugins[name]
  if not plugin then return 404, "no such plug-in\n" end
  local order = request.method == "POST" and orders[rest:sub(2)]
  if not plugin.guest and order ~= start then return 503, "the plug-in is broken\n" end
  if not order then return ask(plugin, rest, request.body) end
  order(name)
  return 200, (plugin.guest and plugin.guest.status or "broken") .. "\n"
end

loop:task(look)
loop:watch { folder, look }
local server = assert(ml.http.serve { host = "127.0.0.1", port = port, max_body = 65536, serve })
print("port " .. server.port)
loop:signal({ "int", "term" }, function() loop:stop() end):keep_alive(false)
