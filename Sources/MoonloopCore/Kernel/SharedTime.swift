// One time for the loops of several threads: it jumps when all of them are idle, and never past
// what one of them still has to do for another.

internal import CLinuxShims
internal import Synchronization

/// The time that clocks of several threads share; they all jump when idle. Any thread.
///
/// A loop counts as busy from the moment that it is woken or a descriptor of it is ready, not only
/// when it has woken: the loop that becomes idle last looks at that of all others. So time stands
/// still while a message is on its way.
final class SharedTime: Sendable {
  /// Why and until when a loop is idle.
  struct Idleness: Sendable {
    /// How far its next deadline is; `Int64.max`: it has none.
    var distance: Int64
    /// The system time at which that was so, and how much of it counts on the clock.
    var since: Int64
    var rate: Int64
    let wakeUp: WakeUp
    let pollSet: Int32
    let holds: Holds
  }

  private enum Standing: Sendable {
    case busy
    case idle(Idleness)

    var idleness: Idleness? { if case .idle(let idleness) = self { idleness } else { nil } }
  }

  private struct State: Sendable {
    var members: [Int: Standing] = [:]
    var nextMember = 0
    /// How much all jumps together were.
    var jumped: Int64 = 0
  }

  private let state = Guarded(State())

  /// The place of one clock in a shared time.
  final class Place: Sendable {
    let time: SharedTime
    private let member: Int

    fileprivate init(_ time: SharedTime, _ member: Int) {
      self.time = time
      self.member = member
    }

    /// How much all jumps together were.
    var jumped: Int64 { Intake.number { time.state.withLock { $0.jumped } } }

    /// The loop has something to do.
    /// - Returns: How much all jumps together were.
    @discardableResult
    func becomeBusy() -> Int64 {
      Intake.number {
        time.state.withLock { state in
          // A clock that has left must not come back.
          if state.members[member] != nil { state.members[member] = .busy }
          return state.jumped
        }
      }
    }

    /// The loop is about to sleep. Loop thread only.
    /// - Returns: false if it is not to: it was woken, or time has jumped to its deadline.
    func becomeIdle(_ idleness: Idleness) -> Bool {
      Intake.flag { settleIdle(idleness) }
    }

    private func settleIdle(_ idleness: Idleness) -> Bool {
      let (isIdle, woken) = time.state.withLock { state -> (Bool, [WakeUp]) in
        if idleness.wakeUp.isNotified { return (false, []) }
        if state.members[member] == nil { return (true, []) }
        state.members[member] = .idle(idleness)
        let woken = SharedTime.settle(&state)
        return (state.members[member]?.idleness != nil, woken)
      }
      for wakeUp in woken where wakeUp !== idleness.wakeUp { wakeUp.nudge() }
      return isIdle
    }

    /// Moves the time by hand.
    /// - Returns: How much all jumps together were.
    func jump(by nanoseconds: Int64) -> Int64 {
      Intake.number { jumpNow(by: nanoseconds) }
    }

    private func jumpNow(by nanoseconds: Int64) -> Int64 {
      let (jumped, idle) = time.state.withLock { state -> (Int64, [WakeUp]) in
        state.jumped = state.jumped.addingSaturated(nanoseconds)
        var idle: [WakeUp] = []
        for (member, standing) in state.members {
          guard let idleness = standing.idleness else { continue }
          idle.append(idleness.wakeUp)
          state.members[member] = .busy
        }
        return (state.jumped, idle)
      }
      for wakeUp in idle { wakeUp.nudge() }
      return jumped
    }

    /// Its loop has ended: the others do not wait for it any more.
    func leave() {
      if !Intake.isReplayed { Intake.outside { leaveNow() } }
    }

    private func leaveNow() {
      let woken = time.state.withLock { state -> [WakeUp] in
        state.members[member] = nil
        return SharedTime.settle(&state)
      }
      for wakeUp in woken { wakeUp.nudge() }
    }
  }

  init() {}

  /// Adds a clock, whose loop counts as busy.
  func join() -> Place {
    let member = state.withLock { state in
      state.nextMember += 1
      state.members[state.nextMember] = .busy
      return state.nextMember
    }
    return Place(self, member)
  }

  /// Jumps to the earliest deadline if all are idle. Those whose deadline has come are busy.
  /// - Returns: The loops to wake for that.
  private static func settle(_ state: inout State) -> [WakeUp] {
    let idle = state.members.values.compactMap(\.idleness)
    guard idle.count == state.members.count, !idle.isEmpty else { return [] }
    let now = idle.contains { $0.rate != 0 } ? cmx_monotonic() : 0
    let left = { (member: Idleness) -> Int64 in
      if member.distance == .max { return .max }
      let passed = member.rate == 0 ? 0 : now.subtractingSaturated(member.since)
      return max(0, member.distance.subtractingSaturated(passed))
    }
    guard let step = idle.map(left).min(), step != .max else { return [] }
    // A loop that was woken, or has a ready descriptor, and does not know it yet, comes back by
    // itself; one that is held meanwhile is nudged when the hold ends.
    let isExpected = { (member: Idleness) -> Bool in
      member.wakeUp.isNotified || member.holds.areOpen || cmx_is_ready(member.pollSet, 1)
    }
    if idle.contains(where: isExpected) { return [] }
    if cmx_await_loopback(), idle.contains(where: isExpected) { return [] }
    state.jumped = state.jumped.addingSaturated(step)
    var woken: [WakeUp] = []
    for (number, standing) in state.members {
      guard var member = standing.idleness else { continue }
      let rest = left(member)
      if rest <= step {
        woken.append(member.wakeUp)
        state.members[number] = .busy
      } else if rest != .max {
        (member.distance, member.since) = (rest - step, now)
        state.members[number] = .idle(member)
      }
    }
    return woken
  }
}
