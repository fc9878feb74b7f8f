-- What names something to the system may not contain a zero byte: the system would take what is
-- before it for the name.
local ml = require "moonloop"

local cut = "/dev/null\0.txt"
local function refused(want, call, ...)
  local ok, message = pcall(call, ...)
  message = not ok and tostring(message):gsub("^[^:]*zero_bytes%.lua:%d+: ", "")
    :gsub(" %([^()]*zero_bytes%.lua:%d+%)", "")
  assert(message == want, ("%s\nis not\n%s"):format(message, want))
end

local zero = "must not contain a zero byte"
local function argument(number, name)
  return ("bad argument #%d to '%s' (%s)"):format(number, name, zero)
end

-- Of Lua's own library.
for _, row in ipairs {
  { 1, "require", require, "string\0x" }, { 1, "loadfile", loadfile, "a.lua\0" },
  { 1, "dofile", dofile, "a.lua\0" }, { 1, "io.open", io.open, "/dev/null\0" },
  { 1, "io.lines", io.lines, "/dev/null\0" }, { 1, "io.input", io.input, "/dev/null\0" },
  { 1, "io.output", io.output, "/dev/null\0" }, { 1, "io.popen", io.popen, "true\0" },
  { 1, "os.execute", os.execute, "true\0" }, { 1, "os.getenv", os.getenv, "HOME\0" },
  { 1, "os.remove", os.remove, "/nowhere\0" }, { 2, "os.rename", os.rename, "/nowhere", "/\0" },
  { 1, "package.searchpath", package.searchpath, "a\0", "?" },
  { 2, "package.searchpath", package.searchpath, "a", "?\0" },
  { 1, "package.loadlib", package.loadlib, "/nowhere.so\0", "*" },
} do
  refused(argument(row[1], row[2]), row[3], table.unpack(row, 4))
end

local function named(what, name, call, ...)
  refused(name .. ": " .. what .. " " .. zero, call, ...)
end

-- Files.
for _, name in ipairs { "stat", "list", "walk", "read", "write", "append", "replace", "mkdir",
  "rename", "copy", "remove", "link", "target", "chmod", "space", "open" } do
  named("the path", "ml.fs." .. name, ml.fs[name], cut, "x")
end
for _, name in ipairs { "rename", "copy", "link" } do
  named("the new path", "ml.fs." .. name, ml.fs[name], "/nowhere", cut)
end
named("'folder'", "ml.fs.temporary_folder", ml.fs.temporary_folder, { folder = cut })
named("'prefix'", "ml.fs.temporary_file", ml.fs.temporary_file, { prefix = "a\0" })
named("the path", "ml.log", ml.log, { to = cut })
named("the path, the first element of the table,", "ml.watch", ml.watch, { cut, print })

-- Scripts.
named("the script's file", "ml.worker", ml.worker, { cut })
named("'file'", "ml.guest", ml.guest, { file = cut })
named("the path", "ml.configure", ml.configure, cut)
named("'file'", "ml.pressure", ml.pressure, { resource = "cpu", file = cut, print })
named("the file", "loop:record", ml.current().record, ml.current(), cut)

-- The network.
for _, call in ipairs { "connect", "listen" } do
  named("'host'", "ml.net." .. call, ml.net[call], { host = "127.0.0.1\0.org", port = 1 })
  named("'path'", "ml.net." .. call, ml.net[call], { path = cut })
end
named("'local_host'", "ml.net.connect", ml.net.connect,
  { host = "127.0.0.1", port = 1, local_host = "127.0.0.1\0" })
named("the name", "ml.net.resolve", ml.net.resolve, "localhost\0")
named("'host'", "ml.net.udp", ml.net.udp, { host = "127.0.0.1\0" })
do
  local socket <close> = assert(ml.net.udp { host = "127.0.0.1" })
  named("the host", "socket:send", socket.send, socket, "x", "127.0.0.1\0", 9)
end
named("'host'", "ml.http.serve", ml.http.serve, { host = "127.0.0.1\0", port = 0, handler = print })
named("'host'", "ml.net.connect", ml.net.connect,
  { host = "127.0.0.1", port = 1, tls = { host = "a\0" } })

-- An abstract name may have them: it has a length.
local server <close> = assert(ml.net.listen { path = "@moonloop-zero\0byte" .. tostring({}) })
