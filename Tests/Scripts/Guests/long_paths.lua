-- A path that Linux would not take is refused before its parts are looked at: a guest with a grant
-- kept its host for an hour. One of many folders that are not there ends no stack of a thread, and
-- takes little time.
local ml = require "moonloop"
local folder = assert(ml.fs.temporary_folder())
local deep = folder
for _ = 1, 200 do
  deep = deep .. "/d"
  assert(ml.fs.mkdir(deep))
end

for _, isolate in ipairs { false, true } do
  local guest = ml.guest {
    isolate = isolate, allow = { "fs=read:" .. folder },
    text = [[
      local ml = require "moonloop"
      function try(part, count)
        local done, message, code = ml.fs.list(part:rep(count))
        return done, code
      end
    ]],
  }
  for _, part in ipairs { "../", "a/", "/", "./" } do
    local done, code = guest:call("try", part, 1 << 18)
    assert(done == nil and code == "ENAMETOOLONG", code)
    done, code = guest:call("try", part, 1000)
    assert(done == nil and code == "EACCES" or code == "ENOENT", code)
  end
  -- Where a path stops to exist is not looked for at each of its parts.
  local began = os.clock()
  local done, code = guest:call("try", deep .. ("/d"):rep(1700), 1)
  assert(done == nil and code == "ENOENT", code)
  assert(os.clock() - began < 0.5, os.clock() - began)
  guest:invalidate()
end
assert(ml.fs.remove(folder, { recursive = true }))
