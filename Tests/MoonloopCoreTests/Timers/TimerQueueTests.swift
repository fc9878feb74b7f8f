// The order of many timers: by date, then by adding, whatever happens to them in between.

internal import MoonloopCore
internal import Testing

@Suite struct TimerQueueTests {
  @Test func `a hundred thousand timers with random dates fire in exact order`() {
    Loop.isolated(clock: .virtual) { loop in  // R73
      var random = Random(seed: 7)
      let start = loop.now
      var expected: [(date: Int64, number: Int)] = []
      var fired: [Int] = []
      fired.reserveCapacity(100_000)
      for number in 0..<100_000 {
        // Few distinct dates, so that many are equal, and some past.
        let delay = Int64(random.below(20_000)) - 2_000
        expected.append((delay, number))
        let timer = Loop.Timer(at: start.advanced(by: .nanoseconds(delay))) { _ in
          fired.append(number)
        }
        do { try loop.add(timer) } catch { Issue.record(error) }
      }
      expected.sort { ($0.date, $0.number) < ($1.date, $1.number) }
      #expect(loop.run() == .finished)
      #expect(fired == expected.map(\.number))
    }
  }

  @Test(arguments: [10, 1_000, 100_000])
  func `a sleep beside many tolerant timers looks at few of them`(count: Int) {
    let queue = TimerQueue()
    defer { queue.deallocate() }
    let (second, tolerance) = (Int64(1_000_000_000), Int64(30_000_000_000))
    for slot in 0..<count {
      queue.insert(slot, date: 60 * second + Int64(slot), isDue: false)
    }
    queue.noteTolerance()
    var looks = 0
    let date = queue.wakeDate { _ in
      looks += 1
      return tolerance
    }
    #expect(looks <= 256)
    #expect(date == (count == 10 ? 90 * second : 60 * second + 256))  // R83
  }

  @Test("the queue agrees with a sorted list", arguments: 1...40)
  func model(seed: UInt64) {
    let queue = TimerQueue()
    defer { queue.deallocate() }
    var random = Random(seed: seed)
    var model: [(date: Int64, order: Int, slot: Int)] = []
    var now: Int64 = 0
    var order = 0
    for _ in 0..<2_000 {
      let slot = random.below(40)
      let date = now + Int64(random.below(30)) - 8
      let index = model.firstIndex { $0.slot == slot }
      switch random.below(10) {
      case 0...4:
        if let index {
          model[index].date = date
          if random.below(2) == 0 {
            queue.postpone(slot, to: date)
          } else {
            queue.move(slot, to: date)
          }
        } else {
          order += 1
          model.append((date, order, slot))
          queue.insert(slot, date: date, isDue: date <= now)
        }
      case 5:
        if let index { model.remove(at: index) }
        queue.remove(slot)
      case 6:
        if let index {
          queue.park(slot)
          model[index].date = date
          queue.insert(slot, date: date, isDue: date <= now)
        }
      default:
        now += Int64(random.below(6))
        model.sort { ($0.date, $0.order) < ($1.date, $1.order) }
        let due = model.filter { $0.date <= now }.map(\.slot)
        var fired: [Int] = []
        let batch = queue.beginBatch(at: now)
        while let slot = queue.nextDue(in: batch) {
          fired.append(slot)
          queue.remove(slot)
        }
        queue.endBatch(batch)
        #expect(fired == due, "seed \(seed)")
        model.removeAll { $0.date <= now }
      }
      #expect(queue.isConsistent(), "seed \(seed)")
      #expect(queue.count == model.count, "seed \(seed)")
      #expect(queue.firstDate == model.map(\.date).min() ?? .max, "seed \(seed)")
      #expect(queue.hasDue(at: now) == model.contains { $0.date <= now }, "seed \(seed)")
    }
  }

  /// A grid point, interval and moment; the first point after it, and how many are skipped.
  static let schedules: [(Int64, Int64, Int64, Int64, Int64)] = [
    (0, 10, 0, 10, 0),
    (0, 10, 9, 10, 0),
    (0, 10, 10, 20, 1),
    (0, 10, 35, 40, 3),
    (-25, 10, 0, 5, 2),
    (5, 10, 0, 15, 0),
    (.min, 1 << 40, 5, 1 << 40, 1 << 23),
    (.min, .max, 0, .max - 1, 1),
    (.max - 5, 10, .max - 3, .max, 0),
    (0, .max, .max - 1, .max, 0),
    (.max - 9, 3, .max - 2, .max, 2),
  ]

  @Test("the next date of a grid", arguments: schedules.indices)
  func schedule(row: Int) {
    let (date, interval, moment, next, missed) = Self.schedules[row]
    let found = TimerSchedule.next(after: date, interval: interval, laterThan: moment)
    #expect(found.date == next)
    if next != .max { #expect(found.missed == missed) }
    if moment >= date && next != .max {
      #expect(TimerSchedule.missed(since: date, interval: interval, at: moment) == missed)
    }
  }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
struct Random: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
