-- Packs the texts of the reference in a folder, for a small program; `help` unpacks them.
--
-- Usage: moonloop packaging/static/packed.lua FOLDER
-- A byte 1; then runs of bytes, each behind its length, up to 127; and repetitions: 124 more than
-- the length, and how far back it is, as two digits to the base 255. No byte is zero.
local ml = require "moonloop"
local packing = require "moonloop.text.packing"

local LEAST <const>, MOST <const>, FAR <const> = 4, 131, 255 * 255

-- The longest text before a place that begins as the text there does: its place and length.
local function repeated(text, at, places)
  local best, length = nil, LEAST - 1
  for index = #places, 1, -1 do
    local place, count = places[index], LEAST
    if at - place > FAR then break end
    while count < MOST and at + count <= #text
      and text:byte(place + count) == text:byte(at + count) do
      count = count + 1
    end
    if count > length then best, length = place, count end
  end
  return best, length
end

local function packed(text)
  local parts, places, at, from = { "\1" }, {}, 1, 1
  local function put_run(last)
    while from <= last do
      local run = text:sub(from, math.min(from + 126, last))
      parts[#parts + 1] = string.char(#run) .. run
      from = from + #run
    end
  end
  while at <= #text do
    local begin = text:sub(at, at + LEAST - 1)
    local place, length = repeated(text, at, #begin == LEAST and places[begin] or {})
    local last = place and at + length - 1 or at
    if place then
      put_run(at - 1)
      local far = at - place - 1
      parts[#parts + 1] = string.char(124 + length, far // 255 + 1, far % 255 + 1)
      from = last + 1
    end
    for one = at, last do
      local four = text:sub(one, one + LEAST - 1)
      places[four] = places[four] or {}
      table.insert(places[four], one)
    end
    at = last + 1
  end
  put_run(#text)
  return table.concat(parts)
end

local before, after = 0, 0
for path in ml.process.run({ "find", arg[1], "-name", "*.lua" }).stdout:gmatch "[^\n]+" do
  local text = ml.fs.read(path)
  local short = packed(text)
  if packing.unpacked(short) ~= text or short:find "%z" then
    error(path .. ": packed it is another text")
  end
  assert(ml.fs.write(path, short))
  before, after = before + #text, after + #short
end
print(("packed: %d bytes of %d"):format(after, before))
