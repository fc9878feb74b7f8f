// A storm of signals on the loop's thread, whose handlers make system calls fail with EINTR:
// nothing that waits is disturbed.

import Glibc
import Moonloop
import Synchronization
import Testing

@Suite("A storm of interruptions")
struct InterruptionTests {
  private static let interruptions = Atomic<Int>(0)

  /// A signal with no other use here; system calls are not restarted after its handler.
  private static let number = SIGIO

  /// Interrupts this thread again and again during a call.
  private static func storm(_ body: () throws -> Void) rethrows {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in
      InterruptionTests.interruptions.add(1, ordering: .relaxed)
    }
    var before = sigaction()
    _ = interruptions.load(ordering: .relaxed)  // First used here, not in the handler.
    sigaction(number, &action, &before)
    defer { sigaction(number, &before, nil) }
    var mask = sigset_t()
    sigemptyset(&mask)
    sigaddset(&mask, number)
    var maskBefore = sigset_t()
    pthread_sigmask(SIG_UNBLOCK, &mask, &maskBefore)
    defer { pthread_sigmask(SIG_SETMASK, &maskBefore, nil) }
    let isOver = Flag()
    let thread = Thread(target: pthread_self(), isOver)
    defer { thread.join() }
    defer { isOver.value.store(true, ordering: .releasing) }
    try body()
  }

  private final class Flag: Sendable {
    let value = Atomic<Bool>(false)
  }

  /// The thread that sends the signals.
  private final class Thread {
    private var id = pthread_t()
    private let work: Unmanaged<Work>

    private final class Work {
      let target: pthread_t
      let isOver: Flag
      init(_ target: pthread_t, _ isOver: Flag) { (self.target, self.isOver) = (target, isOver) }
    }

    init(target: pthread_t, _ isOver: Flag) {
      work = .passRetained(Work(target, isOver))
      pthread_create(
        &id, nil,
        { context in
          let work = Unmanaged<Work>.fromOpaque(context!).takeUnretainedValue()
          // Sends the next once the last was handled: as many as the thread can take.
          var last = -1
          while !work.isOver.value.load(ordering: .acquiring) {
            let count = InterruptionTests.interruptions.load(ordering: .relaxed)
            if count != last {
              last = count
              pthread_kill(work.target, InterruptionTests.number)
            }
            sched_yield()
          }
          return nil
        }, work.toOpaque())
    }

    func join() {
      pthread_join(id, nil)
      work.release()
    }
  }

  private static let script = """
    local ml = require "moonloop"
    local loop = ml.current()

    -- Deadlines, woken in their order though they were made in another.
    local order, start = {}, ml.now() + 0.2
    local function sleepers(scope)
      for index = 1, 50 do
        local place = index * 37 % 50
        scope:task(function()
          ml.sleep(math.max(0, start + 0.004 * place - ml.now()))
          order[#order + 1] = place
        end)
      end
    end

    -- A timer's grid: each date is a call, or one of those that were missed.
    local dates, begin = 0, ml.now()
    local timer = loop:every(0.001, function(_, missed) dates = dates + 1 + missed end)

    loop:task(function(scope)
      sleepers(scope)
      -- One byte at a time through a connection, and much at once through a pipe.
      local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
        while true do
          local byte = stream:read(1)
          if not byte then return end
          assert(stream:write(byte))
        end
      end })
      local client = assert(ml.net.connect { host = "localhost", port = server.port })
      local echoed = scope:task(function() return client:read "a" end)
      local text = {}
      for index = 1, 2000 do
        text[index] = string.char(97 + index % 26)
        assert(client:write(text[index]))
        if index % 10 == 0 then ml.sleep(0) end
      end
      client:shutdown()
      print(echoed:await() == table.concat(text))

      local from, to = pipe()
      local input = ml.stream { fd = from, close = true }
      local output = ml.stream { fd = to, close = true }
      local all = scope:task(function() return input:read "a" end)
      local big = ("0123456789abcdef"):rep(1 << 16)
      assert(output:write(big))
      output:close()
      print(all:await() == big)

      for _ = 1, 5 do
        local result = assert(ml.process.run({ "sh", "-c", "cat; exit 3", input = "given" }))
        assert(result.stdout == "given" and result.code == 3)
      end
      local worker = assert(ml.worker { source = [[
        local ml = require "moonloop"
        ml.parent:on("message", function(number, reply) reply(number * 2) end)
      ]] })
      for number = 1, 100 do assert(worker.port:request(number) == number * 2) end
      worker:stop()
      local found = assert(ml.net.resolve("localhost", { family = "inet" }))
      print(found[1])
      server:invalidate()
    end):wait { mode = "default" }
    while #order < 50 do ml.sleep(0.001) end
    timer:invalidate()
    for index, place in ipairs(order) do assert(place == index - 1, index) end
    print(dates > 100 and dates <= (ml.now() - begin) / 0.001)
    print(loop:run())
    """

  @Test("is not noticed by timers, streams, children, workers and names")
  func unnoticed() throws {
    var run = ScriptRun()
    try Self.storm { run = try ScriptRun.of(Self.script, clock: .real) }
    #expect(run.reports == [] && run.leftovers == [])
    #expect(run.lines == ["true", "true", "127.0.0.1", "true", "finished\tnil\tfalse"])
    #expect(Self.interruptions.load(ordering: .relaxed) > 10)
  }
}
