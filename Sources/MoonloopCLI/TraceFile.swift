// `--trace-out`: what the loop does, in the event format of Chrome's tracing, which Perfetto opens.

internal import Glibc
internal import Moonloop

/// Writes events to a file as they end. Loop thread only.
///
/// The form is an array with an event a line: viewers read it without its end too, if the program
/// was killed. Runs are pairs of begin and end, so that those are seen then as well.
final class TraceFile {
  private let loop: Loop
  private let runtime: Runtime
  private let path: String
  private let fd: Int32
  private var line = JSONLine()
  private let process: Int
  /// In a replay no time is known before the script has asked for it.
  private lazy var begin = Tape.aside { loop.now }
  private var lastFlush: Int64 = 0

  private var frames: [Frame] = []
  private var calls: [Call] = []
  /// When a sleep ended whose cause is not known yet.
  private var wake: (time: Int64, mode: String)?
  private var tasks: [ObjectIdentifier: (number: Int, name: String)] = [:]
  private var lastTask = 0
  private var isOver = false

  /// A run: when its present pass and its present sleep began.
  private struct Frame {
    let mode: String
    var pass: Int64?
    var sleep: Int64?
  }

  private struct Call {
    let begin: Int64
    let kind: CalloutKind
    let place: String
    let late: Int64
    let missed: Int64
  }

  /// How many bytes wait for a write at most, and how long they do, in nanoseconds.
  private static let bufferLimit = 1 << 16
  private static let delayLimit: Int64 = 1_000_000_000

  /// - Throws: `ScriptFailure` if the file cannot be made.
  init(_ path: String, _ loop: Loop, _ runtime: Runtime) throws(ScriptFailure) {
    self.path = path
    self.loop = loop
    self.runtime = runtime
    process = Int(getpid())
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    if fd < 0 {
      throw ScriptFailure(
        message: "--trace-out: cannot write '\(path)': \(String(cString: strerror(errno)))",
        status: ExitStatus.usage)
    }
    line.raw("[\n")
    name("process_name", "moonloop")
    name("thread_name", loop.name)
  }

  /// Takes part in all that the loop and its tasks tell, beside who does already.
  func attach() {
    loop.add(
      watcher: TraceWatcher(wantsNames: true, looksOn: true) { [unowned self] in take($0) })
    runtime.taskTracer = { [unowned self] task, begins in take(task, begins) }
  }

  /// Writes the rest. Idempotent.
  func finish() {
    if isOver { return }
    for (number, name) in tasks.values.sorted(by: { $0.number < $1.number }) {
      task(number, name, "e", "", now)
    }
    while let frame = frames.popLast() {
      endPass(frame, now)
      phase("E", "run \(frame.mode)", now)
    }
    // Behind the last comma: metadata that the format knows, and that changes nothing.
    line.raw(
      #"{"ph":"M","name":"process_sort_index","pid":\#(process),"tid":\#(process),"#
        + #""args":{"sort_index":0}}"#)
    line.raw("\n]\n")
    flush()
    isOver = true
    close(fd)
  }

  // MARK: Events of the loop

  private var now: Int64 { begin.duration(to: Tape.aside { loop.now }).loopNanoseconds }

  private func take(_ event: TraceEvent) {
    if isOver { return }
    let now = now
    switch event {
    case .run(true, let mode, let depth): beginRun(mode.rawValue, depth, now)
    case .run(false, _, _): endRun(now)
    case .activity(let activity, let mode): take(activity, mode.rawValue, now)
    case .calloutBegins(let kind, let name, _, let late, let missed, let subject, _):
      if kind != .observer { tellWake("\(kind.rawValue) \(name)") }
      let place = runtime.place(ofTraced: kind, subject)
      calls.append(Call(begin: now, kind: kind, place: place, late: late, missed: missed))
    case .callout(let kind, let name, let mode, _):
      endCall(name.isEmpty ? kind.rawValue : name, mode.rawValue, now)
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
  }

  private func endRun(_ now: Int64) {
    tellWake("wake_up")
    guard let frame = frames.popLast() else { return }
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
      frames[last].sleep = now
      if now - lastFlush > Self.delayLimit { flush() }
    case .afterWaiting:
      guard let begin = frames[last].sleep else { return }
      frames[last].sleep = nil
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

  private func endCall(_ name: String, _ mode: String, _ now: Int64) {
    guard let call = calls.popLast() else { return }
    slice(name, call.kind.rawValue, call.begin, now) { line in
      line.raw(#""kind":"#)
      line.text(call.kind.rawValue)
      line.raw(#","mode":"#)
      line.text(mode)
      if !call.place.isEmpty {
        line.raw(#","at":"#)
        line.text(call.place)
      }
      if call.kind == .timer {
        line.raw(#","late_us":"#)
        line.microseconds(call.late)
        line.raw(#","missed":\#(call.missed)"#)
      }
    }
    // An observer of the sleep has returned: only now does it begin.
    if call.kind == .observer, let last = frames.indices.last, frames[last].sleep != nil {
      frames[last].sleep = now
    }
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
    if begins {
      lastTask += 1
      let name = runtime.label(of: .task(task))
      tasks[ObjectIdentifier(task)] = (lastTask, name)
      self.task(lastTask, name, "b", runtime.place(of: task), now)
    } else if let (number, name) = tasks.removeValue(forKey: ObjectIdentifier(task)) {
      self.task(number, name, "e", "", now)
    }
  }

  private func task(_ number: Int, _ name: String, _ phase: String, _ at: String, _ time: Int64) {
    head(phase, name, "task", time)
    line.raw(#","id":\#(number)"#)
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

  /// Writes what waits. What fails is told once, and ends the trace, not the program.
  private func flush() {
    lastFlush = now
    defer { line.bytes.removeAll(keepingCapacity: true) }
    let failed = line.bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = write(fd, bytes.baseAddress! + rest.startIndex, rest.count)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return true }
        rest = rest.dropFirst(count)
      }
      return false
    }
    if failed && !isOver {
      isOver = true
      writeToStandardError(
        "moonloop: --trace-out: cannot write '\(path)': \(String(cString: strerror(errno)));"
          + " the trace ends here")
    }
  }
}

/// JSON that is put together in one place, without making strings of numbers.
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
