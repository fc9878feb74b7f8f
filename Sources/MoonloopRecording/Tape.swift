// Recordings of all that enters a loop's thread from outside, and their replay: an intake that is
// written into a file, and one that is read from it. See docs/recording.md.

internal import CRecording
package import LuaEmbed
package import MoonloopCore

/// What happens to a recording of the calling thread.
package enum Tape {
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
    // 6 is the intake's own.
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
  package static let version = Int(cmr_format_version)

  package struct Look: Sendable {
    package let flaw: Flaw?
    /// How many events are whole.
    package let event: UInt64
    /// Where the flaw is.
    package let byte: UInt64
  }

  /// How many events there were so far.
  package static var events: UInt64 { cmr_events() }

  /// Begins to record the calls of this thread into a descriptor, which is the tape's from now on.
  package static func record(into fd: Int32) throws(SystemError) {
    let result = cmr_record(fd)
    if result < 0 { throw SystemError(call: SystemCall.write.name, code: -result) }
  }

  /// Begins to keep in memory what a recording would have, in case the script asks for one.
  package static func hold() { _ = cmr_hold() }

  /// Whether what was recorded so far is only in memory.
  package static var isHeld: Bool { cmr_is_held() }

  /// Writes what was kept into a descriptor, and goes on.
  package static func commit(into fd: Int32) throws(SystemError) {
    let result = cmr_commit(fd)
    if result < 0 { throw SystemError(call: SystemCall.write.name, code: -result) }
  }

  /// The script ends its recording. In a replay this does not return.
  package static func endHere() throws(SystemError) {
    let result = cmr_end_here()
    if result < 0 { throw SystemError(call: SystemCall.write.name, code: -result) }
  }

  /// Looks through a whole recording.
  package static func look(at bytes: UnsafeRawBufferPointer) -> Look {
    let found = cmr_check(bytes.baseAddress, bytes.count)
    let flaw: Flaw? =
      switch found.flaw {
      case cmr_foreign: .foreign
      case cmr_version: .version(found.byte)
      case cmr_damaged: .damaged
      case cmr_truncated: .truncated
      case cmr_endless: .endless
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
    cmr_on_divergence(whenDiverged)
    cmr_play(bytes.baseAddress, bytes.count, isEndless)
  }

  /// The script is over: the rest is written; or what is left and was not asked for is told.
  package static func finish() throws(SystemError) {
    let result = cmr_finish()
    if result < 0 { throw SystemError(call: SystemCall.write.name, code: -result) }
  }

  /// Records bytes.
  package static func put(_ key: Key, _ bytes: UnsafeRawBufferPointer) {
    Intake.put(key.rawValue, bytes)
  }

  /// The bytes that were recorded here; good for as long as the recording is.
  package static func take(_ key: Key) -> UnsafeRawBufferPointer { Intake.take(key.rawValue) }

  /// Has the standard libraries of a state take part.
  package static func join(_ state: LuaState) { state.setUp(cmr_install_libraries) }
}
