// `--trace-out`: what a loop does, in Chrome's trace event format, which Perfetto reads.

internal import Glibc
internal import Moonloop

/// Writes the events of one loop to a trace file as they end. Loop thread only.
///
/// Runs are begin and end pairs, so that they are visible even if the program was killed.
final class TraceTrack {
  private let file: TraceFile
  private let loop: Loop
  private let runtime: Runtime
  /// The number of the thread that viewers see.
  private let thread: Int
  private var line: JSONLine {
    get { file.line }
    _modify { yield &file.line }
  }
  /// The time of the first event. In a replay no time is known before the script asks for it.
  private var begin: Int64?
  /// The last reading of the clock, and how far the times in the file are ahead of it.
  private var clock: Int64 = 0
  private var ahead: Int64 = 0

  private var frames: [Frame] = []
  private var calls: [Call] = []
  private let log: WaitLog<Caller>
  /// The end of a sleep whose cause is not known yet.
  private var wake: (time: Int64, mode: String)?
  private var chunk: (begin: Int64, name: String)?
  private var tasks: [ObjectIdentifier: (number: Int, name: String)] = [:]
  private var lastTask = 0
  private var isOver = false
  /// It and the tracer of tasks hold the track until `finish`.
  private var watcher: TraceWatcher?
  /// Where the tasks of the loop before are traced.
  private var outerTracer: ScriptTracer?

  /// A run, with the beginnings of its current pass and sleep.
  private struct Frame {
    let mode: String
    var pass: Int64?
    var sleep: (begin: Int64, clock: Int64)?
  }

  /// What is called: the word for it, its name, and where it was made.
  private struct Caller: Hashable {
    let word: String
    let name: String
    let place: String

    var label: String {
      if strstr(name, " (made at ") != nil { return name }  // a task
      let named = name == word || name == place ? "" : " '\(name)'"
      return word + named + (place.isEmpty ? "" : " (made at \(place))")
    }
  }

  private struct Call {
    let begin: Int64
    let clock: Int64
    let kind: CalloutKind
    /// The name of its slice.
    let name: String
    var caller: Caller
    /// Whether the caller is known: it is not one of the host's blocks or timers.
    var isNamed: Bool
    let mode: String
    let subject: UInt64
    let delay: Int64
    let wait: TimerWait<Caller>
    let ownMissed: Int64
  }

  /// - Parameter number: Which track of the file it is, from 0 on.
  init(_ file: TraceFile, _ loop: Loop, _ runtime: Runtime, number: Int = 0) {
    self.file = file
    self.loop = loop
    self.runtime = runtime
    log = WaitLog(loop)
    thread = file.process + number
    file.begin()
    name("thread_name", loop.name)
  }

  /// Subscribes to events of the loop and its tasks, beside other watchers.
  func attach() {
    let watcher = TraceWatcher(wantsNames: true, looksOn: true) { [self] in take($0) }
    loop.add(watcher: watcher)
    self.watcher = watcher
    outerTracer = runtime.tracer
    runtime.tracer = ScriptTracer(
      task: { [self] task, begins in take(task, begins) },
      call: { [self] in nameCall($0, $1, $2) })
  }

  /// Writes the rest, and leaves the tasks to the track before. Idempotent.
  func finish() {
    if isOver { return }
    if let watcher { loop.remove(watcher: watcher) }
    watcher = nil
    runtime.tracer = outerTracer
    let now = stamp()
    for (number, name) in tasks.values.sorted(by: { $0.number < $1.number }) {
      task(number, name, "e", "", now)
    }
    while !calls.isEmpty { endCall(now) }
    while let frame = frames.popLast() {
      endPass(frame, now)
      phase("E", "run \(frame.mode)", now)
    }
    endChunk(now)
    isOver = true
  }

  // MARK: The main chunk

  func beginChunk(_ name: String) {
    if Intake.isReplayed { return }  // no time is known yet
    chunk = (stamp(), String(name.drop { $0 == "@" || $0 == "=" }))
  }

  /// The main chunk has returned, or waits.
  func endChunk() { endChunk(stamp()) }

