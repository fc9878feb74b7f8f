-- Takes comments and needless blanks out of the Lua texts in a folder, for a small program.
--
-- Usage: moonloop packaging/static/without_comments.lua FOLDER
-- Each line keeps its number: compiled, each text is the same as before, to the byte.
local ml = require "moonloop"
local tokens = require "moonloop.configuration.tokens"

local BESIDE = "[][(){},;=+*/<>#\"'~&|%%^:]"   -- what needs no blank beside it

-- What the text has from a place on, which is not code: what stands for it, and where it ends.
local function not_code(text, at)
  local first, blanks = text:sub(at, at), text:match("^[ \t]+", at)
  if blanks then
    local last = at + #blanks - 1
    local before, after = text:sub(at - 1, at - 1), text:sub(last + 1, last + 1)
    local needed = before == ">" or not (before .. after):find(BESIDE)
    return needed and before:find "[^\n]" and after:find "[^\n]" and " " or "", last
  elseif text:find("^%-%-", at) then
    local last = tokens.long_bracket(text, at + 2)
      or (text:find("\n", at, true) or #text + 1) - 1
    return text:sub(at, last):gsub("[^\n]+", ""), last
  end
  local last = first:find "[\"']" and tokens.quoted(text, at)
    or first == "[" and tokens.long_bracket(text, at) or at
  return text:sub(at, last), last
end

local function shorter(text)
  local parts, at = {}, 1
  while at <= #text do
    local found = text:find("[ \t%-\"'%[]", at) or #text + 1
    parts[#parts + 1] = text:sub(at, found - 1)
    if found > #text then break end
    local part, last = not_code(text, found)
    parts[#parts + 1], at = part, last + 1
  end
  return table.concat(parts)
end

local before, after = 0, 0
for path in ml.process.run({ "find", arg[1], "-name", "*.lua" }).stdout:gmatch "[^\n]+" do
  local text = ml.fs.read(path)
  local short = shorter(text)
  local same = string.dump(assert(load(text, "="))) == string.dump(assert(load(short, "=")))
  if not same then error(path .. ": without comments it is another program") end
  assert(ml.fs.write(path, short))
  before, after = before + #text, after + #short
end
print(("without_comments: %d bytes of %d"):format(after, before))
