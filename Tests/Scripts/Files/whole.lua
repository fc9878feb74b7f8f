-- Whole files, names and folders; failures say what, where and why.
local ml = require "moonloop"
local fs, loop = ml.fs, ml.current()

loop:task(function()
  local folder = assert(fs.temporary_folder())
  local path = folder .. "/a"
  local none, message, code = fs.read(path)
  assert(none == nil and code == "ENOENT")
  assert(message == ("ml.fs.read: '%s': No such file or directory (ENOENT)"):format(path), message)
  assert(fs.write(path, "one\0"))
  assert(fs.append(path, "two"))
  assert(fs.read(path) == "one\0two")
  assert(select(3, fs.read(path, { limit = 6 })) == "EFBIG")
  assert(fs.read(path, { limit = 7 }) == "one\0two")
  assert(fs.write(path, "x") and fs.read(path) == "x")
  assert(fs.chmod(path, 384))
  assert(fs.replace(path, "new") and fs.read(path) == "new")
  assert(fs.stat(path).permissions == 384 and fs.stat(path).size == 3)
  assert(#fs.list(folder) == 1, "the new file took the old one's place")
  assert(select(3, fs.replace(folder, "text")) == "EISDIR")
  -- A long text is handed over in parts: others have their turns meanwhile.
  local long = ("0123456789abcdef"):rep(1 << 19)
  for _, name in ipairs { "write", "append", "replace" } do
    local passes = 0
    local counting <close> = loop:observer { on = "before_sources", function()
      passes = passes + 1
    end }
    assert(fs[name](path, long))
    assert(passes >= 8, name .. ": " .. passes)
    assert(fs.read(path) == (name == "append" and long .. long or long))
  end
  assert(select(3, fs.write(path, long, { timeout = 0 })) == "ETIMEDOUT")
  assert(fs.rename(path, folder .. "/b"))
  assert(select(3, fs.stat(path)) == "ENOENT")
  assert(fs.space(folder).total > 0)
  assert(fs.remove(folder .. "/b") and fs.remove(folder))
  assert(select(3, fs.remove(folder)) == "ENOENT")
  for _, wrong in ipairs { -1, 4096, 1000000000, 1.5, "644" } do
    local given = { permissions = wrong }
    for name, call in pairs { chmod = function() return fs.chmod(path, wrong) end,
      write = function() return fs.write(path, "x", given) end,
      append = function() return fs.append(path, "x", given) end,
      replace = function() return fs.replace(path, "x", given) end,
      mkdir = function() return fs.mkdir(path, given) end,
      open = function() return fs.open(path, "w", given) end } do
      local ok, mistake = pcall(call)
      assert(not ok and mistake:find("^ml.fs." .. name .. ": .*permissions.* must be "), mistake)
    end
  end
  local ok, mistake = pcall(fs.read, "x", { limmit = 1 })
  assert(not ok, "it went well")
  assert(mistake:find "ml.fs.read: unknown option 'limmit' %(.*%); did you mean 'limit'?", mistake)
end):wait()
