// W1, W2, W9: timers. A one-shot ends with its fire; what arms itself again is one with a far
// interval whose next date is set.
import CoreFoundation
import Glibc

func w1a() {
  let last = scaled(5e4)
  var fires = 0
  let begin = now()
  let clock = Stopwatch()
  for i in 1...10_000 {
    let interval = Double(argument(0) == 0 ? i % 10 + 1 : argument(0)) / 1000
    addTimer(at: begin + interval, every: interval) { _ in
      fires += 1
      if fires == last { clock.stop(fires) }
    }
  }
  CFRunLoopRun()
}

func w1bc() {
  let last = scaled(3e4)
  var fires = 0
  if arguments.contains("fd") { watchIdleDescriptor() }
  let clock = Stopwatch()
  for _ in 0..<argument(0) {
    addTimer(at: now(), every: 1e6) { timer in
      fires += 1
      if fires == last { clock.stop(fires) }
      CFRunLoopTimerSetNextFireDate(timer, now())
    }
  }
  CFRunLoopRun()
}

func w1d() {
  let bulk = 1000
  let rounds = scaled(50)
  var fires = 0
  let clock = Stopwatch()
  for round in 1...rounds {
    for _ in 0..<bulk { addTimer(at: now()) { _ in fires += 1 } }
    while fires < round * bulk { CFRunLoopRunInMode(mode, 0, true) }
  }
  clock.stop(fires)
}

/// Live far timers; made by date, as the run loop keeps them in an array.
private func farTimers(_ count: Int) -> [CFRunLoopTimer] {
  let begin = now()
  let dates = (0..<count).map { (place: $0, date: begin + far[$0 % far.count]) }
  var live = [CFRunLoopTimer?](repeating: nil, count: count)
  for (place, date) in dates.sorted(by: { $0.date < $1.date }) {
    live[place] = addTimer(at: date) { _ in }
  }
  return live.map { $0! }
}

func w2abc() {
  let count = argument(0)
  let operations = scaled(count > 10_000 ? 8e3 : 2e5)
  let step = count * 61803 / 100_000 | 1
  var live = farTimers(count)
  var (place, delay) = (0, 0)
  let clock = Stopwatch()
  for _ in 0..<operations {
    place += step
    if place >= count { place -= count }
    delay = (delay + 1) % far.count
    CFRunLoopTimerInvalidate(live[place])
    live[place] = addTimer(at: now() + far[delay]) { _ in }
  }
  clock.stop(operations)
}

func w2d() {
  let count = argument(0)
  let operations = scaled(count > 10_000 ? 8e3 : 5e5)
  let places = order(count, isRandom: arguments.contains("random"))
  let live = (0..<count).map { _ in addTimer(at: now() + 1000) { _ in } }
  var at = 0
  let clock = Stopwatch()
  for _ in 0..<operations {
    at += 1
    if at >= count { at = 0 }
    CFRunLoopTimerSetNextFireDate(live[places[at]], now() + 1000)
  }
  clock.stop(operations)
}

func w8() {
  addTimer(at: now()) { _ in
    print("hello")
    CFRunLoopStop(home)  // A main thread's run does not end by itself.
  }
  CFRunLoopRun()
}

func w9() {
  let times = Times(scaled(1000))
  let begin = nanoseconds(CLOCK_MONOTONIC)
  addTimer(at: now() + 0.001, every: 0.001) { _ in
    times.add((nanoseconds(CLOCK_MONOTONIC) - begin) % 1_000_000)
  }
  CFRunLoopRun()
}
