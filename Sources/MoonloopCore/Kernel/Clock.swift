// The loop's clock, described by two properties: its rate, and whether it jumps when the loop is
// idle.

internal import CLinuxShims

/// How the time of a loop runs.
public enum ClockMode: Sendable, Hashable, CaseIterable {
  /// The monotonic clock of the system.
  case real
  /// Stands still while the loop works, and jumps to the next deadline when it has nothing to do.
  case virtual
  /// Runs with the system's clock, and jumps to the next deadline when the loop has nothing to do.
  case skipIdle
}

/// A time that is not the machine's. Any thread.
package protocol TimeSource: AnyObject {
  /// Monotonic nanoseconds.
  var now: Int64 { get }
}

/// The clock of one loop. Loop thread only, but for holds.
///
/// It maps the time of a kernel (monotonic nanoseconds, called *system time* here) to the time of a
/// loop: `rate * system + offset`, where a jump adds to the offset. The wall clock is mapped alike.
/// All sums saturate, so that `Int64.max` stays never.
package final class Clock {
  package let mode: ClockMode
  /// 1: runs with the system's clock. 0: stands still between jumps.
  package let rate: Int64
  /// Whether an idle loop jumps to its next deadline.
  package let jumpsWhenIdle: Bool
  /// Whether it is the machine's clock that runs: then some time passes in whatever is done.
  package let runsByItself: Bool
  /// Whether it always shows what the machine's does, a breakpoint aside.
  package var isMachines: Bool { runsByItself && !jumpsWhenIdle }
  /// What is in flight; may be used from any thread.
  package let holds: Holds
  /// The clock of the host loop, if this clock's loop is pumped by one.
  private let mirrored: Clock?
  /// Its place in a time that clocks of other threads share; protected by its lock, held for no
  /// call.
  private let place = Guarded<SharedTime.Place?>(nil)
  /// Whether it has such a place. Loop thread only.
  @exclusivity(unchecked) private var isShared = false
  /// Where it was stopped, while it stands; and by how many.
  @exclusivity(unchecked) private var stoppedAt: Int64 = 0
  @exclusivity(unchecked) private var stops = 0
  /// Keeps a clock that jumps from doing so while it stands.
  private var stopHold: Hold?
  /// How much of the jumps of the shared time is in the offsets.
  private var followed: Int64 = 0

  /// Whose time is the system time; nil: the machine's. A word to look at instead of a call through
  /// the kernel's protocol, because scripts ask for the time all the while.
  private let source: (any TimeSource)?
  // Plain words, read in each pass.
  @exclusivity(unchecked) private var offset: Int64
  @exclusivity(unchecked) private var wallOffset: Int64

  /// How far the machine's exact clock may be ahead of its coarse one, with one tick to spare. A
  /// virtual machine that was held up can be further ahead; a deadline is then found that much
  /// later by a busy loop, and at once by a wait, which reads the exact clock.
  private let coarseLag = 2 * cmx_coarse_tick()

  /// Makes a clock of a mode.
  /// - Parameters:
  ///   - mode: How it runs.
  ///   - source: Whose time it shows; nil: the machine's.
  ///   - start: The first loop time of a clock that stands still; the others show the system's.
  ///   - wall: The first wall time of a clock that stands still, nanoseconds since 1970.
  package init(
    _ mode: ClockMode, of source: (any TimeSource)? = nil, start: Int64 = 0, wall: Int64 = 0
  ) {
    self.mode = mode
    self.source = source
    holds = Holds()
    mirrored = nil
    rate = mode == .virtual ? 0 : 1
    runsByItself = rate == 1 && source == nil
    jumpsWhenIdle = mode != .real
    if jumpsWhenIdle { cmx_note_sends() }
    offset = mode == .virtual ? start : 0
    wallOffset = mode == .virtual ? wall : 0
  }

  /// Makes a clock for another thread, which shares the time of this one: they jump together, when
  /// all of them are idle. Loop thread only; the new one is for the other thread.
  ///
  /// A clock that never jumps need not share: the system's time is the same for all.
  package init(sharingTimeOf other: Clock) {
    mode = other.mode
    source = other.source
    holds = Holds()
    mirrored = nil
    rate = other.rate
    runsByItself = other.runsByItself
    jumpsWhenIdle = other.jumpsWhenIdle
    guard jumpsWhenIdle else {
      (offset, wallOffset) = (0, 0)
      return
    }
    let place = other.sharedPlace ?? other.beginSharing()
    other.follow(place.jumped)
    (offset, wallOffset, followed) = (other.offset, other.wallOffset, other.followed)
    let own = place.time.join()
    self.place.withLock { $0 = own }
    isShared = true
  }

  /// Makes the clock of a loop of the same thread that lodges in the loop of this one: it shows the
  /// same time, and never jumps by itself, since its loop does not wait. Loop thread only.
  init(mirroring other: Clock) {
    mode = other.mode
    source = MirroredTime(other)
    holds = other.holds
    mirrored = other
    rate = 1
    runsByItself = false
    jumpsWhenIdle = other.jumpsWhenIdle
    (offset, wallOffset) = (0, 0)
  }

  /// Whether it shows the time of another loop of this thread.
  package var isMirror: Bool { mirrored != nil }

  private func beginSharing() -> SharedTime.Place {
    let new = SharedTime().join()
    place.withLock { $0 = new }
    isShared = true
    return new
  }

  /// Its place in a shared time, if it shares one. Any thread.
  var sharedPlace: SharedTime.Place? { place.withLock { $0 } }

  /// Leaves the shared time: the others wait for it no more. Loop thread, or before there is one.
  package func leaveSharedTime() {
    isShared = false
    let old = place.withLock { place -> SharedTime.Place? in
      defer { place = nil }
      return place
    }
    old?.leave()
  }

  @inline(never)
  private func followOthers() { if let place = sharedPlace { follow(place.jumped) } }

  /// Takes in the jumps that the shared time has made.
  func follow(_ jumped: Int64) {
    let more = jumped.subtractingSaturated(followed)
    followed = jumped
    offset = offset.addingSaturated(more)
    wallOffset = wallOffset.addingSaturated(more)
  }

  /// Stops the time of the loop: no deadline comes nearer until `go` was called as often. Then time
  /// goes on from where it was; a real clock then lags behind the system's by that much.
  ///
  /// The wall clock is the system's, and goes on.
  func stop() {
    if stops == 0 {
      stoppedAt = now()
      stopHold = jumpsWhenIdle ? holds.open("a breakpoint") : nil
    }
    stops += 1
  }

  func go() {
    if stops == 0 { fatalError("go: the clock was not stopped") }
    stops -= 1
    if stops > 0 { return }
    if rate != 0 {
      if isShared { followOthers() }
      let system = source?.now ?? cmx_monotonic()
      offset = stoppedAt.subtractingSaturated(system)
    }
    stopHold = nil
  }

  /// Whether the time of the loop stands.
  var isStopped: Bool { stops > 0 }

  /// Moves the time by hand. This fires nothing: the loop finds out what has become due.
  /// - Parameter nanoseconds: At least 0.
  /// - Precondition: The mode is not `real`; what other programs see cannot be moved.
  package func advance(by nanoseconds: Int64) {
    if !jumpsWhenIdle {
      fatalError("advance: a real clock cannot be moved; use virtual or skipIdle")
    }
    if nanoseconds < 0 { fatalError("advance: a clock never goes back, got \(nanoseconds) ns") }
    if isShared, let place = sharedPlace { return follow(place.jump(by: nanoseconds)) }
    offset = offset.addingSaturated(nanoseconds)
    wallOffset = wallOffset.addingSaturated(nanoseconds)
  }

  /// The time, read now.
  @inline(__always)
  package func now() -> Int64 { time(at: source?.now ?? cmx_monotonic()) }

  /// The processor time of the calling thread, in nanoseconds; where the machine's time does not
  /// run, what is done takes as long as the clock says.
  package func processorTime() -> Int64 { runsByItself ? cmx_thread_time() : now() }

  /// Whether the time has reached `deadline`: the same answer as `now() >= deadline`, but cheaper
  /// (a coarse clock) when the deadline is more than a tick of the machine away. Never for `.max`.
  package func hasReached(_ deadline: Int64) -> Bool {
    if deadline == .max { return false }
    let system = systemTime(of: deadline)
    if system == .max || system == .min { return system == .min }
    if let source { return source.now >= system }
    let coarse = cmx_monotonic_coarse()
    if coarse >= system { return true }
    if system - coarse > coarseLag { return false }
    return cmx_monotonic() >= system
  }

  /// Whether the time has reached `deadline` for certain, by the coarse clock: that is behind by up
  /// to a tick of the machine. A clock that jumps is exact.
  func hasSurelyReached(_ deadline: Int64) -> Bool {
    let system = systemTime(of: deadline)
    if system == .max || system == .min { return system == .min }
    return (source?.now ?? cmx_monotonic_coarse()) >= system
  }

  // MARK: For kernels

  /// The loop time at a system time. `system` is not read if the rate is 0.
  @inline(__always)
  private func time(at system: @autoclosure () -> Int64) -> Int64 {
    if isShared { followOthers() }
    if stops > 0 { return stoppedAt }
    return rate == 0 ? offset : system().addingSaturated(offset)
  }

  /// The wall time of the loop at a wall time of the system.
  package func wallTime(at system: @autoclosure () -> Int64) -> Int64 {
    if isShared { followOthers() }
    if let mirrored { return mirrored.wallTime(at: system()) }
    return rate == 0 ? wallOffset : system().addingSaturated(wallOffset)
  }

  /// The system time at which the loop's clock reaches a deadline by itself; `Int64.max` for never.
  @inline(__always)
  package func systemTime(of deadline: Int64) -> Int64 {
    if isShared { followOthers() }
    if stops > 0 { return deadline <= stoppedAt ? .min : .max }
    if rate == 0 { return deadline <= offset ? .min : .max }
    return deadline == .max ? .max : deadline.subtractingSaturated(offset)
  }

  /// How long to sleep at a system time until a deadline; 0: it has come, `Int64.max`: forever.
  @inline(__always)
  package func wait(until deadline: Int64, at system: @autoclosure () -> Int64) -> Int64 {
    let target = systemTime(of: deadline)
    if target == .max { return .max }
    return target == .min ? 0 : max(0, target.subtractingSaturated(system()))
  }

  /// How far a deadline is on the loop's clock; `Int64.max`: it never comes.
  func distance(to deadline: Int64, at system: @autoclosure () -> Int64) -> Int64 {
    deadline == .max ? .max : deadline.subtractingSaturated(time(at: system()))
  }

  /// Jumps to a deadline, if it has not come yet.
  package func jump(to deadline: Int64, at system: @autoclosure () -> Int64) {
    let now = time(at: system())
    if deadline > now { advance(by: deadline.subtractingSaturated(now)) }
  }

  /// Steps the wall time of a clock that stands still, which does not follow the system's.
  package func stepWall(by nanoseconds: Int64) {
    if rate == 0 { wallOffset = wallOffset.addingSaturated(nanoseconds) }
  }
}

/// The time of another clock of this thread.
private final class MirroredTime: TimeSource {
  private let clock: Clock
  init(_ clock: Clock) { self.clock = clock }
  var now: Int64 { clock.now() }
}

extension Int64 {
  /// The sum, or the end of the range that it would pass.
  @inline(__always)
  package func addingSaturated(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, or the end of the range that it would pass.
  @inline(__always)
  package func subtractingSaturated(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}
