// The cost of an operation on one item must not grow with what else is in the loop. Steps are
// counted, not seconds. A step is a look at an element of a list or table.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

// Unsafe: never changed, and its functions touch nothing.
nonisolated(unsafe) private let turnActions = TimerActions.make { _, _, _, _ in }

@Suite(.serialized) struct StepTests {
  enum Kind: String, CaseIterable, Sendable {
    case source, port, observer, descriptor, file, timer
  }

  /// Which modes the items are in: all in the same, or each in one of its own.
  enum Place: String, CaseIterable, Sendable { case one, common, own }

  @Test(arguments: Kind.allCases, Place.allCases)
  func `no operation costs more where there are more items`(kind: Kind, place: Place) throws {
    let few = try costs(kind, place, count: 1000)
    let many = try costs(kind, place, count: place == .one ? 100_000 : 10_000)
    for (name, cost) in few {
      let later = try #require(many[name])
      // An order by date may cost a logarithm.
      #expect(later <= 2 * cost + 8, "\(kind), \(place): \(name) took \(cost), then \(later) steps")
    }
  }

  @Test(arguments: Kind.allCases)
  func `an item leaves one of many modes as fast as one of a few`(kind: Kind) throws {
    func cost(_ modes: Int) throws -> Double {
      try onLoop { loop, kernel in
        let item = try make(kind, kernel)
        let names = (0..<modes).map { ModeName("mode \($0)") }
        try loop.add(item, modes: names)
        return steps(each: modes) {
          for name in names {
            loop.remove(item, modes: [name])
          }
        }
      }
    }
    let few = try cost(20)
    let many = try cost(5000)
    #expect(many <= 2 * few + 8, "leaving one of 20 took \(few), one of 5000 \(many) steps")
  }

  @Test func `a turn costs no more where there are more modes`() throws {
    func cost(_ count: Int) throws -> Double {
      try onLoop { loop, _ in
        for mode in 0..<count { _ = loop.mode(ModeName("mode \(mode)")) }
        let callout = TimerCallout(
          turnActions, context: UnsafeMutableRawPointer(bitPattern: 8)!)
        return steps(each: 100) {
          for _ in 0..<100 {
            let id = loop.makeTurn(callout, [.default])
            loop.add(id, "mode 0")
            loop.remove(id, ["mode 0"])
            loop.invalidate(id)
            _ = loop.makeTurn(callout, [.default, "mode 1"])
            loop.run(for: .zero)
          }
        }
      }
    }
    let few = try cost(10)
    let many = try cost(10_000)
    #expect(many <= few + 1, "among 10 modes a turn took \(few), among 10,000 \(many) steps")
  }

  @Test(arguments: Kind.allCases)
  func `a mode becomes common as fast where more items are not common`(kind: Kind) throws {
    func cost(_ count: Int) throws -> Double {
      try onLoop { loop, kernel in
        for _ in 0..<count { try loop.add(make(kind, kernel)) }
        try loop.add(make(kind, kernel), modes: [.common])
        return steps(each: 1) { loop.addCommonMode("second") }
      }
    }
    let few = try cost(1000)
    let many = try cost(10_000)
    #expect(many <= few + 8, "\(kind): beside 1000 it took \(few), beside 10,000 \(many) steps")
  }

  // MARK: Passes

  enum Waiting: String, CaseIterable, Sendable {
    case elsewhere, suspended, blocks
  }

  @Test(arguments: Waiting.allCases)
  func `a pass costs no more where more waits for other modes`(waiting: Waiting) throws {
    func cost(_ count: Int) throws -> Double {
      try onLoop { loop, _ in
        let other = ModeName("other")
        for _ in 0..<count { try wait(waiting, loop, other) }
        var performed = 0
        let source = Loop.Source { source in
          performed += 1
          if performed == 20 { _ = loop.stop() }
          source.signal()
        }
        try loop.add(source)
        loop.run(for: .zero)
        source.signal()
        let steps = steps(each: 20) { loop.run() }
        #expect(performed == 20)
        return steps
      }
    }
    let few = try cost(1000)
    let many = try cost(100_000)
    #expect(many <= few + 8, "\(waiting): a pass took \(few), then \(many) steps")
  }

  private func wait(_ waiting: Waiting, _ loop: Loop, _ other: ModeName) throws {
    if waiting == .blocks {
      loop.perform(modes: [other]) {}
      return
    }
    let source = Loop.Source { _ in }
    try loop.add(source, modes: waiting == .suspended ? [.default] : [other])
    source.signal()
    if waiting == .suspended { source.setSuspended(true) }
  }

  /// Their orders are mixed, so that all of them must be compared.
  @Test func `one of many signalled sources is performed as fast as one of a few`() throws {
    func cost(_ count: Int) throws -> (signals: Double, performs: Double) {
      try onLoop { loop, _ in
        var performed: [Int] = []
        let sources = (0..<count).map { index in
          Loop.Source(order: index * 7919 % 101) { performed.append($0.order) }
        }
        for source in sources { try loop.add(source) }
        let signals = steps(each: count) { for source in sources { source.signal() } }
        let performs = steps(each: 10) { for _ in 0..<10 { loop.run(returnAfterSource: true) } }
        #expect(performed == Array(repeating: 0, count: 10))
        return (signals, performs)
      }
    }
    let few = try cost(1010)
    let many = try cost(100_000)
    // A heap may cost a logarithm.
    #expect(many.signals <= 2 * few.signals && many.performs <= 2 * few.performs, "\(few), \(many)")
  }