  private func endChunk(_ now: Int64) {
    guard let (begin, name) = chunk, !isOver else { return }
    chunk = nil
    slice("main chunk", "chunk", begin, now) { line in
      line.raw(#""at":"#)
      line.text(name)
    }
  }

  // MARK: Events of the loop

  /// The time of an event. Viewers nest by time alone, so where the clock stands still (the virtual
  /// clock in handlers), each event is moved one nanosecond after the previous one.
  private func stamp(_ now: Int64? = nil) -> Int64 {
    let now = now ?? time
    let first = begin ?? now
    if begin == nil { begin = now } else if now <= clock { ahead += clock - now + 1 }
    clock = now
    return now - first + ahead
  }

  private var time: Int64 { Intake.aside { loop.now.nanoseconds } }

  private func take(_ event: TraceEvent) {
    if isOver { return }
    switch event {
    case .run(true, let mode, let depth): beginRun(mode.rawValue, depth, stamp())
    case .run(false, _, _): endRun(stamp())
    case .activity(let activity, let mode): take(activity, mode.rawValue, stamp())
    case .calloutBegins(let kind, let name, let mode, let late, let missed, let subject, let at):
      if kind != .observer { tellWake("\(kind.rawValue) \(name)") }
      let (word, place) = runtime.explanation.traced(kind, subject)
      let caller = Caller(word: word, name: name.isEmpty ? word : name, place: place)
      let isHostTimer = kind == .timer && loop.timerObject(TimerID(rawValue: subject)) != nil
      let wait =
        kind == .timer
        ? log.wait(of: TimerID(rawValue: subject), at: at, late: late, missed: missed)
        : TimerWait()
      let ownMissed =
        missed > 0
        ? wait.ownMissed(
          of: caller, interval: loop.timers.records[TimerID(rawValue: subject).slot].interval) : 0
      log.beginCall(caller, at: at)
      calls.append(
        Call(
          begin: stamp(at), clock: at, kind: kind, name: name.isEmpty ? kind.rawValue : name,
          caller: caller, isNamed: !isHostTimer && kind != .block && kind != .mainQueue,
          mode: mode.rawValue, subject: subject, delay: late, wait: wait,
          ownMissed: ownMissed))
    case .callout(_, _, _, let nanoseconds):
      // The same duration as in `loop:metrics`.
      if let call = calls.last { endCall(stamp(call.clock + nanoseconds)) }
    }
    file.flushIfLong()
  }

  /// The call under way turns out to be for something that a script made.
  private func nameCall(_ word: String, _ name: String, _ place: String) {
    guard let last = calls.indices.last, !calls[last].isNamed, !isOver else { return }
    let caller = Caller(word: word, name: name.isEmpty ? word : name, place: place)
    (calls[last].caller, calls[last].isNamed) = (caller, true)
    log.nameCall(caller)
  }

  private func beginRun(_ mode: String, _ depth: Int, _ now: Int64) {
    head("B", "run \(mode)", "run", now)
    line.raw(#","args":{"mode":"#)
    line.text(mode)
    line.raw(#","depth":\#(depth)}},"#)
    line.raw("\n")
    frames.append(Frame(mode: mode))
    log.beginRun(at: clock)
  }

  private func endRun(_ now: Int64) {
    tellWake("wake_up")
    guard let frame = frames.popLast() else { return }
    log.endRun(at: clock)
    endPass(frame, now)
    phase("E", "run \(frame.mode)", now)
  }

  private func endPass(_ frame: Frame, _ now: Int64) {
    if let begin = frame.pass { slice("pass", "pass", begin, now) { _ in } }
  }

  private func take(_ activity: Activity, _ mode: String, _ now: Int64) {
    guard let last = frames.indices.last else { return }
    switch activity {
    case .beforeTimers:
      tellWake("wake_up")
      endPass(frames[last], now)
      frames[last].pass = now
    case .beforeWaiting:
      frames[last].sleep = (now, clock)
      log.beginSleep(at: clock)
      file.flushIfOld()
    case .afterWaiting:
      guard let (begin, clock) = frames[last].sleep else { return }
      frames[last].sleep = nil
      log.endSleep(at: self.clock)
      if clock == self.clock { return }  // it only polled
      slice("sleep", "sleep", begin, now) { line in
        line.raw(#""mode":"#)
        line.text(mode)
      }
      wake = (now, mode)
    case .exit:
      tellWake("wake_up")
      endPass(frames[last], now)
      frames[last].pass = nil
    default: break
    }
  }

  private func endCall(_ now: Int64) {
    guard let call = calls.popLast() else { return }
    let caller = call.caller
    log.endCall(at: clock)
    if call.kind == .timer {
      log.endTimer(
        TimerID(rawValue: call.subject), date: call.clock - call.delay, begin: call.clock,
        end: clock)
    }
    slice(call.name, call.kind.rawValue, call.begin, now) { line in
      line.raw(#""kind":"#)
      line.text(call.kind.rawValue)
      line.raw(#","mode":"#)
      line.text(call.mode)
      if !caller.place.isEmpty {
        line.raw(#","at":"#)
        line.text(caller.place)
      }
      if call.kind == .timer { tell(call.wait, call.ownMissed, &line) }
    }
    // An observer of the sleep has returned: only now does it begin.
    if call.kind == .observer, let last = frames.indices.last, frames[last].sleep != nil {
      frames[last].sleep = (now, clock)
    }
  }

  /// What a timer waited for, in the arguments of its slice.
  private func tell(
    _ wait: TimerWait<Caller>, _ ownMissed: Int64, _ line: inout JSONLine
  ) {
    line.raw(#","late_us":"#)
    line.microseconds(wait.late)
    line.raw(#","missed":\#(wait.missed)"#)
    if ownMissed > 0 { line.raw(#","own_missed":\#(ownMissed)"#) }
    if let culprit = wait.culprits.first {
      line.raw(#","late_by":"#)
      tell(culprit, &line)
    }
    for (place, culprit) in wait.culprits.dropFirst().enumerated() {
      line.raw(place == 0 ? #","late_also_by":["# : ",")
      tell(culprit, &line)
    }
    if wait.culprits.count > 1 { line.raw("]") }
    guard let held = wait.held else { return }
    line.raw(#","held_us":"#)
    line.microseconds(held.total)
    line.raw(#","held_missed":\#(held.missed),"held_by":"#)
    line.text(runtime.explanation.words(of: held) { $0.label })
    var lead = #","held":{""#
    for cause in HeldCause.allCases {
      let (time, missed) = (held.times[cause.rawValue], held.missedBy[cause.rawValue])
      if time == 0 && missed == 0 { continue }
      line.raw(#"\#(lead)\#(cause.field)":{"us":"#)
      line.microseconds(time)
      line.raw(#","missed":\#(missed)}"#)
      lead = #",""#
    }
    line.raw("}")
    guard let nester = held.nester, let mode = held.mode else { return }
    line.raw(#","nested_by":{"#)
    tell(nester, &line)
    line.raw(#","mode":"#)
    line.text(mode.rawValue)
    line.raw(#","us":"#)
    line.microseconds(held.times[HeldCause.nestedRun.rawValue])
    line.raw(#","missed":\#(held.missedBy[HeldCause.nestedRun.rawValue])}"#)
  }

  private func tell(_ culprit: Culprit<Caller>, _ line: inout JSONLine) {
    line.raw("{")
    tell(culprit.caller, &line)
    line.raw(#","calls":\#(culprit.calls),"took_us":"#)
    line.microseconds(culprit.took)
    line.raw(#","missed":\#(culprit.missed)}"#)
  }

  private func tell(_ caller: Caller, _ line: inout JSONLine) {
    line.raw(#""kind":"#)
    line.text(caller.word)
    line.raw(#","name":"#)
    line.text(caller.name)
    line.raw(#","at":"#)
    line.text(caller.place)
  }

  /// The first call-out after a sleep is why it ended; if there was none, it was a wake-up.
  private func tellWake(_ cause: String) {
    guard let (time, mode) = wake else { return }
    wake = nil
    head("i", "wake-up", "wake", time)
    line.raw(#","s":"t","args":{"cause":"#)
    line.text(cause)
    line.raw(#","mode":"#)
    line.text(mode)
    line.raw("}},\n")
  }

  // MARK: Tasks

  private func take(_ task: ScriptTask, _ begins: Bool) {
    if isOver { return }
    let now = stamp()
    if begins {
      lastTask += 1
      let name = runtime.label(of: .task(task))
      tasks[ObjectIdentifier(task)] = (lastTask, name)
      self.task(lastTask, name, "b", runtime.explanation.place(of: task), now)
    } else if let (number, name) = tasks.removeValue(forKey: ObjectIdentifier(task)) {
      self.task(number, name, "e", "", now)
    }
  }

  private func task(_ number: Int, _ name: String, _ phase: String, _ at: String, _ time: Int64) {
    head(phase, name, "task", time)
    line.raw(#","id2":{"local":"\#(number)"}"#)
    if !at.isEmpty {
      line.raw(#","args":{"at":"#)
      line.text(at)
      line.raw("}")
    }
    line.raw("},\n")
  }

  // MARK: Lines

  private func head(_ phase: String, _ name: String, _ category: String, _ time: Int64) {
    line.raw(#"{"ph":"\#(phase)","cat":"\#(category)","name":"#)
    line.text(name)
    line.raw(#","pid":\#(file.process),"tid":\#(thread),"ts":"#)
    line.microseconds(time)
  }

  private func phase(_ phase: String, _ name: String, _ time: Int64) {
    head(phase, name, "run", time)
    line.raw("},\n")
  }

  private func slice(
    _ name: String, _ category: String, _ begin: Int64, _ end: Int64,
    _ arguments: (inout JSONLine) -> Void
  ) {
    head("X", name, category, begin)
    line.raw(#","dur":"#)
    line.microseconds(end - begin)
    line.raw(#","args":{"#)
    arguments(&line)
    line.raw("}},\n")
  }

  private func name(_ what: String, _ name: String) {
    line.raw(
      #"{"ph":"M","name":"\#(what)","pid":\#(file.process),"tid":\#(thread),"args":{"name":"#)
    line.text(name)
    line.raw("}},\n")
  }
}
