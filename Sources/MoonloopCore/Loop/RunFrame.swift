// One active run: nested runs have one each.

/// What the loop knows of one of its active runs. Loop thread only.
package final class RunFrame {
  package let mode: Mode
  package let serial: UInt64
  /// When the run is over at the latest; `Int64.max`: never.
  package let deadline: Int64
  /// A timeout of zero or less: exactly one pass, which does not sleep (R12).
  package let polls: Bool
  package let returnAfterSource: Bool
  /// `stop` met this run.
  @exclusivity(unchecked) package private(set) var isStopped = false  // a plain word
  private(set) var stopValue: (any Sendable)?
  /// The exit observers are being told: it is too late to stop this run (R18).
  var isExiting = false
  /// What observers are being told, if they are: for who asks why something does not happen.
  @exclusivity(unchecked) package var telling: Activity = []
  /// The number of wake-ups at the begin of the pass under way.
  var wakesSeen: UInt64 = 0
  /// The last pass served a ready port: due timers go first now (R31).
  var servedPort = false

  package init(
    mode: Mode, serial: UInt64, deadline: Int64, polls: Bool, returnAfterSource: Bool
  ) {
    self.mode = mode
    self.serial = serial
    self.deadline = deadline
    self.polls = polls
    self.returnAfterSource = returnAfterSource
  }

  /// `stop` met the run; of several values the first counts.
  func stop(_ value: (any Sendable)?) {
    if stopValue == nil { stopValue = value }
    isStopped = true
  }
}
