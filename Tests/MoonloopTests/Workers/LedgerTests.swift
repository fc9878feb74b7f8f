// The ledger: no message between workers is lost, doubled or reordered, although workers die.
//
// A million messages in an ordinary run, fifty thousand under a sanitizer; MOONLOOP_LEDGER sets
// another number, MOONLOOP_SEED the seed, which a failure shows.

import Glibc
import Moonloop
import Testing

@Suite(.serialized) struct LedgerTests {
  private static func number(_ name: String) -> Int? {
    getenv(name).flatMap { Int(String(cString: $0)) }
  }

  static let messages =
    number("MOONLOOP_LEDGER") ?? (getenv("MOONLOOP_SANITIZED") == nil ? 1_000_000 : 50_000)
  static let seed = number("MOONLOOP_SEED") ?? Int(time(nil))

  /// Each worker counts what it receives and sends its own numbers; now and then it dies, in one of
  /// several ways. The owner keeps books for every life of every worker.
  static let script = """
    local ml = require "moonloop"
    local loop = ml.current()
    local total, seed = TOTAL, SEED
    local random = seed
    local function draw(n)   -- the same everywhere
      random = (random * 6364136223846793005 + 1442695040888963407)
      return (random >> 33) % n + 1
    end
    local source = [[
      local ml = require "moonloop"
      local args = ...
      local got = 0
      local function sends(from, to)
        for number = from, to do assert(ml.parent:send({ n = number }, { timeout = 1000 })) end
      end
      ml.parent:on("message", function(message, reply)
        if message.ask then return reply { got = got, id = args.id } end
        assert(message.n == got + 1, "worker: " .. message.n .. " after " .. got)
        got = message.n
        if got % 100 == 0 then reply { ack = got } end
        if got == args.dies then
          if args.way == 1 then error "dies in a handler's error" end
          if args.way == 2 then os.exit(1) end
          if args.way == 3 then while true do end end
          if args.way == 4 then ml.current():stop() end
        end
      end)
      for from = 1, args.sends, 250 do
        sends(from, math.min(from + 249, args.sends))
        if from % 1000 == 1 then ml.sleep(0) end
      end
      assert(ml.parent:send({ done = args.sends }, { timeout = 1000 }))
    ]]
    local moved, lives, deaths = 0, 0, 0
    local function live(id, budget)
      lives = lives + 1
      local sends = budget // 2
      local way = draw(6)   -- 5 and 6 live on
      local dies = way <= 4 and draw(sends) or -1
      local worker <close> = assert(ml.worker {
        name = "ledger " .. id, capacity = 64 + draw(2000), source = source,
        args = { id = id, sends = sends, dies = dies, way = way }, on_error = function() end,
      })
      local got, done = 0, nil
      worker.port:on("message", function(message)
        if message.done then done = message.done return end
        assert(message.n == got + 1, ("owner: %d after %d"):format(message.n, got))
        got = message.n
        moved = moved + 1
      end)
      local sent, acked = 0, 0
      while sent < sends do
        sent = sent + 1
        if sent % 100 == 0 then
          local reply, text, code = worker.port:request({ n = sent }, { send_timeout = 1000,
            timeout = 1000 })
          if not reply then
            assert(code == "EPIPE", text)
            break
          end
          assert(reply.ack == sent, reply.ack)
          moved = moved + 100
          acked = sent
        elseif not worker.port:send({ n = sent }, { timeout = 1000 }) then
          break
        end
        if way == 3 and sent == dies then worker:stop() end
      end
      if way > 4 then
        local answer = assert(worker.port:request({ ask = true }, { send_timeout = 1000,
          timeout = 1000 }))   -- the port may be full of what was sent last
        assert(answer.got == sends and answer.id == id and sent == sends)
        local start = ml.now()
        while done == nil do ml.sleep(0.001) end
        assert(got == sends and done == sends, got)
      else
        deaths = deaths + 1
        -- Its numbers came without a gap as far as they came, and its end is told.
        if way == 1 then worker:stop() end
        worker:stop()
        pcall(worker.await, worker)
        assert(got <= sends)
      end
    end
    local lines = {}
    for id = 1, 4 do
      lines[id] = loop:task(function() while moved < total do live(id, 1000 + draw(16000)) end end)
    end
    local checker = loop:task(function()
      for id = 1, 4 do lines[id]:await() end
      report(moved, lives, deaths)
    end)
    """

  @Test func `no message is lost, doubled or reordered while workers die`() throws {
    let seed = Self.seed
    let script = Self.script.replacing("TOTAL", "\(Self.messages)").replacing("SEED", "\(seed)")
    try Loop.isolated(clock: .real) { loop in
      let state = try LuaState(on: loop)
      defer { state.shutDown() }
      var reports: [String] = []
      var books: (moved: Int, lives: Int, deaths: Int)?
      state.runtime!.errors.write = { reports.append($0) }
      state.register("report") { (moved: Int, lives: Int, deaths: Int) in
        books = (moved, lives, deaths)
      }
      try state.runtime!.mainChunk.start(chunk: script, name: "@ledger.lua")
      #expect(loop.run() == .finished)
      #expect(reports == [], "seed \(seed)")
      let moved = books?.moved ?? 0
      #expect(moved >= Self.messages, "seed \(seed)")
      #expect((books?.deaths ?? 0) > 0, "seed \(seed)")
      print("ledger: seed \(seed), \(books.map { "\($0)" } ?? "no books")")
    }
  }
}

extension String {
  fileprivate func replacing(_ word: String, _ other: String) -> String {
    var result = ""
    var rest = self[...]
    while !rest.isEmpty {
      if rest.hasPrefix(word) {
        result += other
        rest = rest.dropFirst(word.count)
      } else {
        result.append(rest.removeFirst())
      }
    }
    return result
  }
}
