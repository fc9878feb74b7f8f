-- Random patterns on random subjects: our find, match, gmatch and gsub do what stock Lua's do,
-- errors included. `rounds` and `seed` are set by the test; `stock` holds liblua's own functions.
local random = math.random
math.randomseed(seed)

local pieces = {
  "a", "b", "c", "%a", "%d", "%w", "%s", "%p", "%x", "%l", "%u", "%c", "%g", "%A", "%S", "%W", "%z",
  ".", "[abc]", "[^a]", "[a-c]", "[%w_]", "[^%s]", "[]]", "[^]]", "[a-]", "[%a-z]", "[a%-z]",
  "*", "+", "-", "?", "^", "$", "(", ")", "()", "%b()", "%bab", "%baa", "%f[%w]", "%f[a]", "%f[^a]",
  "%1", "%2", "%0", "%%", "%.", "%(", "[", "]", "%", "%b", "%f", "x", "\0", "\200", "1", ".*", ".-",
  ".+", "a*", "b-", "(a)", "(.-)", "(%a+)", "[%", "[^", "[a-%%]", "%]", "%-", "%$", "=",
  "(a*(.)%w(%s*))",
}
local parts = {
  "a", "b", "c", "ab", "aa", "abc", "(", ")", "()", "(a(b)c)", " ", "1", "x", "_", "\0", "\200",
  "-", "]", "%", "=", "^", "$", ".", "aaaaaaaa", "\n",
}
local replacements = { "", "x", "%0", "%1", "%2", "[%1%2]", "%%", "%", "%x", "<%0>", "%9" }
local starts = { 1, 2, 3, 0, -1, -3, 5, 100, -100 }

local function compose(from, most)
  local list = {}
  for i = 1, random(0, most) do list[i] = from[random(#from)] end
  return table.concat(list)
end

local function differ(name, arguments, ours, theirs)
  local text = {}
  for i = 1, arguments.n do text[i] = ("%q"):format(tostring(arguments[i])) end
  error(("%s(%s): %s, but stock gives %s"):format(name, table.concat(text, ", "), ours, theirs), 3)
end

local function text(results)
  local list = {}
  for i = 1, results.n do list[i] = math.type(results[i]) or type(results[i]) end
  for i = 1, results.n do list[#list + 1] = tostring(results[i]) end
  return table.concat(list, "|")
end

local function compare(name, ...)
  local ours = text(table.pack(pcall(string[name], ...)))
  local theirs = text(table.pack(pcall(stock.string[name], ...)))
  if ours ~= theirs then differ(name, table.pack(...), ours, theirs) end
end

local function all(gmatch, ...)
  local list = {}
  local function collect(...)
    for a, b, c in gmatch(...) do list[#list + 1] = text { n = 3, a, b, c } end
  end
  local _, err = pcall(collect, ...)
  return table.concat(list, ";") .. tostring(err)
end

local by_name = { a = "A", b = true, c = false, ab = 12, [""] = "-", [1] = "one", [2] = 3.5 }
local function by_call(a, b)
  if a == "a" then return nil end
  if a == "b" then return false end
  return b or a
end

for round = 1, rounds do
  local subject, pattern = compose(parts, 10), compose(pieces, 7)
  local start = random() < .3 and starts[random(#starts)] or nil
  compare("find", subject, pattern, start)
  compare("match", subject, pattern, start)
  if random() < .1 then compare("find", subject, compose(parts, 2), start, true) end
  local most = random() < .3 and random(-1, 4) or nil
  compare("gsub", subject, pattern, replacements[random(#replacements)], most)
  if round % 4 == 0 then
    compare("gsub", subject, pattern, by_name)
  elseif round % 4 == 1 then
    compare("gsub", subject, pattern, by_call)
  else
    local ours, theirs = all(string.gmatch, subject, pattern, start),
      all(stock.string.gmatch, subject, pattern, start)
    if ours ~= theirs then
      differ("gmatch", table.pack(subject, pattern, start), ours, theirs)
    end
  end
end

-- Every letter after '%', on every byte; a quick run takes some of them.
local step = rounds > 50000 and 1 or 7
for letter = 0, 255 do
  for byte = letter % step, 255, step do
    local subject, class = string.char(byte), "%" .. string.char(letter)
    compare("find", subject, class)
    compare("find", subject, "[" .. class .. "]")
    compare("find", subject, "[^" .. class .. "x]")
  end
end
