// The figures of one row of a recorder: how often, how long and how late, and who was to blame.

internal import MoonloopCore

extension LoopRecorder {
  /// The maximum number of culprits in a row.
  private static let culpritLimit = 8

  /// The figures of a row.
  struct Item {
    let kind: CalloutKind
    let subject: RecordedSubject
    var calls = 0
    /// Fires of timers that were missed while the timer was served.
    var missed: Int64 = 0
    /// Fires of timers that were missed as their own handler had not returned.
    var ownMissed: Int64 = 0
    /// How late timers were called, not counting the time in which they were held back.
    var lateness = Histogram()
    var held = HeldFigures()
    /// Sleeps that ended for it.
    var wakeUps = 0
    /// Real time in its handler, without nested runs, what they called, and their sleeps.
    var durations = Histogram()
    /// What made calls late: the worst one of each culprit.
    private(set) var late: [LateCall] = []
    /// Calls in each column, the time in calls that last longer than a column, and the time in
    /// which a timer was held back.
    var columns: [Int32]
    var busyColumns: [Int64]
    var heldColumns: [Int64]

    /// The latest call.
    var latest: LateCall? {
      late.max { ($0.late, $0.duration) < ($1.late, $1.duration) }
    }
    /// What else made that call late.
    var alsoLatest: LateCall? {
      guard let latest else { return nil }
      return late.first { $0.at == latest.at && $0.culprit != latest.culprit }
    }

    mutating func blame(_ call: LateCall) {
      guard let place = late.firstIndex(where: { $0.culprit == call.culprit }) else {
        if late.count < LoopRecorder.culpritLimit { return late.append(call) }
        let least = late.indices.min { late[$0].late < late[$1].late }!
        if late[least].late < call.late { late[least] = call }
        return
      }
      let missed = late[place].missed + call.missed
      if call.late >= late[place].late { late[place] = call }
      late[place].missed = missed
    }
  }

  /// How often and why the timers of a row were held back.
  struct HeldFigures {
    var count = 0
    var total: Int64 = 0
    /// What nested runs cost, by what began them.
    var nests: [Nest] = []
    var max: Int64 = 0
    /// By cause, as the fires missed meanwhile.
    var times = [Int64](repeating: 0, count: HeldCause.allCases.count)
    var missedBy = [Int64](repeating: 0, count: HeldCause.allCases.count)
    /// The longest one, the last if there are several; and when the call came.
    var longest: (wait: HeldBack<Int>, at: Int64)?

    var missed: Int64 { missedBy.reduce(0, +) }

    mutating func add(_ wait: HeldBack<Int>, at now: Int64) {
      let time = wait.total
      count += 1
      total = total.addingSaturated(time)
      countNest(of: wait)
      for place in times.indices {
        times[place] = times[place].addingSaturated(wait.times[place])
        missedBy[place] += wait.missedBy[place]
      }
      if time < max || time < LoopRecorder.longCall { return }
      max = time
      longest = (wait, now)
    }

    private mutating func countNest(of wait: HeldBack<Int>) {
      guard let nester = wait.nester, let mode = wait.mode else { return }
      let cause = HeldCause.nestedRun.rawValue
      var place = nests.firstIndex { $0.nester == nester && $0.mode == mode }
      if place == nil && nests.count < LoopRecorder.culpritLimit {
        place = nests.count
        nests.append(Nest(nester: nester, mode: mode))
      }
      guard let place else { return }
      nests[place].missed += wait.missedBy[cause]
      nests[place].time = nests[place].time.addingSaturated(wait.times[cause])
    }
  }

  /// What it cost timers that a handler ran the loop in a mode without them.
  struct Nest {
    let nester: Int
    let mode: ModeName
    var missed: Int64 = 0
    var time: Int64 = 0
  }

  /// A late call, and what occupied the thread meanwhile.
  struct LateCall {
    let late: Int64
    let culprit: Int
    /// How many calls of it there were, and how long they took, without the runs nested in them.
    let calls: Int
    let duration: Int64
    let at: Int64
    /// Fires missed because of the culprit, including those before other calls.
    var missed: Int64
  }
}
