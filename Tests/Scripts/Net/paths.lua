-- The path of a Unix socket is its bytes: it need not be text, and the same text is not the same.
local ml = require "moonloop"
local loop = ml.current()

local folder = assert(ml.fs.temporary_folder())
local names = { "s\xff", "s\xfe", "s\u{FFFD}", "s\u{E9}", "se\u{301}" }
local servers = {}
for _, name in ipairs(names) do
  for _, path in ipairs { folder .. "/" .. name, "@" .. folder .. name } do
    local server = assert(ml.net.listen { path = path, function(stream) stream:write(name) end })
    assert(server.address.path == path)
    servers[#servers + 1] = server
  end
end
local made = {}
for _, entry in ipairs(assert(ml.fs.list(folder))) do made[entry.name] = true end
for _, name in ipairs(names) do assert(made[name], name) end
loop:task(function()
  for _, name in ipairs(names) do
    for _, path in ipairs { folder .. "/" .. name, "@" .. folder .. name } do
      local stream <close> = assert(ml.net.connect { path = path, timeout = 10 })
      assert(stream:read "a" == name)
    end
  end
end):wait { mode = "default" }
for _, server in ipairs(servers) do server:invalidate() end
assert(#ml.fs.list(folder) == 0)
ml.fs.remove(folder)
