-- The bytes that a terminal sends for keys.
local spelling = require "moonloop.text.spelling"
local values = require "moonloop.text.values"

local keys = {}

local PLAIN = {
  enter = "\r", tab = "\t", escape = "\27", backspace = "\127", space = " ",
  insert = "\27[2~", delete = "\27[3~", page_up = "\27[5~", page_down = "\27[6~",
  f1 = "\27OP", f2 = "\27OQ", f3 = "\27OR", f4 = "\27OS", f5 = "\27[15~", f6 = "\27[17~",
  f7 = "\27[18~", f8 = "\27[19~", f9 = "\27[20~", f10 = "\27[21~", f11 = "\27[23~",
  f12 = "\27[24~", ["shift-tab"] = "\27[Z",
}
-- Their sequences begin with ESC O where a program has asked for that.
local MOVES = { up = "A", down = "B", right = "C", left = "D", home = "H", ["end"] = "F" }

--- @param key its name; or "ctrl-c", "alt-x", or one character
-- @param is_application whether the program has asked for application keys
-- @return the bytes; or nil, message
function keys.bytes(key, is_application)
  if type(key) ~= "string" then
    return nil, ("a key must be a string, got %s"):format(type(key))
  end
  if PLAIN[key] then return PLAIN[key] end
  if MOVES[key] then return (is_application and "\27O" or "\27[") .. MOVES[key] end
  local letter = key:match "^ctrl%-([%a@%[\\%]^_])$"
  if letter then return string.char(letter:upper():byte() & 31) end
  local other = key:match "^alt%-(.+)$"
  if other then
    local bytes, message = keys.bytes(other, is_application)
    return bytes and "\27" .. bytes, message
  end
  if utf8.len(key) == 1 then return key end
  local names, last = values.keys(PLAIN, MOVES), key:sub(-1)
  local near = spelling.nearest(key, values.keys(PLAIN, MOVES,
    { ["ctrl-" .. last] = true, ["alt-" .. last] = true }))
  return nil, ("unknown key '%s'%s"):format(key, near and ("; did you mean '%s'?"):format(near)
    or ("; there are %s, ctrl-LETTER, alt-KEY, and each character"):format(
      table.concat(names, ", ")))
end

return keys
