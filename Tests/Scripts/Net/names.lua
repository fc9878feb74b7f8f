-- A name without an address: an error with the resolver's code, within the time limit.
local ml = require "moonloop"
local loop = ml.current()
loop:task(function()
  local started = ml.now()
  for _, ask in ipairs {
    function(options) return ml.net.resolve("no.such.host.invalid", options) end,
    function(options)
      return ml.net.connect { host = "no.such.host.invalid", port = 80, timeout = options.timeout }
    end,
  } do
    local none, message, code = ask { timeout = 300 }
    assert(none == nil and code:find "^EAI_", message)
    assert(message:find "no%.such%.host%.invalid", message)
    none, message, code = ask { timeout = 0 }
    assert(none == nil and (code == "ETIMEDOUT" or code:find "^EAI_"), message)
  end
  assert(ml.now() >= started)
end):wait()
