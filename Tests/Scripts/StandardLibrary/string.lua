-- find, match, gmatch, gsub and rep: the same results and messages as in stock Lua 5.4.

local function same(want, ...)
  local got = table.pack(...)
  assert(#want == got.n, "results: " .. got.n)
  for i = 1, got.n do
    assert(want[i] == got[i], tostring(want[i]) .. " is not " .. tostring(got[i]))
  end
end
local function fails(message, f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok and tostring(err):find(message, 1, true), tostring(err))
end

same({ 5, 7 }, ("hello world"):find("o w"))
same({ 1, 0 }, ("abc"):find(""))
same({ 4, 3 }, ("abc"):find("", 4))
assert(("abc"):find("", 5) == nil and ("a.c"):find(".", 1, true) == 2)
same({ 1, "b", 3 }, ("abc"):match("()%a(%a)()"))
same({ "key", "value" }, ("key = value"):match("^(%w+)%s*=%s*(%w+)$"))
assert(("f(a(b)c)d"):match("%b()") == "(a(b)c)")
assert(("THE (quick) fox"):find("%f[%a]%a+%f[%A]") == 1)
assert(("abab"):match("(ab)%1") == "ab" and ("a-b"):match("[a%-]+") == "a-")
assert(("]"):match("[]]") == "]" and ("a^"):match("[%^]") == "^" and ("\0x"):find("%z") == 1)

local words = {}
for w in ("one two  three"):gmatch("%a*") do words[#words + 1] = "<" .. w .. ">" end
assert(table.concat(words) == "<one><two><><three>", table.concat(words))
local places = {}
for p in ("abc"):gmatch("()", 2) do places[#places + 1] = p end
assert(table.concat(places, ",") == "2,3,4")

same({ "hexxo", 2 }, ("hello"):gsub("l", "x"))
same({ "-a-b-", 3 }, ("ab"):gsub("", "-"))
same({ "hello hello", 1 }, ("hello"):gsub("%w+", "%0 %0"))
same({ "world hello", 1 }, ("hello world"):gsub("(%w+) (%w+)", "%2 %1"))
same({ "A b", 2 }, ("a b"):gsub("%a", { a = "A", b = false }))
same({ "xbx", 1 }, ("abx"):gsub("^a", function() return "x" end))
same({ "100%", 1 }, ("x"):gsub("x", "100%%"))
same({ "abc", 0 }, ("abc"):gsub("%a", "x", 0))
fails("invalid replacement value (a table)", string.gsub, "a", "a", function() return {} end)
fails("invalid use of '%' in replacement string", string.gsub, "a", "a", "%x")
fails("invalid capture index %2", string.gsub, "a", "a", "%2")

fails("malformed pattern (ends with '%')", string.find, "a", "%")
fails("malformed pattern (missing ']')", string.find, "a", "[a")
fails("malformed pattern (missing arguments to '%b')", string.find, "a", "%b")
fails("missing '[' after '%f' in pattern", string.find, "a", "%f")
fails("unfinished capture", string.find, "a", "(")
fails("invalid pattern capture", string.match, "a", ")")
fails("too many captures", string.find, "a", ("()"):rep(33))
local a300 = ("a"):rep(300)
fails("pattern too complex", string.find, a300, ("a?"):rep(300))

assert(("ab"):rep(3, ",") == "ab,ab,ab" and ("x"):rep(0) == "" and ("x"):rep(-1) == "")
assert(#("xyz"):rep(100000, "--") == 499998 and ("xyz"):rep(100000):find("zx", 150000) == 150000)
assert((""):rep(1000) == "")
fails("resulting string too large", string.rep, "xx", 1 << 40)
