---@meta _
-- Custom sources

---@class moonloop.Loop
local loop = {}

---@class moonloop.SourceOptions
---@field perform? fun(source: moonloop.Source) Called once after the source was signalled.
---@field [1] (fun(source: moonloop.Source))? The same as 'perform'.
---@field schedule? fun(source: moonloop.Source, loop: moonloop.Loop, mode: string) Called when it is added to a mode.
---@field cancel? fun(source: moonloop.Source, loop: moonloop.Loop, mode: string) Called when it is removed from a mode.
---@field identity? string|integer|number Sources with equal identities and orders count as one: a mode takes the first of them.
---@field describe? fun(source: moonloop.Source): string Says what the source is about, for `loop:dump`; it must return at once.
---@field order? integer Position among the signalled sources, lowest first; default 0.
---@field name? string Name in reports and traces.
---@field keep_alive? boolean Whether this item alone keeps a run alive; default true.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.

---@class moonloop.LoopSourceOptions: moonloop.SourceOptions
---@field modes? moonloop.Modes Modes in which it is served; default "default".

---Makes a custom source, which is signalled by hand, and adds it.
---Raises an error that names the wrong option.
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
---@param options moonloop.LoopSourceOptions The handlers; 'perform' is required, by name or as the first element.
---@return moonloop.Source source The source.
function loop:source(options) end

---@class moonloop
local ml = {}

---Makes a custom source without adding it to the loop.
---It is in no mode until `loop:add` adds it to one. With an identity it is not added to a mode that
---has an equal source: `loop:contains` is true then, and `loop:remove` takes that one out. Raises
---an error that names the wrong option.
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
---@param options moonloop.SourceOptions The handlers; 'perform' is required, by name or as the first element.
---@return moonloop.Source source The source.
function ml.source(options) end

---A source that is signalled by hand; made by `loop:source` and `ml.source`.
---@class moonloop.Source: moonloop.Item
local source = {}

---Whether it has been signalled and not performed since.
---True while it is waiting for its turn.
---```lua
---local source <close> = loop:source { perform = print }
---source:signal()
---print(source.signalled)   --> true
---```
---@type boolean
source.signalled = nil

---Position among the signalled sources of a pass, lowest first.
---Fixed when it is made; default 0.
---```lua
---local source <close> = loop:source { order = -1, perform = print }
---print(source.order)   --> -1
---```
---@type integer
source.order = nil

---Signals the source: its handler runs once, in the next pass of one of its modes.
---Several signals before that count as one. Does not wake a sleeping loop: from another thread call
---`loop:wake_up()` as well. Raises an error for an invalid source.
---```lua
---local source = loop:source { perform = function(source)
---  print "performed once"   --> performed once
---  source:invalidate()
---end }
---source:signal()
---source:signal()
---```
function source:signal() end
