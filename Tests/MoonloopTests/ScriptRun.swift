// Runs Lua chunks on an isolated loop with a virtual clock, and checks what they printed, what was
// reported, and what they left behind.

import Glibc
import Moonloop
import Synchronization
import TestSupport
import Testing

/// The outcome of a chunk.
struct ScriptRun {
  var lines: [String] = []
  /// What went to stderr, or would have.
  var reports: [String] = []
  /// What was left when the loop had finished and all garbage was collected.
  var leftovers: [String] = []

  var text: String { lines.joined(separator: "\n") }

  /// Runs a chunk, then the default mode until finished, unless the chunk ran its loop itself.
  ///
  /// The chunk has `print`, whose output is collected; `pipe()`, which makes two nonblocking
  /// descriptors; `close(fd)`; and `write(fd, text)`, which bypasses the loop.
  /// - Parameter setUp: Adds more functions.
  static func of(
    _ chunk: String, name: String = "@test.lua", times: Int = 1, clock: ClockMode = .virtual,
    setUp: (LuaState) -> Void = { _ in }
  ) throws -> ScriptRun {
    _ = RuntimeFolder.path
    return try Loop.isolated(clock: clock) { loop in
      let state = try LuaState(on: loop)
      defer { state.shutDown() }
      let run = Collector()
      try prepare(state, run)
      setUp(state)
      var counts: [Int] = []
      // What is made once, on first use, may be made late; a leak grows each time.
      while counts.count < times || (times > 2 && grew(counts) && counts.count < times + 4) {
        try state.runtime!.mainChunk.start(chunk: chunk, name: name)
        if !state.runtime!.runs.ranLoop { finish(loop) }
        state.collect()
        counts.append(try state.evaluate("return registry_count()"))
      }
      if times > 2, grew(counts) {
        run.result.leftovers.append("registry: \(counts) references")
      }
      run.result.leftovers += leftovers(state)
      return run.result
    }
  }

  /// Whether the last round left more, or less, than the one before.
  private static func grew(_ counts: [Int]) -> Bool {
    counts.count > 1 && counts[counts.count - 1] != counts[counts.count - 2]
  }

  /// Runs until nothing is left. Virtual time passes before the system has reported everything: an
  /// end of file comes late while the child of another test holds a copy until its exec.
  private static func finish(_ loop: Loop) {
    var patience = 500
    while loop.run(for: .seconds(1_000_000)) == .timedOut, patience > 0 {
      patience -= 1
      poll(nil, 0, 1)
    }
  }

  final class Collector {
    var result = ScriptRun()
  }

  /// Gives a descriptor a number that other tests do not get when a script has closed it.
  private static func awayFromOthers(_ fd: Int32) -> Int32 {
    let lowest = 600 + Int32(descriptorsMade.wrappingAdd(1, ordering: .relaxed).newValue % 200)
    // Children of other tests must not hold it.
    let moved = fcntl(fd, F_DUPFD_CLOEXEC, lowest)
    guard moved >= 0 else {
      _ = fcntl(fd, F_SETFD, FD_CLOEXEC)
      return fd
    }
    _ = Glibc.close(fd)
    return moved
  }

  private static let descriptorsMade = Atomic<UInt32>(0)

  /// Closes a descriptor; of a pipe, waits until its other end sees that: a child of another test
  /// holds a copy until its exec, and virtual time would pass meanwhile.
  private static func close(_ fd: Int32) {
    var status = stat()
    let isPipe = fstat(fd, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    _ = Glibc.close(fd)
    var patience = isPipe ? 60_000 : 0
    while patience > 0 {
      // Of the ends that this process has, one that sees the others gone, or two of one pipe.
      var isSeen = true
      var ends = 0
      for other in Int32(3)..<1024 {
        var found = stat()
        if fstat(other, &found) != 0 || found.st_ino != status.st_ino { continue }
        if found.st_dev != status.st_dev { continue }
        var place = pollfd(fd: other, events: 0, revents: 0)
        isSeen = isSeen && poll(&place, 1, 0) == 1
        ends += 1
      }
      if isSeen || ends > 1 { return }
      patience -= 1
      poll(nil, 0, 1)
    }
  }

  static func prepare(_ state: LuaState, _ run: Collector) throws {
    state.runtime!.errors.write = { run.result.reports.append($0) }
    state.register("emit") { (line: String) in run.result.lines.append(line) }
    state.register("close") { (fd: Int) in close(Int32(fd)) }
    state.register("write") { (fd: Int, text: String) in
      _ = Glibc.write(Int32(fd), text, text.utf8.count)
    }
    state.register("open_pipe") { () -> Int in
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else { return -1 }
      let moved = ends.map(awayFromOthers)
      for end in moved { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
      return Int(moved[0]) << 32 | Int(moved[1])
    }
    state.register("open_file") { (path: String) in Int(Glibc.open(path, O_RDONLY | O_CLOEXEC)) }
    try state.run(
      """
      function print(...)
        local texts = table.pack(...)
        for i = 1, texts.n do texts[i] = tostring(texts[i]) end
        emit(table.concat(texts, "\\t"))
      end
      function pipe() local both = open_pipe(); return both >> 32, both & 0xffffffff end
      function registry_count()
        local count = 0
        for key, value in pairs(debug.getregistry()) do
          -- A free place has false: there are as many as were needed at once.
          local isUsed = value and type(value) ~= "number"
          if math.type(key) == "integer" and isUsed then count = count + 1 end
        end
        return count
      end
      """)
  }

  private static func leftovers(_ state: LuaState) -> [String] {
    let runtime = state.runtime!
    var left = runtime.handles.items.map { runtime.label(of: .item($0)) }
    let timers = runtime.handles.timers(of: runtime.loop, madeBy: runtime.context)
    left += timers.map { runtime.label(of: .timer($0)) }
    left += runtime.tasks.all.map { runtime.label(of: .task($0)) }
    left += runtime.requests.waiting.values.map { runtime.label(of: .request($0)) }
    return left
  }
}
