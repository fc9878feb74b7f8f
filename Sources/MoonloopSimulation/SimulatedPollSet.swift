// Poll sets of a simulated kernel: registrations, and the queue of ready ones.

internal import MoonloopCore

/// A descriptor in a poll set. Protected by the world's lock.
final class SimulatedRegistration {
  let file: SimulatedFile
  let fd: Int32
  var interest: Interest
  var token: UInt64
  private unowned let set: SimulatedPollSet  // all leave it before it goes
  /// Whether it is in the queue of its set.
  var isQueued = false
  private(set) var hasLeft = false

  init(file: SimulatedFile, fd: Int32, interest: Interest, token: UInt64, set: SimulatedPollSet) {
    self.file = file
    self.fd = fd
    self.interest = interest
    self.token = token
    self.set = set
  }

  /// The events to report; none if it has left the set.
  var ready: Interest { hasLeft ? [] : file.readiness.intersection(interest) }

  /// Checks again, after a change of the file or of the interest.
  func update() {
    if !isQueued && !ready.isEmpty { set.enqueue(self) }
  }

  /// Removes it from its set; the file drops it on its own.
  func leave() {
    hasLeft = true
    set.registrations[fd] = nil
  }
}

/// A poll set with epoll's order: first ready, first reported; what was reported goes to the end of
/// the queue, so that a small buffer serves all in turn. Protected as above.
final class SimulatedPollSet {
  var registrations: [Int32: SimulatedRegistration] = [:]
  private var queue: [SimulatedRegistration] = []
  /// Called when a descriptor becomes ready.
  private let becameReady: () -> Void

  init(becameReady: @escaping () -> Void) { self.becameReady = becameReady }

  fileprivate func enqueue(_ registration: SimulatedRegistration) {
    registration.isQueued = true
    queue.append(registration)
    becameReady()
  }

  /// Writes what is ready to the beginning of a buffer.
  func take(
    _ order: inout ReadinessOrder, into buffer: UnsafeMutableBufferPointer<ReadyEvent>
  ) -> Int {
    queue.removeAll { registration in
      registration.isQueued = !registration.ready.isEmpty
      return !registration.isQueued
    }
    if case .seeded(let state) = order {
      var generator = SplitMix(state: state)
      queue.shuffle(using: &generator)
      order = .seeded(generator.state)
    }
    let count = min(queue.count, buffer.count)
    for (index, registration) in queue.prefix(count).enumerated() {
      buffer[index] = ReadyEvent(token: registration.token, events: registration.ready)
    }
    queue = Array(queue.dropFirst(count) + queue.prefix(count))
    return count
  }

  func close() {
    for registration in registrations.values {
      registration.file.watchers.removeAll { $0 === registration }
    }
    registrations = [:]
  }
}

/// SplitMix64: every seed is good, and the state is one word.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
