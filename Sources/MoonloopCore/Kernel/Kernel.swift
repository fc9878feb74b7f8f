// The seam to the world: the only folder of the core that waits, reads a clock or touches a
// descriptor; all by the functions of `CLinuxShims`, which makes the system calls and reads errno.
// `LinuxKernel` (epoll) implements it here, and the tests' `SimulatedKernel` (memory only, exact).

/// The interest of a registration in a descriptor, and what the kernel reported.
package struct Interest: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let read = Interest(rawValue: 1)
  package static let write = Interest(rawValue: 2)
}

/// One ready descriptor: the token of its registration and what it is ready for.
///
/// An error or hang-up of the descriptor counts as ready for whatever the registration asked for,
/// so that the handler finds out by its own read or write.
package struct ReadyEvent: Sendable {
  package var token: UInt64
  package var events: Interest

  package init(token: UInt64, events: Interest) {
    self.token = token
    self.events = events
  }
}

/// A set of descriptors waited for together: one for each mode that has any. Loop thread only.
package struct PollSetID: Hashable, Sendable {
  package let rawValue: Int32
  package init(rawValue: Int32) { self.rawValue = rawValue }
}

/// The loop's view of the operating system.
///
/// All but `wake()` is for the thread of the loop. Times are nanoseconds on the loop's own clock
/// (`Clock`), which starts at an arbitrary value and never goes back; `Int64.max` means never.
package protocol Kernel: AnyObject {
  /// The loop's clock: its rate, its jumps when idle, its holds.
  var clock: Clock { get }

  /// The wall clock, nanoseconds since 1970; follows the loop's clock where that jumps.
  func wallTime() -> Int64

  /// Whether to notice steps of the wall clock: it was set, or the system slept.
  ///
  /// While they are, a step ends the present or next wait, which returns 0.
  func watchWallClock(_ isWanted: Bool) throws(SystemError)
  /// How many steps of the wall clock were noticed; those of a moment may be one.
  var wallClockSteps: Int { get }

  /// Makes an empty poll set; the loop's wake-up is always part of it.
  func makePollSet() throws(SystemError) -> PollSetID
  func closePollSet(_ set: PollSetID)

  /// Adds a descriptor to a set, level-triggered. Twice in one set is an error (EEXIST).
  /// - Parameter token: Comes back with its events; below 2^62 - 2.
  /// - Returns: false if the descriptor cannot be polled because it is always ready (a regular
  ///   file, `/dev/null`); it is then not in the set.
  func watch(
    _ fd: Int32, for interest: Interest, token: UInt64, in set: PollSetID
  ) throws(SystemError) -> Bool

  /// Changes the interest in a descriptor of a set; an empty interest keeps it in the set, silent.
  func rewatch(
    _ fd: Int32, for interest: Interest, token: UInt64, in set: PollSetID
  ) throws(SystemError)

  /// Removes a descriptor from a set. It may have been closed already.
  func unwatch(_ fd: Int32, in set: PollSetID)

  /// Fetches what is ready now, without waiting.
  /// - Returns: How many events were put at the beginning of `ready`.
  func poll(_ set: PollSetID, into ready: UnsafeMutableBufferPointer<ReadyEvent>) -> Int

  /// Sleeps until a descriptor of the set is ready, the deadline has come, or `wake()` was called
  /// (also before: a wake-up is remembered until the next wait or poll). May return early, with 0.
  func wait(
    _ set: PollSetID, until deadline: Int64, into ready: UnsafeMutableBufferPointer<ReadyEvent>
  ) -> Int

  /// How late the system may end a sleep, in nanoseconds; 0: what the thread has.
  var timerSlack: Int64 { get set }

  /// How long before a deadline a wait ends its sleep, to look again and again until it has come;
  /// 0 ns by default.
  var spin: Int64 { get set }

  /// A descriptor that is readable when a wait on the set would end; nil: this kernel has none.
  func descriptor(of set: PollSetID) -> Int32?

  /// Another loop waits on the descriptor of a set: `wake` makes it readable, until the next poll.
  func announceSleep()

  /// Ends the present or next wait. Any thread; several are one.
  func wake()

  /// A gate for a thread that waits for this loop (perform-and-wait). Any thread.
  func makeGate() -> any Gate

  // Descriptors. All are non-blocking here, and retry EINTR; EAGAIN is an error like others.
  func read(_ fd: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int
  func write(_ fd: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int
  func isOpen(_ fd: Int32) -> Bool
  /// What sort of descriptor it is, asked once, before it is used.
  func traits(of fd: Int32) throws(SystemError) -> DescriptorTraits
  /// Whether an event is there now, errors and hang-ups included: then one read or one small write
  /// does not block, whatever the mode of the descriptor.
  func isReady(_ fd: Int32, for event: Interest) -> Bool
  func close(_ fd: Int32)
  /// A connected pair of stream sockets, non-blocking, closed on exec.
  func socketPair() throws(SystemError) -> (Int32, Int32)

  /// The descriptor that is readable when the libdispatch main queue has work; nil if not served.
  var mainQueueDescriptor: Int32? { get }
  /// Runs what the libdispatch main queue holds. Main thread only.
  func drainMainQueue()
}

extension Kernel {
  /// The time on the loop's clock, read now.
  package func now() -> Int64 { clock.now() }
}

/// What a descriptor is, as far as it decides how it is read and written.
package struct DescriptorTraits: OptionSet, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  static let directory = DescriptorTraits(rawValue: 1)
  package static let nonBlocking = DescriptorTraits(rawValue: 2)
}

/// A one-time gate: threads wait, another opens.
package protocol Gate: AnyObject, Sendable {
  /// Lets the waiting threads go on. Any thread; idempotent.
  func open()
  /// Any thread.
  var isOpen: Bool { get }
  /// Blocks the calling thread until the gate is open or this many nanoseconds have passed.
  /// - Returns: false if the time ran out first.
  func wait(atMost nanoseconds: Int64) -> Bool
}
