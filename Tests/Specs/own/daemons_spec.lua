-- Processes that programs of a test leave, and that end while it runs or with it.
local ml = require "moonloop"

describe("a daemon", function()
  local function start(t)
    local path = t:tmpdir() .. "/pid"
    t:run { "sh", "-c", 'setsid sh -c \'echo $$ > "$0.n"; mv "$0.n" "$0"; exec sleep 60\' "$0" >'
      .. "/dev/null 2>&1 &", path }
    return t:eventually(function() return assert(io.open(path)):read "n" end)
  end

  it("that is ending when the test ends is not left behind", function(_, _, t)
    ml.process.kill(start(t), "kill")
  end)

  it("is gone for those who look whether its process is there", function(_, _, t)
    local stopped = t:run { "sh", "-c", [[
      kill "$0"
      for i in 1 2 3 4 5 6 7 8 9 10; do
        kill -0 "$0" 2>&- || { echo gone; exit; }
        sleep 0.2
      done
      echo there
    ]], start(t) }
    assert.equal("gone\n", stopped.stdout)
  end)
end)

describe("a deadline that comes late, as the loop was busy", function()
  local function be_busy()
    local ends = ml.now() + 0.25
    while ml.now() < ends do end
  end

  it("is not before what has arrived meanwhile", function(loop, _, t)
    local p = t:spawn { "sh", "-c", "read x; echo there; sleep 60", stdin = "pipe" }
    p.stdin:write "go\n"
    loop:after(0, be_busy)
    p:expect("there", 0.1)
  end)

  it("is not before the end of a program", function(loop, _, t)
    loop:after(0, be_busy)
    assert.equal("done\n", t:run({ "echo", "done", timeout = 0.1 }).stdout)
  end)

  it("still comes", function(loop, _, t)
    local p = t:spawn { "sleep", "60" }
    loop:after(0, be_busy)
    assert.has_error(function() p:expect("there", 0.1) end)
  end)
end)
