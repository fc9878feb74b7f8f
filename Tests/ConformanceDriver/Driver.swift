// Runs one scenario in this process and prints the line that the format asks for.

import ConformanceFormat
import Glibc
import Synchronization

enum Driver {
  /// After how long a scenario is given up, in nanoseconds of the scenario.
  static let limit: Int64 = 20_000_000_000

  /// The id of the scenario that runs; set once.
  private static let identity = Mutex("")

  /// Runs a scenario to its end, and ends the process.
  static func run(_ scenario: Scenario, _ options: Options) -> Never {
    identity.withLock { $0 = scenario.id }
    if reasonNotToRun(scenario, options) != nil {
      print("{\"id\":\(JSON.quoted(scenario.id)),\"unsupported\":true}")
      exit(0)
    }
    let trace = Trace()
    let scale = self.scale
    startWatchdog(trace, limit: limit * scale)
    let world: any World =
      options.kernel == .real ? RealWorld() : SimulatedScene { giveUp(trace) }
    let engine = Engine(scenario, world: world, scale: scale, trace: trace) { receiver in
      switch options.face {
      case .swift: SwiftFace(receiver, world)
      case .lua: LuaFace(receiver, world, scenario)
      }
    }
    world.runHome(onMainThread: scenario.onMainThread) {
      engine.performAsHome()
      finish(trace, adding: nil, status: 0)
    }
    finish(trace, adding: nil, status: 0)
  }

  /// Why the scenario cannot be run as asked; nil if it can.
  static func reasonNotToRun(_ scenario: Scenario, _ options: Options) -> String? {
    for need in scenario.needs {
      switch need {
      case "performers": continue
      case "mainQueue" where options.kernel == .real: continue
      case "mainQueue": return "the simulated kernel has no libdispatch main queue"
      default: return "the ability '\(need)' is not known"
      }
    }
    return options.face == .lua ? LuaFace.reasonNotToRun(scenario) : nil
  }

  /// The factor of CONFORMANCE_SCALE.
  static var scale: Int64 {
    guard let text = getenv("CONFORMANCE_SCALE") else { return 1 }
    guard let scale = Int64(String(cString: text)), (1...1000).contains(scale) else {
      fail("CONFORMANCE_SCALE is a whole number from 1 to 1000, not '\(String(cString: text))'")
    }
    return scale
  }

  /// Ends the process with what the trace holds so far.
  static func giveUp(_ trace: Trace) -> Never { finish(trace, adding: "TIMEOUT", status: 3) }

  private static func finish(_ trace: Trace, adding last: String?, status: Int32) -> Never {
    guard let entries = trace.close(adding: last) else {
      // Another thread is printing; it ends the process.
      while true { pause() }
    }
    let list = entries.map(JSON.quoted).joined(separator: ",")
    let id = identity.withLock { JSON.quoted($0) }
    print("{\"id\":\(id),\"trace\":[\(list)]}")
    fflush(nil)
    // Threads that are still at work must not meet the destructors of the process.
    _exit(status)
  }

  private static func startWatchdog(_ trace: Trace, limit: Int64) {
    startSystemThread {
      let end = monotonicNanoseconds() + UInt64(limit)
      while case let now = monotonicNanoseconds(), now < end {
        var rest = timespec(
          tv_sec: Int((end - now) / 1_000_000_000), tv_nsec: Int((end - now) % 1_000_000_000))
        nanosleep(&rest, nil)
      }
      giveUp(trace)
    }
  }

  /// A mistake in usage or in a file.
  static func fail(_ message: String) -> Never {
    let line = Array("conformance: \(message)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    exit(2)
  }

  /// Reads a scenario file.
  static func read(_ path: String) throws(FormatError) -> Scenario {
    guard let bytes = contents(of: path) else {
      throw FormatError(message: "\(path): \(String(cString: strerror(errno)))")
    }
    do { return try Scenario.read(bytes) } catch {
      throw FormatError(message: "\(path): \(error.message)")
    }
  }

  private static func contents(of path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      bytes += chunk[..<count]
      if count < chunk.count { return ferror(file) == 0 ? bytes : nil }
    }
  }
}

/// Starts a detached thread of the system.
func startSystemThread(_ body: @escaping @Sendable () -> Void) {
  final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  let box = Unmanaged.passRetained(Box(body))
  let status = pthread_create(
    &thread, nil,
    { context in
      Unmanaged<Box>.fromOpaque(context!).takeRetainedValue().body()
      return nil
    }, box.toOpaque())
  guard status == 0 else {
    Driver.fail("cannot start a thread: \(String(cString: strerror(status)))")
  }
  pthread_detach(thread)
}
