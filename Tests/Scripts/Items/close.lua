-- `<close>` and invalidate end a handle for good, in any order, any number of times (D8).
local ml = require "moonloop"
local loop = ml.current()
local kept
do
  local source <close> = loop:source { name = "brief", perform = print }
  kept = source
  assert(source:is_valid() and loop:contains(source))
end
assert(not kept:is_valid() and not loop:contains(kept))
kept:invalidate()
assert(tostring(kept):find("source 'brief' %(made at .*close.lua:6%), invalidated at .*close.lua"))
local ok, message = pcall(kept.signal, kept)
assert(not ok and message:find("was invalidated at .*close.lua"), message)
assert(loop:run() == "finished")
