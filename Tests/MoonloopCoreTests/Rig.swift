// What the tests of the core share: a loop in a simulated world, items that write a trace, and a
// check that nothing is left.

internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

/// A loop of a simulated world and the trace that its items write.
///
/// Unchecked Sendable: the threads of a simulated world take turns, so no two touch it at once.
final class Rig: @unchecked Sendable {
  let world: SimulatedWorld
  let kernel: SimulatedKernel
  private(set) unowned var loop: Loop
  private(set) var trace: [String] = []
  private var items: [WeakItem] = []
  private let start: Int64

  private struct WeakItem {
    weak var item: Loop.Item?
    let label: String
  }

  fileprivate init(world: SimulatedWorld, kernel: SimulatedKernel, loop: Loop) {
    self.world = world
    self.kernel = kernel
    self.loop = loop
    start = world.now
  }

  // MARK: The trace

  func log(_ entry: String) { trace.append(entry) }

  /// Compares the trace since the last comparison, as a whole, and starts a new one.
  func expect(
    _ expected: String, _ comment: Comment? = nil, at location: SourceLocation = #_sourceLocation
  ) {
    #expect(trace.joined(separator: " ") == expected, comment, sourceLocation: location)
    trace = []
  }

  /// Nanoseconds since the start of the test.
  var elapsed: Int64 { world.now - start }

  /// Seconds since the start of the test, as text without needless zeros.
  var clock: String {
    let value = Double(elapsed) / 1e9
    return value == value.rounded() ? "\(Int(value))" : "\(value)"
  }

  /// The instant this many seconds after the start of the test.
  func instant(_ seconds: Double) -> LoopTime {
    LoopTime(nanoseconds: start + Int64(seconds * 1e9))
  }

  /// Lets time pass, as a working handler does.
  func spend(_ seconds: Double) { world.sleep(Int64(seconds * 1e9)) }

  // MARK: Items that write the trace

  func track<Item: Loop.Item>(_ item: Item) -> Item {
    items.append(WeakItem(item: item, label: item.label))
    return item
  }

  /// A timer that writes its name and the time.
  @discardableResult
  func timer(
    _ name: String, after seconds: Double, every interval: Double = 0, tolerance: Double = 0,
    modes: [ModeName] = [.default], then: @escaping (Loop.Timer) throws -> Void = { _ in }
  ) throws -> Loop.Timer {
    let timer = track(
      Loop.Timer(
        after: .nanoseconds(Int64(seconds * 1e9)), every: .nanoseconds(Int64(interval * 1e9)),
        tolerance: .nanoseconds(Int64(tolerance * 1e9)), name: name
      ) { [self] timer in
        log("\(timer.name)@\(clock)")
        attempt { try then(timer) }
      })
    if !modes.isEmpty { try loop.add(timer, modes: modes) }
    return timer
  }

  /// A version-0 source that writes its name.
  @discardableResult
  func source(
    _ name: String, order: Int = 0, modes: [ModeName] = [.default], signalled: Bool = false,
    then: @escaping (Loop.Source) throws -> Void = { _ in }
  ) throws -> Loop.Source {
    let source = track(
      Loop.Source(order: order, name: name) { [self] source in
        log(source.name)
        attempt { try then(source) }
      })
    if !modes.isEmpty { try loop.add(source, modes: modes) }
    if signalled { source.signal() }
    return source
  }

  /// A port that writes its name and the message.
  @discardableResult
  func port(
    _ name: String, modes: [ModeName] = [.default], capacity: Int = 100,
    then: @escaping (Loop.Port) throws -> Void = { _ in }
  ) throws -> Loop.Port {
    let port = track(
      Loop.Port(name: name, capacity: capacity) { [self] port, message in
        log("\(port.name):\(message)")
        attempt { try then(port) }
      })
    if !modes.isEmpty { try loop.add(port, modes: modes) }
    return port
  }

  /// A descriptor source on one end of a stream that writes its name and the event.
  @discardableResult
  func descriptor(
    _ name: String, _ fd: Int32, events: Loop.DescriptorSource.Events = .read,
    reenabled: Loop.DescriptorSource.Events = .read, closes: Bool = false,
    modes: [ModeName] = [.default],
    then: @escaping (Loop.DescriptorSource) throws -> Void = { _ in }
  ) throws -> Loop.DescriptorSource {
    let source = track(
      Loop.DescriptorSource(
        fd, closesDescriptor: closes, events: events, reenabled: reenabled, name: name
      ) { [self] source, event in
        log("\(source.name):\(event)")
        attempt { try then(source) }
      })
    if !modes.isEmpty { try loop.add(source, modes: modes) }
    return source
  }

