-- What scripts have open although no loop holds it, such as files: what a test leaves behind.
local site = require "moonloop.text.site"

local unheld = {}

local open, last = setmetatable({}, { __mode = "k" }), 0

--- Something was opened.
-- @param options `place`: where, instead of at the line that led here; `is_library`, as for
--   `moonloop.text.site`; `is_open`: whether it still is, for what others may close
function unheld.add(object, kind, name, options)
  options = options or {}
  last = last + 1
  local place = options.place or site(options.is_library) or "?"
  open[object] = { id = -last, is_held = false, kind = kind, name = name, place = place,
    text = ("%s '%s' (made at %s)"):format(kind, name, place), is_open = options.is_open }
end

--- It was closed.
function unheld.remove(object) open[object] = nil end

--- The line that opened something.
function unheld.place(object) return open[object] and open[object].place or "?" end

--- All that is open: a list of what `bed.leftovers` returns.
function unheld.all()
  local list = {}
  for object, entry in pairs(open) do
    if not entry.is_open or entry.is_open(object) then list[#list + 1] = entry end
  end
  return list
end

return unheld
