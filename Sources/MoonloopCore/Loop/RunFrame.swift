// One active run: nested runs have one each.

/// The sorts of events that a pass may still serve: all of them until a stop, then those that were
/// ready before it (R15), and none once the event was served.
struct OpenEvents: OptionSet, BitwiseCopyable {
  let rawValue: UInt8
  static let ports = OpenEvents(rawValue: 1)
  static let timers = OpenEvents(rawValue: 2)
  static let all: OpenEvents = [.ports, .timers]
}

/// What the loop knows of one of its active runs. Loop thread only.
package final class RunFrame {
  package let mode: Mode
  let serial: UInt64
  /// How long the run may take, counted from after its `entry` observers (R134); `Int64.max`: no
  /// limit.
  let limit: Int64
  /// When that time is over; `Int64.max`: never, or the run has not got so far. A tracer that is
  /// told of the run may have set an earlier end.
  @exclusivity(unchecked) package var deadline = Int64.max  // a plain word
  /// A timeout of zero or less: exactly one pass, which does not sleep (R12).
  package let polls: Bool
  package let returnAfterSource: Bool
  /// What may still be the event of the pass under way.
  @exclusivity(unchecked) var openEvents: OpenEvents = []  // a plain word
  /// What ended the sleep of this pass, while observers of `afterWaiting` are called, and
  /// which part of it is kept from nested runs (R135).
  var eventOfSleep = EventOfSleep.none
  var keptEvent: KeptEvent?
  var keptTimers: [TimerID] = []
  /// What `Mode.keptTurns` was before this run kept more; nil: it keeps none.
  var outerKeptTurns: UInt64?
  /// `stop` met this run.
  @exclusivity(unchecked) package private(set) var isStopped = false  // a plain word
  private(set) var stopValue: (any Sendable)?
  /// The exit observers are being called: it is too late to stop this run (R18).
  var isExiting = false
  /// The activity whose observers are being called, if any: for `loop:why`.
  @exclusivity(unchecked) package var telling: Activity = []
  /// The number of wake-ups at the start of the pass under way; in the first one, before `entry`.
  var wakesSeen: UInt64 = 0
  /// It is a run of the loop's host, the host has begun a pass of it, and knows that it must end.
  var isHosted = false
  var hostHasPassed = false
  var hostKnowsStop = false
  /// The last pass served a ready port: due timers go first now (R31).
  var servedPort = false

  init(mode: Mode, serial: UInt64, limit: Int64, returnAfterSource: Bool) {
    self.mode = mode
    self.serial = serial
    self.limit = limit
    polls = limit <= 0
    self.returnAfterSource = returnAfterSource
  }

  /// `stop` met the run; of several values the first counts.
  func stop(_ value: (any Sendable)?) {
    if stopValue == nil { stopValue = value }
    isStopped = true
  }
}

/// The runs of a loop. Loop thread only.
package struct RunState {
  /// Those under way, the innermost last.
  package internal(set) var frames: [RunFrame] = []
  var lastSerial: UInt64 = 0
  var passes: UInt64 = 0
  /// Calls of handlers that are not those of descriptors: each may have read from any of these.
  var strangers: UInt64 = 0
  var nestingLimit = 64
  /// In the sleep posts of other threads are being taken in.
  var takesPosts = false
  var pumped = PumpedTurns()
}

/// What the loop remembers of stops outside of runs. Loop thread only.
struct StopRecord {
  /// Whether a stop met the last run that ended, and what it handed over.
  var metLastRun = false
  var value: (any Sendable)?
  /// A stop that is remembered for the next run, and its value.
  var pending: (any Sendable)??

  /// A run begins: a stop that was remembered is for it.
  mutating func takePending() {
    metLastRun = pending != nil
    value = pending ?? nil
    pending = nil
  }
}
