---@meta _
-- Inspection

---@class moonloop.Loop
local loop = {}

---Explains why a handle is not called now, or why the run is not finished.
---```lua
---local timer <close> = loop:timer { every = 1, name = "poll", modes = "tracking", print }
---print(loop:why(timer))
---```
---@param handle? moonloop.Item|moonloop.ProgramItem|moonloop.Request The handle; without it: what keeps a run from finishing.
---@return string reason For people; the wording may change.
function loop:why(handle) end

---Lists every handle, task and request as text: where it was made, and its state.
---```lua
---local timer <close> = loop:timer { every = 1, name = "poll", print }
---print(loop:dump())
---```
---@return string text For people; the columns may change.
function loop:dump() end

---@class moonloop.MetricsOptions
---@field on? boolean False: return the figures and stop measuring. Default true.
---@field reset? boolean Return the figures and start again from zero.

---Returns what the loop did since the first call, which starts the measuring.
---Until then nothing is measured, at no cost. Handles made at one place under one name share a row.
---See [seeing.md](../seeing.md).
---```lua
---loop:metrics()
---local beat = loop:every(1, function() end)
---loop:run { timeout = 3.5 }
---print(loop:metrics().handles[1].calls)   --> 3
---beat:invalidate()
---loop:metrics { on = false }
---```
---@param options? moonloop.MetricsOptions Whether to go on measuring.
---@return moonloop.Metrics? metrics Nil if `on = false` and nothing was measured.
function loop:metrics(options) end

---What a loop did since the measuring started.
---@class moonloop.Metrics
---@field loop string The name of the loop.
---@field clock string "real", "virtual" or "skip_idle".
---@field mode? string The current mode.
---@field depth integer How many runs are nested now.
---@field measured moonloop.Seconds For how long, on the loop's clock.
---@field passes integer Number of passes.
---@field wake_ups integer How many sleeps ended.
---@field causes table<string, integer> What was called first after a wake-up: 'timer', 'source', 'port', 'fd', 'perform', 'main_queue'; or 'nothing'.
---@field idle moonloop.Seconds Time asleep.
---@field busy moonloop.Seconds Time in handlers.
---@field under_way? table The call in which a console asks: 'by', the handle; 'took', its time so far.
---@field live table<string, integer> The number of 'timers', 'items', 'tasks' and 'requests' now.
---@field handles moonloop.HandleMetrics[] A row for each, the busiest first.

---The handles that were made at one place under one name.
---@class moonloop.HandleMetrics
---@field kind string "timer", "source", "task", …
---@field name string Empty if it has none.
---@field made_at string File and line.
---@field calls integer How often a handler was called, or resumed after a wait.
---@field missed integer Timer fires that were merged into later ones, while the timer was served.
---@field own_missed integer Timer fires that were missed because their own handler had not returned.
---@field wake_ups integer How many wake-ups it caused.
---@field busy moonloop.Seconds Time in its handlers.
---@field duration moonloop.Percentiles How long a call took, without nested runs and calls.
---@field late? moonloop.Percentiles How long a due timer waited while it was served, before it was called.
---@field made_late? table[] Calls that kept the thread busy when it was due, one for each handle, the worst first, at most 8: 'by', the handle; 'calls', how many one after the other; 'took', without their nested runs; 'late'; 'missed', the fires missed because of that handle.
---@field usage? moonloop.GuestUsage What the [guests](guests.md) of this row use.
---@field held? moonloop.HeldBack How long due timers were kept from firing on purpose; nil if they never were.

---The time in which due timers were held back: they are not late, and no handler is to blame.
---@class moonloop.HeldBack
---@field count integer How many calls came after such a time.
---@field missed integer Timer fires that were merged into later ones because of it.
---@field total moonloop.Seconds All such time.
---@field max moonloop.Seconds The longest before one call; 0 if under a millisecond.
---@field no_mode moonloop.Seconds Part of the total: the timer was in no mode.
---@field not_running moonloop.Seconds Part of the total: the loop was not running.
---@field mode moonloop.Seconds Part of the total: no run was in a mode of the timer.
---@field nested_run moonloop.Seconds Part of the total: a nested run was in another mode.
---@field handler moonloop.Seconds Part of the total: the timer's own handler was suspended.
---@field clock moonloop.Seconds Part of the total, in real time: the clock was kept from jumping to its date.
---@field missed_by table<string, integer> The fires missed, by cause; the keys are the six above.
---@field by? string Why it was held back longest, for people; the wording may change.
---@field nests? table[] What nested runs cost: 'by', the handle that ran the loop; 'mode', that of the run; 'time' and 'missed'.

---Times; a percentile is at most an eighth too high.
---@class moonloop.Percentiles
---@field p50 moonloop.Seconds Half of them took at most this long.
---@field p90 moonloop.Seconds 90 of 100 took at most this long.
---@field p99 moonloop.Seconds 99 of 100 took at most this long.
---@field max moonloop.Seconds The longest.
---@field mean moonloop.Seconds The average.

---@class moonloop
local ml = {}

---@class moonloop.InspectOptions
---@field depth? integer How many levels of tables are shown; default 5, on one line 2.
---@field items? integer How many elements of each table; default 100.
---@field width? integer Columns of a line; default 78.
---@field one_line? boolean Everything on one line, cut at 'width'.

---Shows any value as text, as the prompt does.
---Tables are shown with their contents, lists first, then fields in order; cycles are marked.
---Metamethods are not called, except `__tostring`. Loaded when first used. Raises an error that
---names the wrong option.
---```lua
---local ada = { name = "ada", tags = { "x", "y" } }
---ada.self = ada
---print(ml.inspect(ada))   --> { name = "ada", self = (this table again), tags = { "x", "y" } }
---print(ml.inspect({ { { 1 } } }, { depth = 2 }))   --> { { {...} } }
---```
---@param value any Anything.
---@param options? moonloop.InspectOptions How much of it is shown.
---@return string text For people; the wording may change.
function ml.inspect(value, options) end