  @Test(arguments: [Loop.NotificationQueue.PostingStyle.asSoonAsPossible, .whenIdle])
  func `a notification is posted as fast where more wait for other modes`(
    style: Loop.NotificationQueue.PostingStyle
  ) throws {
    func cost(_ count: Int) throws -> Double {
      try onLoop { loop, _ in
        var posted = 0
        let queue = Loop.NotificationQueue(on: loop) { _ in posted += 1 }
        func enqueue(_ mode: ModeName) {
          queue.enqueue(.init("n"), style, coalescing: [], modes: [mode])
        }
        for _ in 0..<count { enqueue("other") }
        let timer = loop.schedule(after: .seconds(1), every: .seconds(1)) { _ in
          if posted == 20 { loop.stop() } else { enqueue(.default) }
        }
        let steps = steps(each: 20) { loop.run() }
        timer.invalidate()
        #expect(posted == 20 && queue.count == count)
        queue.invalidate()
        return steps
      }
    }
    let few = try cost(1000)
    let many = try cost(100_000)
    #expect(many <= few + 8, "\(style): a notification took \(few), then \(many) steps")
  }

  @Test
  func `a notification after one whose receiver waits is posted as fast where more wait`() throws {
    func cost(_ count: Int) throws -> Double {
      try onLoop { loop, _ in
        var posted = 0
        var queue: Loop.NotificationQueue! = nil
        queue = Loop.NotificationQueue(on: loop) { _ in
          posted += 1
          if posted == 20 { loop.stop() }
          queue.hold()
          loop.schedule(after: .zero) { _ in queue.resume() }
        }
        for _ in 0..<count { queue.enqueue(.init("n"), .asSoonAsPossible, coalescing: []) }
        let steps = steps(each: 20) { loop.run() }
        #expect(posted == 20 && queue.count == count - 20)
        queue.invalidate()
        return steps
      }
    }
    let few = try cost(1000)
    let many = try cost(100_000)
    #expect(many <= few + 40, "a notification took \(few), then \(many) steps")
  }

  // MARK: Counting

  /// The steps of each operation on one item, on average.
  private func costs(_ kind: Kind, _ place: Place, count: Int) throws -> [String: Double] {
    try onLoop { loop, kernel in
      if place == .common { loop.addCommonMode("second") }
      let items = try (0..<count).map { _ in try make(kind, kernel) }
      let modes: [[ModeName]] = items.indices.map { index in
        switch place {
        case .one: [.default]
        case .common: [.common]
        case .own: [ModeName("mode \(index)")]
        }
      }
      var costs: [String: Double] = [:]
      func measure(_ name: String, _ body: (Int) throws -> Void) rethrows {
        costs[name] = try steps(each: count) { for index in 0..<count { try body(index) } }
      }
      try measure("add") { try loop.add(items[$0], modes: modes[$0]) }
      measure("contains") { _ = loop.contains(items[$0], mode: modes[$0][0]) }
      measure("modes") { _ = loop.modes(of: items[$0]) }
      measure("hold") { loop.setKeepsAlive(items[$0], false) }
      measure("wake") { wake(items[$0]) }
      measure("remove") { loop.remove(items[$0], modes: modes[$0]) }
      try measure("add again") { try loop.add(items[$0], modes: modes[$0]) }
      measure("end half, first made first") { if $0 < count / 2 { end(items[$0]) } }
      costs["end of the loop"] = steps(each: count) { loop.end() }
      return costs
    }
  }

  private func steps(each count: Int, _ body: () throws -> Void) rethrows -> Double {
    let before = Steps.taken
    try body()
    return Double(Steps.taken - before) / Double(count)
  }

  private func onLoop<Result>(
    _ body: (Loop, SimulatedKernel) throws -> Result
  ) throws -> Result {
    let world = SimulatedWorld(start: 1_000_000_000_000)
    return try world.run {
      let kernel = SimulatedKernel(world: world)
      return try Loop.isolated(name: "the loop", kernel: kernel) { try body($0, kernel) }
    }
  }

  // MARK: Items

  private func make(_ kind: Kind, _ kernel: SimulatedKernel) throws -> Loop.Item {
    switch kind {
    case .source: Loop.Source { _ in }
    case .port: Loop.Port { _, _ in }
    case .observer: Loop.Observer(order: Int.random(in: 0..<100)) { _, _ in }
    case .descriptor: Loop.DescriptorSource(try kernel.socketPair().0) { _, _ in }
    case .file: Loop.DescriptorSource(kernel.openFile()) { _, _ in }
    case .timer: Loop.Timer(at: LoopTime(nanoseconds: .random(in: 0..<1_000_000))) { _ in }
    }
  }

  /// Makes the next pass call it.
  private func wake(_ item: Loop.Item) {
    switch item {
    case let source as Loop.Source: source.signal()
    case let port as Loop.Port: try? port.post(1)
    case let timer as Loop.Timer: timer.nextFire = LoopTime(nanoseconds: .random(in: 0..<1_000_000))
    case let descriptor as Loop.DescriptorSource: descriptor.enable(.write)
    default: break
    }
  }

  private func end(_ item: Loop.Item) {
    switch item {
    case let source as Loop.Source: source.invalidate()
    case let port as Loop.Port: port.invalidate()
    case let observer as Loop.Observer: observer.invalidate()
    case let descriptor as Loop.DescriptorSource: descriptor.invalidate()
    case let timer as Loop.Timer: timer.invalidate()
    default: break
    }
  }
}
