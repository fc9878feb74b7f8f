-- A line for each handle, with where it was made (D38).
local ml = require "moonloop"
local loop = ml.current()
assert(loop:dump():find "no handles")
local source = loop:source { name = "commands", modes = "common", perform = print }
source:signal()
local port = ml.port {}
local timer = loop:timer { every = 2, name = "poll", print }:keep_alive(false)
local request = loop:perform_after({ after = 1, modes = "other" }, print)
local text = loop:dump()
for _, pattern in ipairs {
  "kind +name +modes +made at +fires +state\n",
  "source +commands +common%(default%) +%S+dump.lua:5 +0 +signalled\n",
  "port +%- +%- +%S+dump.lua:7 +0 +no handler, 0 waiting\n",
  "timer +poll +default +%S+dump.lua:8 +0 +due in 2 s, every 2 s, keep_alive%(false%)\n",
  "perform_after +%- +other +%S+dump.lua:9 +%- +pending",
} do assert(text:find(pattern), pattern .. "\n" .. text) end
for _, handle in ipairs { source, port, timer, request } do handle:invalidate() end
