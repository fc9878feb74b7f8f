// The thread that serves the sockets of named ports, for all loops of the process: a port is a
// queue between two threads, here as with workers, so everything that ports can do works for them
// too.

internal import MoonloopCore
internal import Synchronization

enum PortHub {
  private static let thread = Guarded<LoopThread?>(nil)

  /// The loop of the thread, which is started at the first request and stays.
  static func loop() throws(SystemError) -> Loop {
    let result = thread.withLock { thread -> Result<Loop, SystemError> in
      if let thread { return .success(thread.loop) }
      do throws(SystemError) {
        let fresh = try LoopThread(
          name: "moonloop-ports", kernel: LinuxKernel(clock: .real), stackSize: 1 << 20
        ) { serve($0) }
        thread = fresh
        return .success(fresh.loop)
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  private static func serve(_ loop: Loop) {
    loop.shared.outlastsScripts.store(true, ordering: .relaxed)
    let holder = Loop.Port(name: "keeps the thread", capacity: 1) { _, _ in }
    try? loop.add(holder)
    while !loop.mustEnd { loop.run() }
  }
}

/// What the hub reports to a state through a port's queue: something failed at the socket.
struct PortNotice: Sendable {
  let text: String
  let code: String
}

/// What a state keeps of a named port: releasing it closes the port.
final class PortLink: Sendable {
  enum End { case listener, connection }

  let end: End
  private let close: @Sendable () -> Void

  init(_ end: End, _ close: @escaping @Sendable () -> Void) {
    self.end = end
    self.close = close
  }

  // whenever it is collected, so not through the intake
  deinit { Intake.outside(close) }
}

/// What was sent and may still be on its way when the state ends.
struct PortFarewell: Sendable {
  let label: String
  /// Opened when the connection is over.
  let gate: any Gate
  /// Drops what has not been sent.
  let abandon: @Sendable () -> Void
}

/// The connections of a state's named ports that may have something left to send. Loop thread only.
struct PortFarewells {
  /// How long a state that ends waits for its last messages to be sent.
  private static let patience: Int64 = 2_000_000_000
  private static let least = 32
  private var all: [PortFarewell] = []
  /// When to check again for finished connections: once they may be half of all.
  private var limit = Self.least

  /// Remembers a connection until it is over.
  mutating func note(_ farewell: PortFarewell) {
    // A replay has the same list, but does not know which ones have gone.
    if all.count >= limit && Intake.isPlain {
      all.removeAll { $0.gate.wait(atMost: 0) }
      limit = max(Self.least, 2 * all.count)
    }
    all.append(farewell)
  }

  /// All ports were closed: waits until what they had sent is out, and reports what is not.
  mutating func say(_ errors: ErrorPolicy) {
    let start = RealTime.monotonic
    for farewell in all {
      let left = Self.patience - (RealTime.monotonic - start)
      if Intake.flag({ farewell.gate.wait(atMost: max(0, left)) }) { continue }
      farewell.abandon()
      errors.noteReported()
      errors.write(
        "moonloop: \(farewell.label): the other process did not take the last messages within "
          + "2 s; they are lost")
    }
    all = []
  }
}
