// Random programs against guests: each goes on with what those before it have left in the guest.

import Glibc
import LuaEmbed
import MoonloopCore
import ScriptGrammar

/// How many programs a guest gets.
private let programs = 64

/// If one crashes, it is the last in the file that MOONLOOP_FUZZ_LOG names, after the others that
/// its guest got.
func guestParser() -> Parser {
  // Without a loop there is nothing to test.
  let loop = try! Loop.makeIsolated("guests", LinuxKernel(clock: .virtual))
  _ = loop.beginIsolation()
  let host = "local guest_text = [==[\n\(FuzzGrammar.guest)]==]\n\(guestHost)"
  let run = inLua("run(text, \(programs))", before: host)
  let log = getenv("MOONLOOP_FUZZ_LOG").map { open($0, O_WRONLY | O_CREAT | O_TRUNC, 0o600) }
  var count = 0
  return { bytes in
    var grammar = FuzzGrammar(bytes: Array(bytes))
    var text = grammar.program()
    if let log {
      if count.isMultiple(of: programs) { _ = ftruncate(log, lseek(log, 0, SEEK_SET)) }
      let line = "---- \(count)\n\(text)"
      _ = write(log, line, line.utf8.count)
    }
    count += 1
    text.withUTF8 { run(UnsafeRawBufferPointer($0)) }
  }
}

private let guestHost = """
  local ml = require "moonloop"
  local loop = ml.current()
  loop.on_error = function(failure) failed = failure.message end
  local grants = {
    {}, { "timers" }, { "timers", "inspect", "limit" },
    { "timers", "net=127.0.0.1:0", "fs=read:/usr/share/zoneinfo", "worker" },
  }
  local limits = { memory = "8M", callout = 0.1, handles = 100 }
  local guest, runs = nil, 0
  local function start(number)
    if guest then guest:stop() end
    assert(loop:run { timeout = 0 } == "finished", "an ended guest has left something")
    guest = assert(ml.guest {
      text = guest_text, allow = grants[number % #grants + 1], limits = limits,
      functions = {
        echo = function(...) return ... end, fail = error, wait = function() ml.sleep(0.005) end,
      },
      on_error = none, on_output = none, on_limit = function() return "warn" end,
    })
  end
  function run(text, programs)
    if runs % programs == 0 then start(runs // programs) end
    runs = runs + 1
    loop:task(function()
      pcall(guest.call, guest, "attack", text)
      ml.sleep(0.01)
      assert(guest.status ~= "ended", "the guest has ended")
      loop:stop()
    end)
    loop:run { timeout = 10 }
    assert(not failed, failed)
  end
  """
