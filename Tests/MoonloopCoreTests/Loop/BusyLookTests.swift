// A run on the real clock that is kept busy still sees what the system reports.

internal import Glibc
internal import MoonloopCore
internal import Testing

@Suite struct BusyLookTests {
  enum Work: CaseIterable { case timers, sources }

  /// Keeps the run busy: each call queues the next one.
  private func work(_ kind: Work, on loop: Loop, _ body: @escaping () -> Void) throws {
    switch kind {
    case .timers:
      func again() {
        body()
        loop.schedule(after: .zero) { _ in again() }
      }
      again()
    case .sources:
      let source = loop.makeSource { source in
        body()
        source.signal()
      }
      try loop.add(source)
      source.signal()
    }
  }

  /// Runs a busy loop that writes into a pipe at some passes; returns how much later each was read.
  private func delays(_ kind: Work, writingAt passes: Set<Int>, until last: Int) throws -> [Int] {
    try Loop.isolated(clock: .real) { loop in
      var ends: [Int32] = [0, 0]
      try #require(pipe(&ends) == 0)
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      defer { for end in ends { close(end) } }
      var (pass, written, delays) = (0, 0, [Int]())
      let reader = loop.makeDescriptorSource(ends[0]) { _, _ in
        var byte: UInt8 = 0
        _ = read(ends[0], &byte, 1)
        delays.append(pass - written)
      }
      try loop.add(reader)
      try work(kind, on: loop) {
        pass += 1
        if passes.contains(pass) {
          written = pass
          _ = write(ends[1], "x", 1)
        }
        if pass == last || delays.count == passes.count { loop.stop() }
      }
      loop.run()
      reader.invalidate()
      return delays
    }
  }

  @Test(arguments: Work.allCases)
  func `at first it looks in each pass`(kind: Work) throws {
    let delays = try delays(kind, writingAt: [3, 9, 20, 50, 70], until: 1000)  // R153
    #expect(delays == [0, 0, 0, 0, 0], "\(kind): \(delays)")
  }

  @Test(arguments: Work.allCases)
  func `after many passes it still looks`(kind: Work) throws {
    let delays = try delays(kind, writingAt: [2000], until: 10_000_000)  // R153
    #expect(delays.count == 1, "\(kind)")
  }
}
