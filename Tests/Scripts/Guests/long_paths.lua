-- A path that Linux would not take is refused before its parts are looked at: a guest with a grant
-- kept its host for an hour. One of many folders that are not there ends no stack of a thread.
local ml = require "moonloop"
local folder = assert(ml.fs.temporary_folder())

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
  guest:invalidate()
end
assert(ml.fs.remove(folder))
