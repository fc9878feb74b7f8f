-- Makes any text safe to read: quoted, or without control sequences for the terminal.
local quoting = {}

local ESCAPES = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\\"] = "\\\\", ['"'] = '\\"' }
local JSON_ESCAPES = setmetatable({ ["\b"] = "\\b", ["\f"] = "\\f" }, { __index =
  function(_, c) return ESCAPES[c] or ("\\u%04x"):format(c:byte()) end })

local function in_hex(c) return ("\\x%02x"):format(c:byte()) end

--- The first bytes of a text, without half a character at the end, and a mark if more follow.
function quoting.cut(text, most, mark)
  if #text <= most then return text end
  return text:sub(1, utf8.offset(text, 0, most + 1) - 1) .. mark
end

-- Bytes at each end of a long line.
local LINE_PART = 250

--- A line; of a long one its two ends, in whole characters.
function quoting.ends(line)
  if #line <= 2 * LINE_PART + 100 then return line end
  local head = line:sub(1, LINE_PART):gsub("[\xC0-\xFF][\x80-\xBF]*$", "")
  local tail = line:sub(-LINE_PART):gsub("^[\x80-\xBF]+", "")
  return ("%s… (%d bytes) …%s"):format(head, #line - #head - #tail, tail)
end

--- A quoted string that Lua reads as the same string; UTF-8 stays as it is.
-- @param most the limit of bytes shown; longer strings are cut
function quoting.quoted(text, most)
  local shown = most and quoting.cut(text, most, "") or text
  local is_cut = #shown < #text
  shown = shown:gsub('[%c"\\\127]', function(c) return ESCAPES[c] or in_hex(c) end)
  if not utf8.len(shown) then shown = shown:gsub("[\128-\255]", in_hex) end
  return '"' .. shown .. (is_cut and '…"' or '"')
end

--- A text on one line: what is not text in it is written as escapes.
function quoting.line(text)
  if not text:find "[%c\127-\255]" then return text end
  return (quoting.quoted(text):sub(2, -2):gsub('\\(["\\])', "%1"))
end

--- A text of several lines with visible control bytes, except line ends and tabs, and visible bytes
-- that are not UTF-8.
function quoting.visible(text)
  text = text:gsub("[%z\1-\8\11-\31\127]", in_hex)
  local parts, at = {}, 1
  while true do
    local _, wrong = utf8.len(text, at)
    if not wrong then break end
    parts[#parts + 1] = text:sub(at, wrong - 1) .. in_hex(text:sub(wrong, wrong))
    at = wrong + 1
  end
  parts[#parts + 1] = text:sub(at)
  return table.concat(parts)
end

--- A string as in JSON. Bytes that are not UTF-8 become the characters with the same codes.
function quoting.json(text)
  text = text:gsub('[%c"\\]', JSON_ESCAPES)
  if not utf8.len(text) then
    text = text:gsub("[\128-\255]", function(c) return utf8.char(c:byte()) end)
  end
  return '"' .. text .. '"'
end

--- A text without control sequences for the terminal.
function quoting.plain(text)
  text = text:gsub("[%c\127]", "?")
  if not utf8.len(text) then return (text:gsub("[\128-\255]", "?")) end
  return (text:gsub("\xc2[\128-\159]", "?"))
end

return quoting
