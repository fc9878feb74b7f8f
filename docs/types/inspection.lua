---@meta _
-- Inspection

---@class moonloop.Loop
local loop = {}

---Says in words why a handle is not called now, or why the loop is not finished.
---```lua
---local timer <close> = loop:timer { every = 1, name = "poll", modes = "tracking", print }
---print(loop:why(timer))
---```
---@param handle? moonloop.Item|moonloop.ProgramItem|moonloop.Request What is asked about; without it: what keeps a run from finishing.
---@return string reason For people; its wording may change.
function loop:why(handle) end

---A table of every handle, task and request, as text: where it was made, and its state.
---```lua
---local timer <close> = loop:timer { every = 1, name = "poll", print }
---print(loop:dump())
---```
---@return string text For people; its columns may change.
function loop:dump() end

---@class moonloop.MetricsOptions
---@field on? boolean False: ends it, after a last look. Default true.
---@field reset? boolean True: all begins anew, after this look.

---What the loop did since the first call, which begins to measure.
---Until then nothing is measured, and nothing is paid. Handles that were made at one place under
---one name are one row. See [seeing.md](../seeing.md).
---```lua
---loop:metrics()
---local beat = loop:every(1, function() end)
---loop:run { timeout = 3.5 }
---print(loop:metrics().handles[1].calls)   --> 3
---beat:invalidate()
---loop:metrics { on = false }
---```
---@param options? moonloop.MetricsOptions What becomes of the measuring.
---@return moonloop.Metrics? metrics Nil if `on = false` and nothing was measured.
function loop:metrics(options) end

---What a loop did since it is measured.
---@class moonloop.Metrics
---@field loop string The name of the loop.
---@field clock string "real", "virtual" or "skip_idle".
---@field mode? string The mode that runs now.
---@field depth integer How many runs are nested now.
---@field measured moonloop.Seconds For how long, on the loop's clock.
---@field passes integer How many passes there were.
---@field wake_ups integer How many sleeps ended.
---@field causes table<string, integer> What was called first after them: 'timer', 'source', 'port', 'fd', 'perform', 'main_queue'; or 'nothing'.
---@field idle moonloop.Seconds The time asleep.
---@field busy moonloop.Seconds The time in handlers.
---@field under_way? table The call that a console asks in the middle of: 'by', which handle, 'took', so far.
---@field live table<string, integer> How many 'timers', 'items', 'tasks' and 'requests' there are now.
---@field handles moonloop.HandleMetrics[] A row each, the busiest first.

---The handles that were made at one place under one name.
---@class moonloop.HandleMetrics
---@field kind string "timer", "source", "task", …
---@field name string Empty if it has none.
---@field made_at string File and line.
---@field calls integer How often a handler was called, or went on after a wait.
---@field missed integer Fires of timers that were coalesced into later ones.
---@field wake_ups integer How many sleeps ended for it.
---@field busy moonloop.Seconds The time in its handlers.
---@field duration moonloop.Percentiles How long a call took, without the runs and calls inside.
---@field late? moonloop.Percentiles How long after its date a timer was called.
---@field made_late? table The last call that had the thread when it was due: 'by', which handle, 'took', 'late'.

---Times; a percentile is at most an eighth too high.
---@class moonloop.Percentiles
---@field p50 moonloop.Seconds Half took no longer.
---@field p90 moonloop.Seconds Nine of ten.
---@field p99 moonloop.Seconds Ninety-nine of a hundred.
---@field max moonloop.Seconds The longest.
---@field mean moonloop.Seconds The sum by the number.
