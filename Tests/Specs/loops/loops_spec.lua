-- Each test has its own loop and clock; a block that serves something keeps its loop.
local ml = require "moonloop"

describe("virtual time", { clock = "virtual" }, function()
  it("jumps over what it waits for", function(_, clock)
    local before = clock:now()
    ml.sleep(3600)
    assert.near(3600, clock:now() - before, 1e-6)
  end)

  it("runs every due timer in order, with its follow-up work", function(loop, clock)
    local log, begin = {}, clock:now()
    local function note(name)
      log[#log + 1] = ("%s@%.1f"):format(name, clock:now() - begin)
    end
    loop:after(1, function()
      note "one"
      loop:after(0.5, function() note "of one" end)
      loop:perform(function() note "next" end)
    end)
    local every = loop:every(0.75, function() note "tick" end)
    clock:advance(2)
    every:invalidate()
    assert.same({ "tick@0.8", "one@1.0", "next@1.0", "tick@1.5", "of one@1.5" }, log)
  end)

  it("is the time of the standard library", function(_, clock)
    local time, ticks = os.time(), os.clock()
    clock:advance(3600)
    assert.equal(3600, os.time() - time)
    assert.near(3600, os.clock() - ticks, 60)
  end)

  it("cannot be moved back, nor by a word", function(_, clock)
    assert.error_matches(function() clock:advance(-1) end, "must be a finite number >= 0, got %-1")
    assert.error_matches(function() clock:advance "1" end, 'must be a finite number >= 0, got "1"')
    assert.error_matches(function() return clock.speed end, "no field 'speed'")
  end)
end)

describe("real time", function()
  it("has nothing but what the test makes", function(loop)
    local mode = loop:modes().default
    assert.same({ 0, 0, 0 }, { mode.timers, mode.sources, mode.blocks })
    local timer <close> = loop:after(60, print)
    assert.equal(1, loop:modes().default.timers)
    assert.equal(60, math.floor(timer.next_fire - ml.now() + 0.5))
  end)

  it("is over, whatever goes on after that", { timeout = 0.05 }, function(loop)
    local timer <close> = loop:after(60, print)
    loop:run()
  end)

  it("is the machine's", function()
    assert.near(ml.wall_time(), os.time(), 2)
  end)

  it("is not moved by hand", function(_, clock)
    assert.equal("real", clock:kind())
    assert.error_matches(function() clock:advance(1) end, "clock = \"virtual\"")
  end)
end)

describe("a test", function()
  local first
  it("has a loop of its own", function(loop)
    assert.equal(ml.current(), loop)
    loop:add_common_mode "mine"
    first = loop:modes().mine
    assert.is_table(first)
  end)
  it("sees nothing of the one before", function(loop) assert.is_nil(loop:modes().mine) end)
end)

describe("a block that serves", function()
  local ticks, timer = 0, nil
  setup(function() timer = ml.current():every(0.001, function() ticks = ticks + 1 end) end)
  teardown(function() timer:invalidate() end)
  it("is served in its tests", function()
    while ticks < 3 do ml.sleep(0.001) end
  end)
  describe("and in blocks within", function()
    it("as well", function()
      local seen = ticks
      while ticks == seen do ml.sleep(0.001) end
    end)
    it("without what the test leaves behind", function(loop) loop:after(60, print) end)
    it("but has no clock of its own", { clock = "virtual" }, print)
  end)
end)

it("is stopped where it waits", { timeout = 0.05 }, function(loop)
  loop:task({ name = "helper" }, function() ml.sleep(1000) end)
  ml.sleep(500)
end)

it("is stopped where it works", { timeout = 0.05 }, function()
  while true do end
end)

it("is stopped while a property is simplified", { timeout = 0.05 }, function(_, _, t)
  local calls = 0
  t:forall({ t.any.integer(5, 9) }, function()
    calls = calls + 1
    if calls > 1 then ml.sleep(500) end
    return false
  end)
end)

it("waits for nothing that could come", function() ml.await(function() end) end)

it("is well afterwards", { clock = "skip_idle" }, function() ml.sleep(100) end)

it("fails before it ends what it has made, which is no second mistake", function(loop)
  local timer = loop:every(1, function() end)
  assert(false, "not as expected")
  timer:invalidate()
end)
