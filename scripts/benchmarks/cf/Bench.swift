// What the workloads of CFRunLoop share, as harness.lua for those in Lua.
import CoreFoundation
import Glibc

let arguments = Array(CommandLine.arguments.dropFirst(2))
let scale = getenv("BENCH_SCALE").flatMap { Double(String(cString: $0)) } ?? 1

func argument(_ place: Int) -> Int {
  arguments.indices.contains(place) ? Int(arguments[place]) ?? 0 : 0
}

func scaled(_ operations: Double) -> Int { max(1, Int(operations * scale)) }

/// Far dates in seconds, the same as of the others.
let far: [Double] = {
  var seed = 1
  return (0..<1021).map { _ in
    seed = seed * 48271 % 2_147_483_647
    return Double(1000 + seed % 9000)
  }
}()

/// The places of a count in a random order, or in turn.
func order(_ count: Int, isRandom: Bool) -> [Int] {
  var places = Array(0..<count)
  var seed = 1
  guard isRandom else { return places }
  for i in stride(from: count, to: 1, by: -1) {
    seed = seed * 48271 % 2_147_483_647
    places.swapAt(i - 1, seed % i)
  }
  return places
}

func nanoseconds(_ clock: clockid_t) -> Int {
  var time = timespec()
  clock_gettime(clock, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

func report(_ figures: KeyValuePairs<String, Double>) {
  let parts = figures.map { "\"\($0.key)\": \($0.value)" }
  print("{" + parts.joined(separator: ", ") + "}")
  fflush(nil)
}

/// CPU time of the whole process and wall time, since it was made.
struct Stopwatch {
  private let cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
  private let wall = nanoseconds(CLOCK_MONOTONIC)

  init() { count_instructions(true) }

  /// Reports both for one operation, and ends the process.
  func stop(_ operations: Int) -> Never {
    count_instructions(false)
    let count = Double(operations)
    report([
      "cpu": Double(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / count,
      "wall": Double(nanoseconds(CLOCK_MONOTONIC) - wall) / count, "operations": count,
    ])
    exit(0)
  }
}

/// Takes times in nanoseconds; reports their middle in microseconds after so many, and ends.
final class Times {
  private var times: [Int] = []
  private let count: Int

  init(_ count: Int) { self.count = count }

  func add(_ time: Int) {
    times.append(time)
    guard times.count == count else { return }
    times.sort()
    report([
      "p50": Double(times[count / 2]) / 1000, "p99": Double(times[count * 99 / 100]) / 1000,
    ])
    exit(0)
  }
}

/// A number of a /proc status file.
func statusNumber(_ path: String, _ key: String) -> Int {
  guard let file = fopen(path, "re") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  while fgets(&line, 256, file) != nil {
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    guard text.hasPrefix(key) else { continue }
    return Int(text.dropFirst(key.count).drop { !$0.isNumber }.prefix { $0.isNumber }) ?? 0
  }
  return 0
}

// Unsafe: any thread may call a CFRunLoop; it is never set again.
nonisolated(unsafe) let home = CFRunLoopGetCurrent()!
// Unsafe: a constant string.
nonisolated(unsafe) let mode = kCFRunLoopDefaultMode!

func now() -> CFAbsoluteTime { CFAbsoluteTimeGetCurrent() }

/// A timer of the run loop; without an interval a one-shot.
@discardableResult
func addTimer(
  at date: CFAbsoluteTime, every interval: Double = 0, _ handler: @escaping (CFRunLoopTimer) -> Void
) -> CFRunLoopTimer {
  let timer = CFRunLoopTimerCreateWithHandler(nil, date, interval, 0, 0) { handler($0!) }!
  CFRunLoopAddTimer(home, timer, mode)
  return timer
}
