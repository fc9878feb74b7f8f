// What the tests of both kernels share: making one, reading and writing, one look at a poll set.

internal import MoonloopCore
internal import MoonloopSimulation
import Testing

/// Which kernel a parameterised test runs on.
enum KernelKind: CaseIterable, CustomTestStringConvertible {
  case linux
  case simulated

  var testDescription: String { "\(self)" }

  func make(clock: ClockMode = .real) throws -> any Kernel {
    switch self {
    case .linux: try LinuxKernel(clock: clock)
    case .simulated: SimulatedKernel(clock: clock)
    }
  }
}

/// Runs a body with a kernel, a poll set of it and two ends of a stream.
func withPair(
  _ kind: KernelKind, clock: ClockMode = .real,
  _ body: (any Kernel, PollSetID, Int32, Int32) throws -> Void
) throws {
  let kernel = try kind.make(clock: clock)
  let set = try kernel.makePollSet()
  let (near, far) = try kernel.socketPair()
  try body(kernel, set, near, far)
  for fd in [near, far] { kernel.close(fd) }
  kernel.closePollSet(set)
}

/// Every kernel with every mode of its clock.
let everyKernelAndMode: [(KernelKind, ClockMode)] = KernelKind.allCases.flatMap { kind in
  ClockMode.allCases.map { (kind, $0) }
}

/// One ready descriptor, for comparisons.
struct Heard: Equatable, CustomStringConvertible {
  var token: UInt64
  var events: Interest

  init(_ token: UInt64, _ events: Interest) {
    self.token = token
    self.events = events
  }

  var description: String {
    let words = [(Interest.read, "read"), (.write, "write")].filter { events.contains($0.0) }
    return "\(token):" + words.map(\.1).joined(separator: "+")
  }
}

extension Kernel {
  func heardByPoll(_ set: PollSetID, atMost count: Int = 16) -> [Heard] {
    heard(atMost: count) { poll(set, into: $0) }
  }

  func heardByWait(_ set: PollSetID, until deadline: Int64, atMost count: Int = 16) -> [Heard] {
    heard(atMost: count) { wait(set, until: deadline, into: $0) }
  }

  private func heard(
    atMost count: Int, _ look: (UnsafeMutableBufferPointer<ReadyEvent>) -> Int
  ) -> [Heard] {
    withUnsafeTemporaryAllocation(of: ReadyEvent.self, capacity: count) { buffer in
      let found = look(buffer)
      return buffer.prefix(found).map { Heard($0.token, $0.events) }
    }
  }

  @discardableResult
  func send(_ text: String, to fd: Int32) throws -> Int {
    var text = text
    return try text.withUTF8 { try write(fd, UnsafeRawBufferPointer($0)) }
  }

  func receive(from fd: Int32, atMost count: Int = 4096) throws -> String {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = try bytes.withUnsafeMutableBytes { try read(fd, into: $0) }
    return String(decoding: bytes.prefix(got), as: UTF8.self)
  }
}

/// Long enough for any machine; no test waits for it unless something fails.
let seconds: Int64 = 1_000_000_000

/// A deadline that no good run reaches; it replaces "never" where a failure would hang.
func limit(_ kernel: any Kernel) -> Int64 { kernel.now() + 60 * seconds }
