-- Debian's C modules raise, call back, keep references and make userdata as usual.
local cjson = require "cjson"
local value = { list = { 1, 2.5, "three", cjson.null }, nested = { yes = true } }
local copy = cjson.decode(cjson.encode(value))
assert(copy.list[2] == 2.5 and copy.list[4] == cjson.null and copy.nested.yes == true)
local ok, err = pcall(cjson.decode, "{")
assert(not ok and err:find("Expected object key string", 1, true), err)
ok, err = pcall(cjson.encode, { print })
assert(not ok and err:find("type not supported", 1, true), err)
local deep = {}
for _ = 1, 1001 do deep = { deep } end
ok, err = pcall(cjson.encode, deep)
assert(not ok and err:find("nesting", 1, true), err)

local lpeg = require "lpeg"
local P, R, S, V, C, Ct = lpeg.P, lpeg.R, lpeg.S, lpeg.V, lpeg.C, lpeg.Ct
local number = C(R "09" ^ 1) / tonumber
local sum = P { "sum", sum = V "term" * (C(S "+-") * V "term") ^ 0 / function(first, ...)
  local rest = { ... }
  for i = 1, #rest, 2 do first = rest[i] == "+" and first + rest[i + 1] or first - rest[i + 1] end
  return first
end, term = number + "(" * V "sum" * ")" }
assert(sum:match("1+2-(3+4)+10") == 6)
assert(Ct(C(R "az" ^ 1) * (" " * C(R "az" ^ 1)) ^ 0):match("one two three")[3] == "three")
ok, err = pcall(lpeg.match, P "a" / function() error("from the capture", 0) end, "a")
assert(not ok and err == "from the capture")
ok, err = pcall(lpeg.match, lpeg.Cmt(P "a", function() error { code = 7 } end), "a")
assert(not ok and err.code == 7)
local found = {}
local words = coroutine.wrap(function()
  local text = "moon loop lua"
  local at = 1
  while at do
    local word, after = lpeg.match(C(R "az" ^ 1) * P " " ^ -1 * lpeg.Cp(), text, at)
    if not word then return end
    coroutine.yield(word)
    at = after
  end
end)
for word in words do found[#found + 1] = word end
assert(table.concat(found, ",") == "moon,loop,lua")

local lfs = require "lfs"
assert(lfs.attributes("/", "mode") == "directory")
local nothing, message, code = lfs.attributes("/nowhere")
assert(nothing == nil and message:find("No such file", 1, true) and code == 2)
local names = {}
for name in lfs.dir("/") do names[name] = true end
assert(names.tmp and names["."])
ok, err = pcall(lfs.dir, "/nowhere")
assert(not ok and err:find("No such file", 1, true))

-- Modules with their own loops: they only have to load beside ours.
assert(type(require "luv") == "table" and require "luv".version)
assert(type(require "_cqueues.errno".ENOENT) == "number")
ok, err = pcall(require, "no.such.module")
assert(not ok and err:find("module 'no.such.module' not found", 1, true), err)
