-- The example live.lua, as its first lines say: example.lua PROGRAM EXAMPLE
local ml = require "moonloop"
local program, example = arg[1], arg[2]
local folder = (os.getenv "TMPDIR" or "/tmp") .. ("/moonloop-live-%d"):format(ml.process.id())
assert(ml.process.run({ "mkdir", folder }).code == 0)
local text = assert(io.open(example)):read "a"
local function save(changed)
  local file = assert(io.open(folder .. "/live.lua", "w"))
  file:write(changed)
  file:close()
end

save(text)
local server <close> = assert(ml.process.spawn { program, "run", "--watch", "live.lua", "0",
  cwd = folder, stdout = "pipe", stderr = "pipe" })
local generation, port = server.stdout:read "l":match "^generation (%d+) .* port (%d+)$"
print("generation", generation)
local client <close> = ml.net.connect { host = "127.0.0.1", port = tonumber(port) }
client:write "hello\n"
print(client:read "l")
save((text:gsub("you said", "they said")))
print(server.stdout:read "l" == "generation 2 listens on port " .. port)
print(server.stderr:read "l")
client:write "again\n"
print(client:read "l")
local other <close> = ml.net.connect { host = "127.0.0.1", port = tonumber(port) }
other:write "hello\n"
print(other:read "l")
server:kill "usr1"
print(server.stdout:read "l" == "generation 3 listens on port " .. port, server.stdout:read "l")
server:kill "term"
print("status", server:await().code)
ml.process.run { "rm", "-r", folder }
