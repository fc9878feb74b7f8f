// Random scripts: whatever they do, none of our code traps, hangs or leaks (promise S4).

import Glibc
import Moonloop
import ScriptGrammar
import Testing

/// MOONLOOP_FUZZ sets how many scripts are run, MOONLOOP_FUZZ_SEED the first one. If one crashes,
/// it is in one of the files NAME.0, NAME.1, ... where MOONLOOP_FUZZ_LOG is NAME.
@Suite struct FuzzTests {
  private static func number(_ name: String) -> Int? {
    getenv(name).flatMap { Int(String(cString: $0)) }
  }

  private static let scripts =
    number("MOONLOOP_FUZZ") ?? (getenv("MOONLOOP_SANITIZED") == nil ? 2000 : 200)
  private static let firstSeed = number("MOONLOOP_FUZZ_SEED") ?? 1
  private static let parts = 4

  /// Descriptors for the scripts alone: far above those of other tests.
  private final class Descriptors {
    private var open: [Int32] = []
    private let part: Int32

    init(part: Int) { self.part = Int32(part) }

    func pipe() -> Int {
      var ends: [Int32] = [0, 0]
      guard Glibc.pipe(&ends) == 0 else { return -1 }
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(7), &limit)  // RLIMIT_NOFILE
      let room = Int32(clamping: min(limit.rlim_cur, 20_000))
      // Another test may have lowered the limit meanwhile, which leaves no such room.
      if room < 1000 {
        for end in ends { close(end) }
        return -1
      }
      let first = room / 2 + room / 10 * part
      let high = ends.map { end in
        defer { close(end) }
        let copy = fcntl(end, F_DUPFD_CLOEXEC, first)
        _ = fcntl(copy, F_SETFL, O_NONBLOCK)
        return copy
      }
      open += high.filter { $0 >= 0 }
      return high.min()! < 0 ? -1 : Int(high[0]) << 32 | Int(high[1])
    }

    func closeAll() {
      for end in open { close(end) }
      open = []
    }
  }

  private func run(_ seed: Int, part: Int, _ warden: Warden) throws {
    var grammar = FuzzGrammar(seed: UInt64(seed))
    let script = grammar.script()
    if let log = getenv("MOONLOOP_FUZZ_LOG") {
      guard let file = fopen("\(String(cString: log)).\(part)", "w") else { return }
      fputs("-- \(seed)\n\(script)", file)
      fclose(file)
    }
    let descriptors = Descriptors(part: part)
    defer { descriptors.closeAll() }
    let limits =
      seed.isMultiple(of: 4)
      ? LuaLimits(memory: 8 << 20, callout: .milliseconds(200)) : LuaLimits(callout: .seconds(2))
    try Loop.isolated(clock: .virtual) { loop in
      warden.begin(seed, loop)
      defer { warden.end(seed) }
      let state = try LuaState(on: loop, limits: limits)
      state.runtime!.errors.write = { _ in }
      state.register("pipe_ends") { descriptors.pipe() }
      state.register("write_bytes") { (end: Int, text: String) in
        _ = Glibc.write(Int32(truncatingIfNeeded: end), text, text.utf8.count)
      }
      try state.run(
        """
        print = function() end
        io.write = function() return io.stdout end
        function pipe() local both = pipe_ends() return both >> 32, both & 0xffffffff end
        function write(to, text)
          if math.type(to) == "integer" and to > 0 then write_bytes(to, text) end
        end
        """)
      try state.runtime!.mainChunk.start(chunk: script, name: "@fuzz-\(seed).lua")
      loop.run(for: .seconds(100))
      state.shutDown()
      loop.run(for: .zero)
    }
  }

  @Test(arguments: 0..<parts)
  func `random scripts crash nothing and leave nothing`(part: Int) throws {
    let warden = Warden()
    defer { warden.retire() }
    let before = openDescriptors()
    let seeds = stride(
      from: Self.firstSeed + part, to: Self.firstSeed + Self.scripts, by: Self.parts)
    var count = 0
    for seed in seeds {
      count += 1
      do { try run(seed, part: part, warden) } catch { Issue.record("seed \(seed): \(error)") }
    }
    // Other tests open some meanwhile; a leak would show with every script.
    #expect(openDescriptors() - before < 100 + count / 20)
  }
}
