// Follows what a loop does, for `moonloop simulate`: sums for each item, counts in columns of equal
// time for a picture, and each event of a window.

internal import MoonloopCore

/// Takes the events of one loop. Loop thread only.
final class LoopRecorder {
  /// What is called: an item, by its kind and name.
  struct Item {
    let kind: CalloutKind
    let name: String
    var calls = 0
    var missed: Int64 = 0
    var lateMax: Int64 = 0
    var lateSum: Int64 = 0
    /// Sleeps that ended for it.
    var wakeUps = 0
    /// Real time in its handler, without what that called through a nested run.
    var busy: Int64 = 0
    var busyMax: Int64 = 0
    /// Calls in each column.
    var columns: [Int32]
  }

  /// One run; runs of equal mode and depth that a picture could not tell apart are one.
  struct Run {
    let mode: String
    let depth: Int
    let begin: Int64
    var end: Int64
    var count = 1
  }

  /// An event of the window.
  struct Detail {
    enum What { case pass, sleep, callout, run }
    let what: What
    let item: Int
    let depth: Int
    let begin: Int64
    let end: Int64
    var late: Int64 = 0
    /// That of a nested run.
    var mode = ""
  }

  struct Options {
    var span: Int64
    var columns: Int
    var from: Int64
    var to: Int64
    var details: Int
  }

  private struct Frame {
    let mode: String
    let begin: Int64
    /// When the sleep that comes or goes on began.
    var sleep: Int64?
  }

  private struct Call {
    let item: Int
    let begin: Int64
    let late: Int64
    let real: Int64
    /// Real time of the calls inside.
    var inner: Int64 = 0
  }

  private struct Key: Hashable {
    let kind: CalloutKind
    let name: String
  }

  /// So many passes at one moment of virtual time mean that it stands still.
  private static let standingLimit = 200_000
  /// The most runs that are kept for the picture.
  private static let runLimit = 4000

  let options: Options
  private unowned let loop: Loop
  private let origin: Int64
  private(set) var items: [Item] = []
  private var indices: [Key: Int] = [:]
  private(set) var runs: [Run] = []
  private(set) var details: [Detail] = []
  private(set) var passes = 0
  private(set) var wakeUps = 0
  private(set) var slept: Int64 = 0
  private(set) var sleepColumns: [Int64]
  private(set) var passColumns: [Int32]
  /// Where the window ended because it was full.
  private(set) var detailsEnd: Int64?
  private(set) var standsStill = false

  private var frames: [Frame] = []
  private var calls: [Call] = []
  private var wasWoken = false
  private var standing = 0
  private var lastPass: Int64 = -1

  init(_ loop: Loop, _ options: Options) {
    self.loop = loop
    self.options = options
    origin = loop.kernel.now()
    sleepColumns = Array(repeating: 0, count: options.columns)
    passColumns = Array(repeating: 0, count: options.columns)
  }

  /// Nanoseconds since the beginning.
  var now: Int64 { loop.kernel.now() - origin }

  func take(_ event: TraceEvent) {
    switch event {
    case .run(true, let mode, _): frames.append(Frame(mode: mode.rawValue, begin: now))
    case .run(false, _, _): endRun()
    case .activity(.beforeTimers, _): beginPass()
    case .activity(.beforeWaiting, _):
      wasWoken = false
      if !frames.isEmpty { frames[frames.count - 1].sleep = now }
    case .activity(.afterWaiting, _): endSleep()
    case .activity: break
    case .calloutBegins(let kind, let name, _, let lateness, let missed):
      beginCall(kind, name, lateness, missed)
    case .callout: endCall()
    }
  }

  // MARK: Runs and passes

  private func endRun() {
    guard let frame = frames.popLast() else { return }
    let end = now
    let depth = frames.count + 1
    let gap = options.span / 2000
    if depth > 1 { note(.run, begin: frame.begin, end, mode: frame.mode) }
    if let last = runs.lastIndex(where: { $0.depth <= depth }), runs[last].depth == depth,
      runs[last].mode == frame.mode, frame.begin - runs[last].end <= gap
    {
      runs[last].end = end
      runs[last].count += 1
    } else if runs.count < Self.runLimit {
      runs.append(Run(mode: frame.mode, depth: depth, begin: frame.begin, end: end))
    }
  }

  private func beginPass() {
    let now = now
    passes += 1
    if options.columns > 0 { passColumns[column(now)] += 1 }
    note(.pass, begin: now, now)
    standing = now == lastPass ? standing + 1 : 0
    lastPass = now
    if standing > Self.standingLimit {
      standsStill = true
      loop.stop()
    }
  }

  private func endSleep() {
    guard let last = frames.indices.last, let begin = frames[last].sleep else { return }
    frames[last].sleep = nil
    let now = now
    if now == begin { return }
    wakeUps += 1
    wasWoken = true
    slept += now - begin
    note(.sleep, begin: begin, now)
    if options.columns == 0 { return }
    let width = max(1, options.span / Int64(options.columns))
    for index in column(begin)...column(now) {
      let from = max(begin, Int64(index) * width)
      sleepColumns[index] += max(0, min(now, Int64(index + 1) * width) - from)
    }
  }

  // MARK: Call-outs

  private func beginCall(_ kind: CalloutKind, _ name: String, _ late: Int64, _ missed: Int64) {
    let index = index(of: kind, name)
    let now = now
    items[index].calls += 1
    items[index].missed += missed
    items[index].lateSum += late
    items[index].lateMax = max(items[index].lateMax, late)
    if options.columns > 0 { items[index].columns[column(now)] += 1 }
    if wasWoken && kind != .observer {
      items[index].wakeUps += 1
      wasWoken = false
    }
    calls.append(Call(item: index, begin: now, late: late, real: RealTime.monotonic))
  }

  private func endCall() {
    guard let call = calls.popLast() else { return }
    let real = RealTime.monotonic - call.real
    if let outer = calls.indices.last { calls[outer].inner += real }
    let own = real - call.inner
    items[call.item].busy += own
    items[call.item].busyMax = max(items[call.item].busyMax, own)
    let now = now
    note(.callout, item: call.item, begin: call.begin, now, late: call.late)
    // An observer of the sleep has returned: only now does it begin.
    if items[call.item].kind == .observer, let last = frames.indices.last,
      frames[last].sleep != nil
    {
      frames[last].sleep = now
    }
  }

  private func index(of kind: CalloutKind, _ name: String) -> Int {
    let key = Key(kind: kind, name: name)
    if let index = indices[key] { return index }
    indices[key] = items.count
    items.append(
      Item(kind: kind, name: name, columns: Array(repeating: 0, count: options.columns)))
    return items.count - 1
  }

  // MARK: The picture

  private func column(_ time: Int64) -> Int {
    let count = Int64(options.columns)
    let (product, overflows) = time.multipliedReportingOverflow(by: count)
    let index = overflows ? time / max(1, options.span / count) : product / max(1, options.span)
    return Int(min(count - 1, max(0, index)))
  }

  private func note(
    _ what: Detail.What, item: Int = -1, begin: Int64, _ end: Int64, late: Int64 = 0,
    mode: String = ""
  ) {
    guard end >= options.from, begin <= options.to, detailsEnd == nil else { return }
    if details.count >= options.details {
      if options.details > 0 { detailsEnd = end }
      return
    }
    details.append(
      Detail(
        what: what, item: item, depth: frames.count, begin: begin, end: end, late: late, mode: mode)
    )
  }
}
