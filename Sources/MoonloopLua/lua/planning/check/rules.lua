-- The rules of `moonloop check`: what each is called, why it is, and what to do about a finding.
local rules = {}

local list = {
  { "mistake", "the configuration is refused when it is run",
    "write what is expected" },
  { "syntax", "the file cannot be loaded", "mend the syntax" },
  { "mode-never-run", "an item is served only while its loop runs in one of its modes",
    "run the loop in the mode, or put the item into a mode that is run" },
  { "never-ends", "what comes after a run waits until that ends",
    "give it a timeout, or have a signal or a handler stop it" },
  { "ends-at-once", "a run in a mode without timers and sources is finished as soon as it begins",
    "put what it is to serve into the mode, or take the run away" },
  { "runs-common", "'common' stands for a set of modes that items are scheduled in; no loop runs "
    .. "in it, so the run is finished at once", "run one mode of the set" },
  { "never-signalled", "a custom source is performed after it was signalled, not before",
    "call source:signal() where its work appears, or take the source away" },
  { "signal-without-wake-up", "a signal marks a source and wakes nobody: a loop that is about to "
    .. "sleep goes to sleep all the same", "call loop:wake_up() after source:signal()" },
  { "shared-wake-up", "timers of equal intervals that begin at different moments wake the loop "
    .. "once each", "give one of them a tolerance, and they share their wake-ups" },
  { "zero-interval", "a timer without a delay keeps the loop from ever sleeping",
    "use an interval of at least a millisecond, or wait for what the timer looks for" },
  { "wide-tolerance", "a timer that may be late by its whole interval misses fires",
    "use a tolerance well below the interval, such as a tenth" },
  { "nested-default", "all that is in the default mode is served inside of the handler, the same "
    .. "handlers again too, and a stop meets the inner run",
    "run a private mode, or wait as a task" },
  { "never-invalidated", "each call of the handler makes another one, and nothing ends them",
    "keep the handle and invalidate it, or make it once outside" },
  { "blocks-the-loop", "nothing else is served until the call returns",
    "use ml.process, or a descriptor or stream on the loop" },
  { "starves-others", "while a handler runs, no other does, and timers miss their fires",
    "do less in a call, give way with ml.sleep(0), or use a worker" },
}

rules.order, rules.by_name = {}, {}
for place, row in ipairs(list) do
  rules.order[place] = row[1]
  rules.by_name[row[1]] = { why = row[2], advice = row[3] }
end

return rules
