// `--trace-out`: what the loop does, in Chrome's trace event format, which Perfetto reads.

internal import Glibc
internal import Moonloop

/// Writes events to a file as they end. Loop thread only.
///
/// The file is an array with one event per line, which viewers read even without its end, if the
/// program was killed. Runs are begin and end pairs, so that they are visible even then. Where the
/// clock may stand still, the file is an object, since only an object can ask for nanoseconds:
/// otherwise Chrome's viewer rounds to microseconds and nests events that lie side by side.
final class TraceFile {
  private let loop: Loop
  private let runtime: Runtime
  private let path: String
  private let fd: Int32
  private var line = JSONLine()
  private let process: Int
  private let isObject: Bool
  /// The time of the first event. In a replay no time is known before the script asks for it.
  private var begin: Int64?
  private var lastFlush: Int64 = 0
  private var written = 0
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

  /// A run, with the beginnings of its current pass and sleep.
  private struct Frame {
    let mode: String
    var pass: Int64?
    var sleep: (begin: Int64, clock: Int64)?
  }

  /// What is called: its kind and name, and where it was made.
  private struct Caller {
    let kind: CalloutKind
    let name: String
    let place: String

    var label: String {
      if strstr(name, " (made at ") != nil { return name }  // a task
      let named = name == kind.rawValue || name == place ? "" : " '\(name)'"
      return kind.rawValue + named + (place.isEmpty ? "" : " (made at \(place))")
    }
  }

  private struct Call {
    let begin: Int64
    let clock: Int64
    let caller: Caller
    let mode: String
    let subject: UInt64
    let delay: Int64
    let wait: TimerWait<Caller>
  }

  /// Limits of what is buffered: bytes, and age in nanoseconds.
  private static let bufferLimit = 1 << 16
  private static let delayLimit: Int64 = 1_000_000_000

  /// - Throws: `ScriptFailure` if the file cannot be made.
  init(_ path: String, _ loop: Loop, _ runtime: Runtime, _ mode: ClockMode) throws(ScriptFailure) {
    isObject = mode == .virtual || Intake.isReplayed
    self.path = path
    self.loop = loop
    self.runtime = runtime
    log = WaitLog(loop)
    process = Int(getpid())
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    if fd < 0 {
      throw ScriptFailure(
        message: "--trace-out: cannot write '\(path)': \(String(cString: strerror(errno)))",
        status: ExitStatus.usage)
    }
    line.raw(isObject ? "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" : "[\n")
    name("process_name", "moonloop")
    name("thread_name", loop.name)
  }

  /// Subscribes to events of the loop and its tasks, beside other watchers.
  func attach() {
    loop.add(
      watcher: TraceWatcher(wantsNames: true, looksOn: true) { [unowned self] in take($0) })
    runtime.taskTracer = { [unowned self] task, begins in take(task, begins) }
  }

