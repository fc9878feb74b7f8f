// The descriptors of file watches: one for each loop that watches, closed with the loop.

import Dispatch
import Glibc
import Moonloop
import MoonloopCore
import Synchronization
import Testing

@Suite("The descriptors of file watches")
struct WatchDescriptorTests {
  /// How many inotify descriptors the process has open.
  private static func count() -> Int {
    (0..<4096).count { number in
      var buffer = [UInt8](repeating: 0, count: 64)
      let length = buffer.withUnsafeMutableBytes {
        readlink("/proc/self/fd/\(number)", $0.baseAddress!, $0.count)
      }
      return length > 0 && String(decoding: buffer, as: UTF8.self).contains("inotify")
    }
  }

  static let ends: [(how: String, script: String)] = [
    ("its watch ended before", "loop:watch({ FOLDER, print }):invalidate()"),
    ("it has a watch", "loop:watch { FOLDER, print }"),
    ("its watch was collected", "ml.watch { FOLDER, print } collectgarbage()"),
  ]

  @Test("are not left open by a loop that has ended", arguments: ends.indices)
  func areClosed(_ index: Int) throws {
    let (threads, loops) = (25, 20)  // Linux takes time to close one: in parallel they wait less.
    let before = Self.count()
    let during = Atomic<Int>(0)
    let ended = DispatchGroup()
    for _ in 0..<threads {
      ended.enter()
      try startThread(stackSize: 1 << 20) {
        defer { ended.leave() }
        for _ in 0..<loops {
          Self.makeLoop(Self.ends[index].script) {
            if during.load(ordering: .relaxed) > 0 { return }
            during.store(Self.count(), ordering: .relaxed)
          }
        }
      }
    }
    ended.wait()
    #expect(during.load(ordering: .relaxed) > 0)
    // Other tests, which run beside this one, have a few too.
    #expect(Self.count() < before + threads * loops / 10, "\(Self.ends[index].how)")
  }

  private static func makeLoop(_ script: String, _ look: () -> Void) {
    Loop.isolated(clock: .virtual) { loop in
      guard let state = try? LuaState(on: loop) else { return }
      defer { state.shutDown() }
      let folder = "local FOLDER = '\(ScriptFileTests.folder)/watch'"
      try? state.run("ml = require 'moonloop'; loop = ml.current(); \(folder); \(script)")
      look()
    }
  }
}
