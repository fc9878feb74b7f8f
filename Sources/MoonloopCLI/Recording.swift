// `run --record`: a recording begins with the script and how it was started, so that `replay` needs
// no other file. See docs/recording.md.

internal import Glibc
internal import Moonloop
internal import MoonloopRecording
internal import MoonloopSystem

/// The beginning of a recording.
struct RecordedStart {
  var arguments: [UnsafeRawBufferPointer] = []
  var environment: [UnsafeRawBufferPointer] = []
  var scriptName = ""
  var script = UnsafeRawBufferPointer(start: nil, count: 0)

  /// Counts of arguments and variables, then each text after its length.
  static func encode(script: ScriptText) -> [UInt8] {
    var bytes: [UInt8] = []
    func number(_ value: Int) {
      withUnsafeBytes(of: UInt32(value).littleEndian) { bytes.append(contentsOf: $0) }
    }
    func text(_ text: UnsafeRawBufferPointer) {
      number(text.count)
      bytes.append(contentsOf: text)
    }
    number(ProgramArguments.count)
    for index in 0..<ProgramArguments.count {
      let argument = ProgramArguments[index]
      text(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
    }
    let environment = Child.environment
    number(environment.count)
    for line in environment { line.withUnsafeBytes(text) }
    Array(script.name.utf8).withUnsafeBytes(text)
    text(script.bytes)
    return bytes
  }

  /// The checksums were right, so this is nil only for a forged recording.
  init?(_ bytes: UnsafeRawBufferPointer) {
    var at = 0
    func number() -> Int? {
      guard bytes.count - at >= 4 else { return nil }
      defer { at += 4 }
      return Int(bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self).littleEndian)
    }
    func text() -> UnsafeRawBufferPointer? {
      guard let count = number(), bytes.count - at >= count else { return nil }
      defer { at += count }
      return UnsafeRawBufferPointer(rebasing: bytes[at..<at + count])
    }
    func texts() -> [UnsafeRawBufferPointer]? {
      guard let count = number() else { return nil }
      var found: [UnsafeRawBufferPointer] = []
      for _ in 0..<count {
        guard let one = text() else { return nil }
        found.append(one)
      }
      return found
    }
    guard let arguments = texts(), let environment = texts(), let name = text(),
      let script = text(), !arguments.isEmpty
    else { return nil }
    self.arguments = arguments
    self.environment = environment
    self.script = script
    scriptName = String(decoding: name, as: UTF8.self)
  }

  /// Replaces the environment with the recorded one.
  func setEnvironment() {
    clearenv()
    for line in environment {
      let text = UnsafeMutablePointer<CChar>.allocate(capacity: line.count + 1)
      for (index, byte) in line.enumerated() { text[index] = CChar(bitPattern: byte) }
      text[line.count] = 0
      putenv(text)  // which keeps the pointer
    }
  }
}

/// The recording that a run writes.
enum Recording {
  /// Starts to record this thread's input.
  static func begin(_ path: String, _ script: ScriptText) throws(ScriptFailure) {
    keep(script)
    do { try Tape.commit(to: path) } catch {
      Tape.letGo()
      let message = "--record: cannot write '\(path)': \(error.message)"
      throw ScriptFailure(message: message, status: ExitStatus.usage)
    }
  }

  /// Keeps the start of a recording in memory if the script calls a method `record`.
  static func hold(_ script: ScriptText) {
    if callsRecord(script.bytes) { keep(script) }
  }

  private static func keep(_ script: ScriptText) {
    Tape.hold()
    RecordedStart.encode(script: script).withUnsafeBytes { Tape.put(.settings, $0) }
  }

  /// Writes the rest; a replay checks that it has used the whole recording.
  /// - Parameter origin: What started it.
  /// - Returns: false if the recording could not be written.
  static func finish(_ origin: String) -> Bool {
    if Intake.isPlain { return true }
    do { try Tape.finish() } catch {
      writeToStandardError("moonloop: \(origin): the recording is incomplete: \(error.message)")
      return false
    }
    return true
  }

  /// The seed on which the order of `pairs` depends. Call it before making the state.
  static func seedNextState() {
    if Intake.isPlain { return }
    var seed = UInt32.random(in: .min ... .max)
    if Intake.isKept {
      withUnsafeBytes(of: seed) { Tape.put(.seed, $0) }
    } else {
      let found = Tape.take(.seed)
      if found.count == 4 { seed = found.loadUnaligned(as: UInt32.self) }
    }
    LuaState.reproduceNext(seed: seed)
  }

  /// Records, or replays, the standard libraries of a state too.
  static func join(_ state: LuaState) {
    if Intake.isPlain { return }
    Tape.join(state)
    do { try state.run("require 'moonloop.recording'", name: "=moonloop") } catch {
      writeToStandardError("moonloop: \(error.message)")
    }
  }
}