  /// An observer that writes the activity, after its name if it has one.
  @discardableResult
  func observe(
    _ activities: Activity = .all, name: String = "", order: Int = 0, repeats: Bool = true,
    modes: [ModeName] = [.default],
    then: @escaping (Loop.Observer, Activity) throws -> Void = { _, _ in }
  ) throws -> Loop.Observer {
    let observer = track(
      Loop.Observer(activities, repeats: repeats, order: order, name: name) {
        [self] observer, activity in
        log(observer.name.isEmpty ? "\(activity)" : "\(observer.name):\(activity)")
        attempt { try then(observer, activity) }
      })
    if !modes.isEmpty { try loop.add(observer, modes: modes) }
    return observer
  }

  /// Queues a block that writes its name, without a wake-up.
  @discardableResult
  func block(
    _ name: String, modes: [ModeName] = [.default], asSource: Bool = false,
    then: @escaping () throws -> Void = {}
  ) -> PerformRequest {
    loop.performHere(modes: modes, wakes: false, asSource: asSource) { [self] in
      log(name)
      attempt { try then() }
    }
  }

  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch { Issue.record(error) }
  }

  // MARK: Running, descriptors, threads

  /// Runs the loop and writes the result.
  @discardableResult
  func run(
    _ mode: ModeName = .default, for seconds: Double? = nil, returnAfterSource: Bool = false
  ) -> RunResult {
    let timeout = seconds.map { Duration.nanoseconds(Int64($0 * 1e9)) }
    let result = loop.run(mode: mode, for: timeout, returnAfterSource: returnAfterSource)
    log("\(result)")
    if let broken = loop.brokenInvariant() { Issue.record("\(broken)") }
    return result
  }

  func send(_ text: String, to fd: Int32) throws {
    var text = text
    _ = try text.withUTF8 { try kernel.write(fd, UnsafeRawBufferPointer($0)) }
  }

  func receive(from fd: Int32, atMost count: Int = 64) throws -> String {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = try bytes.withUnsafeMutableBytes { try kernel.read(fd, into: $0) }
    return String(decoding: bytes.prefix(got), as: UTF8.self)
  }

  /// Runs a body with another loop of the world as that of this thread.
  func withOtherLoop(_ body: (Loop) throws -> Void) throws {
    try Loop.isolated(name: "the other loop", kernel: SimulatedKernel(world: world)) { other in
      try body(other)
      if let broken = other.brokenInvariant() { Issue.record("\(broken)") }
    }
  }

  /// Another thread of the world; it first runs when this one blocks.
  ///
  /// What the body holds is released before the thread ends in the world, so that the check for
  /// leftovers does not race with the system's thread.
  func thread(_ name: String = "other", _ body: @escaping @Sendable () -> Void) -> SimulatedThread {
    let box = OneTime(body)
    return world.thread(name) { box.run() }
  }

  fileprivate func leftovers() -> [String] { items.filter { $0.item != nil }.map(\.label) }
}

/// A body that is released once it has run. Unchecked Sendable: it is handed over once.
private final class OneTime: @unchecked Sendable {
  private var body: (@Sendable () -> Void)?
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  func run() {
    body?()
    body = nil
  }
}

/// Runs a test on a loop of its own, and checks that the loop and all items are gone afterwards.
func withLoop(at location: SourceLocation = #_sourceLocation, _ body: (Rig) throws -> Void) throws {
  let world = SimulatedWorld(start: 1_000_000_000_000)
  weak var loop: Loop?
  let rig = try world.run { () throws -> Rig in
    let kernel = SimulatedKernel(world: world)
    return try Loop.isolated(name: "the loop", kernel: kernel) { isolated in
      loop = isolated
      let rig = Rig(world: world, kernel: kernel, loop: isolated)
      try body(rig)
      return rig
    }
  }
  #expect(rig.leftovers() == [], "items are held after the end", sourceLocation: location)
  #expect(loop == nil, "the loop is held after its end", sourceLocation: location)
}

/// The activities of a pass that sleeps, and of one that does not.
let slept = "beforeTimers beforeSources beforeWaiting afterWaiting"
let busy = "beforeTimers beforeSources"
