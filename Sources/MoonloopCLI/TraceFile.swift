// The file that `--trace-out` writes.

internal import Glibc
internal import Moonloop

/// What the tracks of a trace write to. Main thread only.
///
/// The file is an array with one event per line, which viewers read even without its end, if the
/// program was killed. Where a clock may stand still, the file is an object, since only an object
/// can ask for nanoseconds: otherwise Chrome's viewer rounds to microseconds and nests events that
/// lie side by side.
final class TraceFile {
  var line = JSONLine()
  let process = Int(getpid())
  private let path: String
  /// -1 until the first track begins: a faulty command line leaves the file as it was.
  private var fd: Int32 = -1
  private let isObject: Bool
  private var lastFlush = TraceFile.now
  private var written = 0
  private var isOver = false
  /// Whether something could not be written.
  private(set) var hasFailed = false

  /// Limits of what is buffered: bytes, and age in nanoseconds.
  private static let bufferLimit = 1 << 16
  private static let delayLimit: Int64 = 1_000_000_000

  /// - Parameter standsStill: Whether a clock of the loops may stand still.
  /// - Throws: `ScriptFailure` if the file could not be made.
  init(_ path: String, standsStill: Bool) throws(ScriptFailure) {
    isObject = standsStill
    self.path = path
    if let obstacle = Self.obstacle(path) {
      throw ScriptFailure(
        message: "--trace-out: cannot write '\(path)': \(String(cString: strerror(obstacle)))",
        status: ExitStatus.usage)
    }
  }

  /// The error number with which making the file would fail; nil if it would not.
  private static func obstacle(_ path: String) -> Int32? {
    let existing = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    if existing >= 0 {
      close(existing)
      return nil
    }
    if errno == ENXIO { return nil }  // a pipe that is not read yet
    if errno != ENOENT { return errno }
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "."
    return access(String(folder), W_OK | X_OK) == 0 ? nil : errno
  }

  /// Makes the file, for the first track.
  func begin() {
    if fd >= 0 || isOver { return }
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    if fd < 0 { return giveUp(errno) }
    line.raw(isObject ? "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" : "[\n")
    line.raw(
      #"{"ph":"M","name":"process_name","pid":\#(process),"tid":\#(process),"#
        + #""args":{"name":"moonloop"}},\#n"#)
  }

  /// Writes the rest, once the tracks are finished. Idempotent.
  func finish() {
    if isOver || fd < 0 { return }
    // After the last comma: a metadata event of the format without effect.
    line.raw(
      #"{"ph":"M","name":"process_sort_index","pid":\#(process),"tid":\#(process),"#
        + #""args":{"sort_index":0}}"#)
    line.raw(isObject ? "\n]}\n" : "\n]\n")
    flush()
    isOver = true
    close(fd)
  }

  /// Not recorded, like everything that only observes.
  private static var now: Int64 { Intake.aside { RealTime.monotonic } }

  func flushIfLong() {
    if line.bytes.count > Self.bufferLimit { flush() }
  }

  func flushIfOld() {
    if Self.now - lastFlush > Self.delayLimit { flush() }
  }

  /// Writes the buffer. A failure is reported once and ends the trace, not the program.
  private func flush() {
    lastFlush = Self.now
    defer { line.bytes.removeAll(keepingCapacity: true) }
    if isOver { return }
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
    ftruncate(fd, written)  // Chrome's viewer rejects truncated lines.
    giveUp(failure)
  }

  private func giveUp(_ failure: Int32) {
    isOver = true
    hasFailed = true
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
