---@meta _
-- Custom sources

---@class moonloop.Loop
local loop = {}

---@class moonloop.SourceOptions
---@field perform? fun(source: moonloop.Source) Called once after it was signalled.
---@field [1] (fun(source: moonloop.Source))? The same as 'perform'.
---@field schedule? fun(source: moonloop.Source, loop: moonloop.Loop, mode: string) Called when it comes into a mode.
---@field cancel? fun(source: moonloop.Source, loop: moonloop.Loop, mode: string) Called when it leaves a mode.
---@field order? integer Its place among the signalled sources; default 0.
---@field name? string What reports and traces call it.
---@field keep_alive? boolean False: a run does not go on for it; default true.
---@field on_error? moonloop.ErrorHandler Hears of errors in its handlers first.

---@class moonloop.LoopSourceOptions: moonloop.SourceOptions
---@field modes? moonloop.Modes Where it is served; default "default".

---Makes a custom source, which is signalled by hand, and adds it.
---Raises an error that names the option that is wrong.
---```lua
---local commands = {}
---local source = loop:source { name = "commands", perform = function(source)
---  print(#commands .. " commands")   --> 2 commands
---  source:invalidate()
---end }
---for _, command in ipairs { "clean", "build" } do
---  commands[#commands + 1] = command
---  source:signal()
---end
---```
---@param options moonloop.LoopSourceOptions The handlers; 'perform' must be there, by name or as first element.
---@return moonloop.Source source The source.
function loop:source(options) end

---@class moonloop
local ml = {}

---Makes a custom source without adding it to the loop.
---It is in no mode yet, and is served once `loop:add` has put it into one.
---Raises an error that names the option that is wrong.
---```lua
---local source = ml.source {
---  schedule = function(source, loop, mode) print("in " .. mode) end,   --> in default
---  cancel = function(source, loop, mode) print("out of " .. mode) end,
---  perform = function(source) print "performed"; source:invalidate() end,   --> performed
---}
---loop:add(source)
---source:signal()
---loop:run()
---print(source:is_valid())   --> out of default
-----> false
---```
---@param options moonloop.SourceOptions The handlers; 'perform' must be there, by name or as first element.
---@return moonloop.Source source The source.
function ml.source(options) end

---Made by `loop:source` and `ml.source`; signalled by hand.
---@class moonloop.Source: moonloop.Item
local source = {}

---Whether it was signalled and has not performed since.
---True while it waits for its turn.
---```lua
---local source <close> = loop:source { perform = print }
---source:signal()
---print(source.signalled)   --> true
---```
---@type boolean
source.signalled = nil

---Its place among the signalled sources of a pass: the smaller, the earlier.
---As it was made; default 0.
---```lua
---local source <close> = loop:source { order = -1, perform = print }
---print(source.order)   --> -1
---```
---@type integer
source.order = nil

---Marks the source: its handler runs once, in the next pass of a mode that it is in.
---Several signals before that are one. It does not wake a loop that sleeps: on the loop's own
---thread it is awake; from elsewhere add `loop:wake_up()`.
---Raises an error when the source is invalid.
---```lua
---local source = loop:source { perform = function(source)
---  print "performed once"   --> performed once
---  source:invalidate()
---end }
---source:signal()
---source:signal()
---```
function source:signal() end
