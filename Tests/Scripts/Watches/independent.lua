-- Each watch has its own quiet period: changes to one file do not delay reports of another.
local ml = require "moonloop"
local loop = ml.current()

local folder = os.tmpname()
os.remove(folder)
assert(ml.process.run({ "mkdir", folder }).code == 0)

local function write(name, text) io.open(folder .. "/" .. name, "w"):write(text):close() end

local order = {}
local one = loop:watch { folder .. "/one", debounce = 0.2, function()
  order[#order + 1] = "one"
end }
local other = loop:watch { folder .. "/other", debounce = 0, function() end }
write("one", "1")
for number = 1, 8 do
  ml.sleep(0.1)
  write("other", number)
  order[#order + 1] = number
end
assert(table.concat(order, " "):find "^1 [2 ]*one", table.concat(order, " "))

one:invalidate()
other:invalidate()
ml.process.run { "rm", "-r", folder }
