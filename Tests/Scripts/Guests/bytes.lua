-- A guest's text, and the names of its functions, are what the host has written, byte for byte.
local ml = require "moonloop"
local loop = ml.current()

local text = "function bytes(...) return '\xff\xfe', #'\xff\xfe', ... end "
  .. "_G['\xff'] = function() return 'ff' end _G['\xfe'] = function() return 'fe' end "
  .. "_G['\u{E9}'] = function() return 'one' end _G['e\u{301}'] = function() return 'two' end "
  .. "function fail() error('x\xff', 0) end "
  .. "function ask(name) return host[name]() end"
loop:task(function()
  local guest <close> = assert(ml.guest { text = text, functions = {
    ["\u{E9}"] = function() return 1 end, ["e\u{301}"] = function() return 2 end,
  } })
  local bytes, count, back = guest:call("bytes", "\xfd")
  assert(bytes == "\xff\xfe" and count == 2 and back == "\xfd")
  assert(guest:call "\xff" == "ff" and guest:call "\xfe" == "fe")
  assert(guest:call "\u{E9}" == "one" and guest:call "e\u{301}" == "two")
  assert(guest:call("ask", "\u{E9}") == 1 and guest:call("ask", "e\u{301}") == 2)
  local done, message = pcall(guest.call, guest, "fail")
  assert(not done and message == "x\xff", message)
  done, message = pcall(guest.call, guest, "n\xff")
  assert(not done and message:find("no function 'n\u{FFFD}'", 1, true), message)
  local made, refusal = pcall(ml.guest, { text = "", functions = { ["\xff"] = print } })
  local words = "a name in 'functions' must be a UTF-8 string, got one with the byte 0xff at 1"
  assert(not made and refusal:find(words, 1, true), refusal)
end):wait { mode = "default" }

-- What it raises arrives as it was raised.
local TEXT <const> = "a\xff\xfe\0b\xc3\27[m"
loop:task(function()
  for _, isolate in ipairs { false, true } do
    local heard = {}
    local guest <close> = assert(ml.guest { isolate = isolate,
      text = ("function fail() error(%q, 0) end fail()"):format(TEXT),
      on_error = function(e) heard[#heard + 1] = e.message end })
    local ok, raised = pcall(guest.call, guest, "fail")
    assert(not ok and raised == TEXT)
    assert(#heard == 1 and heard[1] == TEXT)
  end
end):wait { mode = "default" }
