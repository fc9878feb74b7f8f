-- A guest that may inspect the loop sees only its own part: nothing of the host or other guests.
local ml = require "moonloop"
local loop = ml.current()

local secret <close> = loop:timer { every = 1, name = "secret of the host",
  modes = "secret mode", print }
local text = [[
  local ml = require "moonloop"
  local loop = ml.current()
  loop:timer { every = 3, name = ..., print }
  function look()
    local figures = loop:metrics()
    local shown = { tostring(loop), loop:why(), table.concat(loop:modes(), " ") }
    for _, one in ipairs(loop:dump()) do
      for key, value in pairs(one) do shown[#shown + 1] = tostring(value) end
    end
    return table.concat(shown, "\n"), tostring(loop:stop()), loop.depth
  end
]]
local one <close> = ml.guest { text = text, args = "of one", allow = { "timers", "inspect" } }
local two <close> = ml.guest { text = text, args = "of two", allow = { "timers", "inspect" } }
loop:task(function()
  local shown, stopped, depth = one:call "look"
  assert(shown:find "of one", shown)
  assert(not shown:find "of two" and not shown:find "secret", shown)
  assert(stopped == "false" and depth == 1)
end):wait { mode = "default" }

for _, word in ipairs { "run", "reload", "tty" } do
  local done, message = pcall(ml.guest, { text = "", allow = { word } })
  local refusal = "'" .. word .. "' is not available for guests inside"
  assert(not done and message:find(refusal, 1, true), message)
end
loop:task(function()
  local text = "function f() ml = require 'moonloop' return ml.net.x end"
  local refused <close> = ml.guest { text = text }
  local done, message = pcall(refused.call, refused, "f")
  assert(message:find 'may not use ml.net or ml.http; allow = { "net" } would grant it', message)
end):wait { mode = "default" }
local value, message, code = ml.guest { text = "x x" }
assert(value == nil and code == "ENOEXEC" and message:find "guest:1: syntax error", message)
assert(select(2, pcall(ml.guest, { text = "", allow = { "tmers" } })):find "did you mean 'timers'?")
