---@meta _
-- Pressure

---@class moonloop.Loop
local loop = {}

---@class moonloop.PressureOptions
---@field [1] (fun(pressure: moonloop.Pressure, figures: moonloop.PressureFigures))? The handler.
---@field handler? fun(pressure: moonloop.Pressure, figures: moonloop.PressureFigures) The same by name, as in configurations.
---@field resource "memory"|"cpu"|"io" What tasks wait for.
---@field stall? moonloop.Seconds How long they must wait, in all, within the window; default a tenth of it.
---@field window? moonloop.Seconds From 0.5 to 10; default 2. Without privileges a multiple of 2.
---@field level? "some"|"full" Which time counts: when some tasks wait, or when all do; default "some".
---@field file? string The pressure file, such as that of a control group, or a FIFO; default the system's.
---@field name? string Name in reports and traces; default the resource.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.

---@class moonloop.LoopPressureOptions: moonloop.PressureOptions
---@field modes? moonloop.Modes Modes in which it is served; default "default".

---Calls a function when tasks have waited too long for memory, a processor, or input and output.
---The kernel measures it, and calls at most once per window. Returns `nil, message, code` where it
---does not: "ENOENT" without such a file, "ENOTSUP" if it takes no trigger, "EINVAL" for a window
---that needs privileges.
---```lua
---local path = os.tmpname()
---os.remove(path)
---ml.process.run { "mkfifo", path }   -- in place of /proc/pressure/memory
---loop:pressure { resource = "memory", stall = 0.1, file = path, function(pressure, figures)
---  print(pressure.resource, figures.avg10)   --> memory 2.5
---  pressure:invalidate()
---  os.remove(path)
---end }
---io.open(path, "w"):write("some avg10=2.50 avg60=0.00 avg300=0.00 total=1500000\n"):close()
---```
---@param options moonloop.LoopPressureOptions The resource, the handler, and when to call it.
---@return moonloop.Pressure? pressure The handle.
---@return string? message
---@return string? code
function loop:pressure(options) end

---@class moonloop
local ml = {}

---Makes a watch of pressure without adding it to the loop.
---It is in no mode until `loop:add` adds it to one. Returns `nil, message, code` as
---`loop:pressure` does.
---```lua
---local pressure, message, code = ml.pressure { resource = "io", file = "/nowhere", print }
---print(pressure, code)   --> nil ENOENT
---```
---@param options moonloop.PressureOptions The resource, the handler, and when to call it.
---@return moonloop.Pressure? pressure The handle.
---@return string? message
---@return string? code
function ml.pressure(options) end

---Reports that tasks wait too long for a resource; made by `loop:pressure` and `ml.pressure`.
---@class moonloop.Pressure: moonloop.Item
local pressure = {}

---What tasks wait for.
---Nil once it has ended.
---```lua
---local path = os.tmpname()
---os.remove(path)
---ml.process.run { "mkfifo", path }
---local pressure <close> = assert(loop:pressure { resource = "cpu", file = path, print })
---print(pressure.resource)   --> cpu
---os.remove(path)
---```
---@type string?
pressure.resource = nil

---Which time counts: when "some" tasks wait, or when all do ("full").
---Nil once it has ended.
---```lua
---local path = os.tmpname()
---os.remove(path)
---ml.process.run { "mkfifo", path }
---local pressure <close> = assert(loop:pressure { resource = "cpu", file = path, print })
---print(pressure.level)   --> some
---os.remove(path)
---```
---@type string?
pressure.level = nil

---What the kernel measures at a level.
---@class moonloop.PressureFigures
---@field avg10? number Percent of the last 10 seconds.
---@field avg60? number Percent of the last minute.
---@field avg300? number Percent of the last five minutes.
---@field total? moonloop.Seconds The time waited since the start of the system.