  /// Writes the rest. Idempotent.
  func finish() {
    if isOver { return }
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
    // After the last comma: a metadata event of the format without effect.
    line.raw(
      #"{"ph":"M","name":"process_sort_index","pid":\#(process),"tid":\#(process),"#
        + #""args":{"sort_index":0}}"#)
    line.raw(isObject ? "\n]}\n" : "\n]\n")
    flush()
    isOver = true
    close(fd)
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
      let caller = Caller(
        kind: kind, name: name.isEmpty ? kind.rawValue : name,
        place: runtime.explanation.place(ofTraced: kind, subject))
      let wait =
        kind == .timer
        ? log.wait(of: TimerID(rawValue: subject), at: at, late: late, missed: missed)
        : TimerWait()
      log.beginCall(caller, at: at)
      calls.append(
        Call(
          begin: stamp(at), clock: at, caller: caller, mode: mode.rawValue, subject: subject,
          delay: late, wait: wait))
    case .callout(_, _, _, let nanoseconds):
      // The same duration as in `loop:metrics`.
      if let call = calls.last { endCall(stamp(call.clock + nanoseconds)) }
    }
    if line.bytes.count > Self.bufferLimit { flush() }
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
      if clock - lastFlush > Self.delayLimit { flush() }
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
    if caller.kind == .timer {
      log.endTimer(
        TimerID(rawValue: call.subject), date: call.clock - call.delay, begin: call.clock,
        end: clock)
    }
    slice(caller.name, caller.kind.rawValue, call.begin, now) { line in
      line.raw(#""kind":"#)
      line.text(caller.kind.rawValue)
      line.raw(#","mode":"#)
      line.text(call.mode)
      if !caller.place.isEmpty {
        line.raw(#","at":"#)
        line.text(caller.place)
      }
      if caller.kind == .timer { tell(call.wait, &line) }
    }
    // An observer of the sleep has returned: only now does it begin.
    if caller.kind == .observer, let last = frames.indices.last, frames[last].sleep != nil {
      frames[last].sleep = (now, clock)
    }
  }

  /// What a timer waited for, in the arguments of its slice.
  private func tell(_ wait: TimerWait<Caller>, _ line: inout JSONLine) {
    line.raw(#","late_us":"#)
    line.microseconds(wait.late)
    line.raw(#","missed":\#(wait.missed)"#)
    if let (caller, took, missed) = wait.culprit {
      line.raw(#","late_by":{"kind":"#)
      line.text(caller.kind.rawValue)
      line.raw(#","name":"#)
      line.text(caller.name)
      line.raw(#","at":"#)
      line.text(caller.place)
      line.raw(#","took_us":"#)
      line.microseconds(took)
      line.raw(#","missed":\#(missed)}"#)
    }
    guard let held = wait.held else { return }
    line.raw(#","held_us":"#)
    line.microseconds(held.total)
    line.raw(#","held_missed":\#(held.missed),"held_by":"#)
    line.text(runtime.explanation.words(of: held) { $0.label })
  }

  /// The first call-out after a sleep is why it ended; if there was none, somebody woke the loop.
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
    line.raw(#","pid":\#(process),"tid":\#(process),"ts":"#)
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
    line.raw(#"{"ph":"M","name":"\#(what)","pid":\#(process),"tid":\#(process),"args":{"name":"#)
    line.text(name)
    line.raw("}},\n")
  }

  /// Writes the buffer. A failure is reported once and ends the trace, not the program.
  private func flush() {
    lastFlush = clock
    defer { line.bytes.removeAll(keepingCapacity: true) }
    let failure: Int32? = line.bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = write(fd, bytes.baseAddress! + rest.startIndex, rest.count)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return errno }
        rest = rest.dropFirst(count)
      }
      return nil
    }
    guard let failure else {
      written += line.bytes.count
      return
    }
    if isOver { return }
    isOver = true
    ftruncate(fd, written)  // Chrome's viewer rejects truncated lines.
    writeToStandardError(
      "moonloop: --trace-out: cannot write '\(path)': \(String(cString: strerror(failure)));"
        + " the trace ends here")
  }
}

/// Builds JSON in one buffer, without a string for each number.
struct JSONLine {
  private(set) var storage: [UInt8] = []
  var bytes: [UInt8] {
    get { storage }
    _modify { yield &storage }
  }

  mutating func raw(_ text: String) { storage.append(contentsOf: text.utf8) }

  /// A string in quotes.
  mutating func text(_ text: String) {
    storage.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        storage.append(UInt8(ascii: "\\"))
        storage.append(byte)
      } else if byte < 0x20 {
        storage.append(contentsOf: #"\u00"#.utf8)
        storage.append(Self.digit(byte >> 4))
        storage.append(Self.digit(byte & 15))
      } else {
        storage.append(byte)
      }
    }
    storage.append(UInt8(ascii: "\""))
  }

  /// Nanoseconds as microseconds, exactly.
  mutating func microseconds(_ nanoseconds: Int64) {
    raw("\(nanoseconds / 1000).")
    let rest = abs(nanoseconds % 1000)
    for unit: Int64 in [100, 10, 1] { storage.append(UInt8(ascii: "0") + UInt8(rest / unit % 10)) }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
