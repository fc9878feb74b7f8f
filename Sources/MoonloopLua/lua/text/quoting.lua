-- Makes any text safe to read: quoted, or without control sequences for the terminal.
local quoting = {}

local ESCAPES = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\\"] = "\\\\", ['"'] = '\\"' }

local function in_hex(c) return ("\\x%02x"):format(c:byte()) end

--- A quoted string that Lua reads as the same string; UTF-8 stays as it is.
-- @param most the limit of bytes shown; longer strings are cut
function quoting.quoted(text, most)
  local is_cut = most and #text > most
  local shown = is_cut and text:sub(1, most) or text
  shown = shown:gsub('[%c"\\\127]', function(c) return ESCAPES[c] or in_hex(c) end)
  if not utf8.len(shown) then shown = shown:gsub("[\128-\255]", in_hex) end
  return '"' .. shown .. (is_cut and '…"' or '"')
end

--- A text without control sequences for the terminal.
function quoting.plain(text)
  text = text:gsub("[%c\127]", "?")
  if not utf8.len(text) then return (text:gsub("[\128-\255]", "?")) end
  return (text:gsub("\xc2[\128-\159]", "?"))
end

return quoting
