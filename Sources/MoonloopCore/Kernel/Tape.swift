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
  }

  /// What is wrong with a recording.
  package enum Flaw: Sendable, Equatable {
    case foreign
    case version(UInt64)
    case damaged, truncated
    /// Whole, but without its end: the program was killed, or still runs.
    case endless
  }

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

  /// Whether what cannot be recorded has to be refused; what is kept in memory only, for nobody has
  /// asked for it yet, is forgotten instead.
  package static func refuses() -> Bool {
    if isHeld { cmx_tape_drop() }
    return state != .idle
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
}
