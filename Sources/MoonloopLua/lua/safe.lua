-- Takes out of the standard libraries what reaches outside of the state. Run once, before any other
-- script: what it takes is then nowhere in the state.
local function keep(library, words)
  local kept = {}
  for word in words:gmatch "%S+" do kept[word] = true end
  for name in pairs(library) do
    if not kept[name] then library[name] = nil end
  end
end

keep(os, "clock date difftime time")
keep(debug, "traceback")
keep(package, "loaded preload searchers")
for place = #package.searchers, 2, -1 do package.searchers[place] = nil end
for _, name in ipairs { "io", "dofile", "loadfile" } do
  _G[name], package.loaded[name] = nil, nil
end

-- Without arguments it gives an address.
local seed = math.randomseed
function math.randomseed(...) seed(...) end

local collect, allowed = collectgarbage, { collect = true, count = true, step = true }
function collectgarbage(what, ...)
  what = what == nil and "collect" or what
  if not allowed[what] then
    error(("collectgarbage: this script may not use '%s'"):format(tostring(what)), 2)
  end
  return collect(what, ...)
end
