---@meta _
-- Notification queues

---@class moonloop.Loop
local loop = {}

---@class moonloop.NotificationsOptions
---@field [1] (fun(queue: moonloop.Notifications, name: string, sender: any, info: any))? The handler.
---@field handler? fun(queue: moonloop.Notifications, name: string, sender: any, info: any) The same by name, as in configurations.
---@field name? string Name in reports and traces.
---@field on_error? moonloop.ErrorHandler Called first for errors in its handlers.

---Makes a notification queue: it posts notifications at a suitable moment, one for many.
---Posting means calling the handler. While a handler waits, the next notifications wait for it. The
---queue ends when it is invalidated. Raises an error that names the wrong option.
---```lua
---local queue <close> = loop:notifications { function(queue, name, sender, info)
---  print(name, sender, info)   --> changed page 1 2
---end }
---queue:enqueue("changed", { sender = "page 1", info = 1, style = "when_idle" })
---queue:enqueue("changed", { sender = "page 1", info = 2, style = "when_idle" })
---loop:after(1, function() end)   -- something to wait for
---loop:run()
---```
---@param options moonloop.NotificationsOptions The handler, and more.
---@return moonloop.Notifications queue The queue.
function loop:notifications(options) end

---Made by `loop:notifications`.
---@class moonloop.Notifications: moonloop.Item
local notifications = {}

---@class moonloop.EnqueueOptions
---@field style? "as_soon_as_possible"|"when_idle"|"now" Before the end of the pass (the default), before the loop sleeps, or at once.
---@field sender? any Whose notification it is; compared as by `rawequal`.
---@field info? any What else the handler gets.
---@field coalesce? "name"|"sender"|"none"|string[] What must be the same for a waiting one to be dropped; default both.
---@field modes? moonloop.Modes It is posted while the loop runs in one of them; default "default".

---Posts a notification, or queues it; queued ones that are like it are dropped.
---"when_idle" does not keep a run alive, "as_soon_as_possible" does for a pass. "now" posts at once
---if the loop runs in one of the modes, or not at all. Raises an error that names the wrong option,
---or for a queue that has ended.
---```lua
---local queue <close> = loop:notifications { function(queue, name) print(name) end }
---queue:enqueue "soon"
---print(queue:enqueue("at once", { style = "now" }))   --> at once
-----> true
---loop:run()   --> soon
---```
---@param name string What has happened.
---@param options? moonloop.EnqueueOptions When and in which modes to post it.
---@return boolean kept False if it had to be posted now, but the loop runs in another mode.
function notifications:enqueue(name, options) end

---@class moonloop.DequeueOptions
---@field sender? any Whose notifications.
---@field coalesce? "name"|"sender"|"none"|string[] What must be the same; default both.

---Drops the queued notifications that are like this one.
---```lua
---local queue <close> = loop:notifications { print }
---queue:enqueue("changed", { sender = "a" })
---queue:enqueue("changed", { sender = "b" })
---print(queue:dequeue("changed", { coalesce = "name" }))   --> 2
---```
---@param name string The name.
---@param options? moonloop.DequeueOptions What must be the same.
---@return integer count How many there were.
function notifications:dequeue(name, options) end

---How many notifications are queued.
---```lua
---local queue <close> = loop:notifications { print }
---queue:enqueue "changed"
---print(queue.waiting)   --> 1
---```
---@type integer
notifications.waiting = nil
