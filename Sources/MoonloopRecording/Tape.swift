// Recordings of all that enters a loop's thread from outside, and their replay. The calls of
// `CLinuxShims` ask the tape first, so nothing above them knows of it; see docs/recording.md.

internal import CLinuxShims

/// What happens to a recording of the calling thread.
package enum Tape {
  package enum State: Sendable { case idle, records, plays }

  /// What is kept beside the answers of the system.
  package enum Key: UInt32, Sendable {
    /// How the program was started, and the text of the script.
    case settings = 1
    /// What a function of a Lua library answered.
    case library
    /// The seeds of the hashes and of `math.random`.
    case seed
    /// What `loop:record` came to.
    case began
    /// What other threads had told the loop.
    case crossings
    /// What the part of the host that is outside of the recording did, or said.
    case outside
  }

  /// What is wrong with a recording.
  package enum Flaw: Sendable, Equatable {
    case foreign
    case version(UInt64)
    case damaged, truncated
    /// Whole, but without its end: the program was killed, or still runs.
    case endless
  }

  /// The version of the format, which a recording must have.
  package static let version = Int(cmx_tape_format_version)

  package struct Look: Sendable {
    package let flaw: Flaw?
    /// How many events are whole.
    package let event: UInt64
    /// Where the flaw is.
    package let byte: UInt64
  }

  package static var state: State {
    switch cmx_tape_state() {
    case cmx_tape_records: .records
    case cmx_tape_plays: .plays
    default: .idle
    }
  }

  /// How many events there were so far.
  package static var events: UInt64 { cmx_tape_events() }

  /// Begins to record the calls of this thread into a descriptor, which is the tape's from now on.
  package static func record(into fd: Int32) throws(SystemError) {
    let result = cmx_tape_record(fd)
    if result < 0 { throw SystemError(call: SystemCall.write.name, code: -result) }
  }

  /// Begins to keep in memory what a recording would have, in case the script asks for one.
  package static func hold() { _ = cmx_tape_hold() }

  /// Whether what was recorded so far is only in memory.
  package static var isHeld: Bool { cmx_tape_is_held() }

  /// Writes what was kept into a descriptor, and goes on.
  package static func commit(into fd: Int32) throws(SystemError) {
    let result = cmx_tape_commit(fd)
    if result < 0 { throw SystemError(call: SystemCall.write.name, code: -result) }
  }

  /// The script ends its recording. In a replay this does not return.
  package static func endHere() throws(SystemError) {
    let result = cmx_tape_end_here()
    if result < 0 { throw SystemError(call: SystemCall.write.name, code: -result) }
  }

  /// Looks through a whole recording.
  package static func look(at bytes: UnsafeRawBufferPointer) -> Look {
    let found = cmx_tape_check(bytes.baseAddress, bytes.count)
    let flaw: Flaw? =
      switch found.flaw {
      case cmx_tape_foreign: .foreign
      case cmx_tape_version: .version(found.byte)
      case cmx_tape_damaged: .damaged
      case cmx_tape_truncated: .truncated
      case cmx_tape_endless: .endless
      default: nil
      }
    return Look(flaw: flaw, event: found.event, byte: found.byte)
  }

  /// Begins to answer the calls of this thread from a recording that was looked through; the bytes
  /// must stay where they are.
  /// - Parameter whenDiverged: Told in words when the script asks for something else than was
  ///   recorded, or when it has ended its recording; must not return.
  package static func play(
    _ bytes: UnsafeRawBufferPointer, isEndless: Bool,
    whenDiverged: @escaping @convention(c) (UnsafePointer<CChar>?, _ isEnd: Bool) -> Void
  ) {
    cmx_tape_on_divergence(whenDiverged)
    cmx_tape_play(bytes.baseAddress, bytes.count, isEndless)
  }

  /// The script is over: the rest is written; or what is left and was not asked for is told.
  package static func finish() throws(SystemError) {
    let result = cmx_tape_finish()
    if result < 0 { throw SystemError(call: SystemCall.write.name, code: -result) }
  }

  /// Reads the clocks beside the tape: for who looks on, and is not part of what is recorded. In a
  /// replay the time is that of the last reading.
  package static func aside<Result>(_ body: () -> Result) -> Result {
    if cmx_tape_state() == cmx_tape_idle { return body() }
    cmx_tape_set_aside(true)
    defer { cmx_tape_set_aside(false) }
    return body()
  }

  /// Records bytes.
  package static func put(_ key: Key, _ bytes: UnsafeRawBufferPointer) {
    cmx_tape_put(key.rawValue, bytes.baseAddress, bytes.count)
  }

  /// The bytes that were recorded here; good for as long as the recording is.
  package static func take(_ key: Key) -> UnsafeRawBufferPointer {
    var bytes: UnsafeRawPointer?
    let count = cmx_tape_take(key.rawValue, &bytes)
    return UnsafeRawBufferPointer(start: bytes, count: count)
  }

  // MARK: Other threads

  /// Does something that is no part of what is recorded: its calls are not on the tape.
  package static func outside<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let left = cmx_tape_leave()
    defer { cmx_tape_return(left) }
    return try body()
  }

  /// The two halves of that, for C.
  package static func leave() -> UnsafeMutableRawPointer? { cmx_tape_leave() }
  package static func resume(_ left: UnsafeMutableRawPointer?) { cmx_tape_return(left) }

  /// Asks what depends on other threads, and is nearly always answered with no: that costs a
  /// recording nothing. A replay does not ask, and has the answers of then.
  package static func seldom(_ answer: @autoclosure () -> Bool) -> Bool {
    switch state {
    case .idle: answer()
    case .records: cmx_tape_look(answer())
    case .plays: cmx_tape_look(false)
    }
  }

  /// Asks for a number that depends on other threads. A replay does not ask.
  package static func number(_ answer: () -> Int64) -> Int64 {
    switch state {
    case .idle: answer()
    case .records: cmx_tape_number(outside(answer))
    case .plays: cmx_tape_number(0)
    }
  }

  /// The same for a yes or no.
  package static func flag(_ answer: () -> Bool) -> Bool { number { answer() ? 1 : 0 } != 0 }

  /// Does something that is no part of what is recorded, and may fail. A replay does not do it, and
  /// fails where that did.
  package static func attempt(_ body: () throws(SystemError) -> Void) throws(SystemError) {
    var failure: SystemError?
    let told = bytes {
      do throws(SystemError) { try body() } catch { failure = error }
      guard let failure else { return [] }
      var writer = TapeWriter()
      writer.put(failure.call)
      writer.put(Int(failure.code))
      return writer.bytes
    }
    if let failure { throw failure }
    if told.isEmpty { return }
    throw told.withUnsafeBytes { bytes in
      var reader = TapeReader(bytes)
      return SystemError(call: reader.text(), code: Int32(clamping: reader.number()))
    }
  }

  /// The same for a text.
  package static func text(_ answer: () -> String) -> String {
    String(decoding: bytes { Array(answer().utf8) }, as: UTF8.self)
  }

  /// The same for bytes.
  package static func bytes(_ answer: () -> [UInt8]) -> [UInt8] {
    if state == .plays { return Array(take(.outside)) }
    let result = outside(answer)
    if state == .records { result.withUnsafeBytes { put(.outside, $0) } }
    return result
  }
}
