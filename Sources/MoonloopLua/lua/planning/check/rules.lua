-- The rules of `moonloop check`: name, reason, and advice.
local rules = {}

local list = {
  { "mistake", "the configuration will be rejected when it is run",
    "write what is expected" },
  { "syntax", "the file cannot be loaded", "fix the syntax error" },
  { "mode-never-run", "an item is served only while its loop runs in one of its modes",
    "run the loop in that mode, or move the item to a mode that runs" },
  { "never-ends", "the code after a run waits until the run ends",
    "give it a timeout, or stop it from a signal or handler" },
  { "ends-at-once", "a run in a mode without timers and sources is finished as soon as it begins",
    "add its items to the mode, or remove the run" },
  { "runs-common", "'common' is a set of modes for items, in which no loop can run: the call "
    .. "raises an error", "run one mode of the set" },
  { "never-signalled", "a custom source is performed only after it is signalled",
    "call source:signal() when there is work, or remove the source" },
  { "signal-without-wake-up", "signalling a source does not wake the loop: if it is about to "
    .. "sleep, it still does", "call loop:wake_up() after source:signal()" },
  { "shared-wake-up", "timers with equal intervals that start at different times wake the "
    .. "loop separately", "let them start together, or give one of them a tolerance of the time "
    .. "between them" },
  { "zero-interval", "a timer without a delay never lets the loop sleep",
    "use an interval of at least a millisecond, or wait for the event itself" },
  { "wide-tolerance", "a timer that may be a whole interval late misses fires",
    "use a tolerance well below the interval, such as a tenth" },
  { "nested-default", "the whole default mode is served inside the handler, even the same "
    .. "handlers again, and a stop ends only the inner run",
    "run a private mode, or wait as a task" },
  { "never-invalidated", "each call of the handler makes another one, and they are never ended",
    "keep the handle and invalidate it, or make it once, outside the handler" },
  { "blocks-the-loop", "the loop serves nothing else until the call returns",
    "use ml.process, or a descriptor or stream on the loop" },
  { "unknown-name", "it raises an error when the script gets there",
    "use an existing name; 'moonloop help' lists them" },
  { "wrong-value", "it raises an error when the script gets there",
    "write what is expected; 'moonloop help' has it" },
  { "dot-for-colon", "a method that is called with a dot does not get its handle, and raises an "
    .. "error", "write a colon" },
  { "called-at-once", "the function is called where it should be passed, and its result is no "
    .. "function", "pass the function itself, or function() … end around the call" },
  { "plain-yield", "to Lua's own functions a handler looks like the main chunk: a yield there "
    .. "raises an error", "wait with ml.sleep, ml.await or a channel, or yield in a coroutine of "
    .. "your own" },
  { "never-added", "an item made with ml is in no mode, and is never served until it is in one",
    "pass it to loop:add, or make it with the loop's own method" },
  { "closed-at-once", "a <close> variable of a script is closed as the script ends; the loop runs "
    .. "after that", "use a local without <close>, or call loop:run() in the script" },
  { "starves-others", "while a handler runs, no other can: timers come late or miss fires",
    "do less per call, yield with ml.sleep(0), or use a worker" },
  { "outlasts-interval", "a timer's handler is not called again before it has returned, and what "
    .. "comes due meanwhile is merged into one fire", "use a longer interval, do less per call, or "
    .. "use a worker" },
  { "held-back", "a timer is served only while the innermost run is in one of its modes",
    "run the loop in its mode, add the timer to the mode that ran, or wait as a task instead of "
    .. "running the loop" },
  { "clock-hold", "a clock that jumps stands, in real time, while an answer from outside is under "
    .. "way", "put a stand-in in the place of what is outside, or run with the real clock" },
}

rules.order, rules.by_name = {}, {}
for place, row in ipairs(list) do
  rules.order[place] = row[1]
  rules.by_name[row[1]] = { why = row[2], advice = row[3] }
end

return rules
