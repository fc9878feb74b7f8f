// Recordings of everything that enters a loop's thread from outside, and their replay: one intake
// writes a file, another reads it. See docs/recording.md.

internal import CRecording
package import LuaEmbed
package import MoonloopCore

/// The recording or replay of the calling thread.
package enum Tape {
  /// What is recorded besides the system's answers.
  package enum Key: UInt32, Sendable {
    /// How the program was started, and the text of the script.
    case settings = 1
    /// Results of Lua library functions.
    case library
    /// Seeds of the hashes and of `math.random`.
    case seed
    /// The result of `loop:record`.
    case began
    /// What other threads sent to the loop.
    case crossings
    // 6 is reserved for the intake.
  }

  /// What is wrong with a recording.
  package enum Flaw: Sendable, Equatable {
    case foreign
    case version(UInt64)
    case damaged, truncated
    /// Complete parts, but no end: the program was killed, or is still running.
    case endless
  }

  /// The version of the format that a recording must have.
  package static let version = Int(cmr_format_version)

  package struct Look: Sendable {
    package let flaw: Flaw?
    /// The number of complete events.
    package let event: UInt64
    /// The position of the flaw.
    package let byte: UInt64
  }

  /// Starts to keep in memory what this thread's recording has.
  package static func hold() { _ = cmr_hold() }

  /// Whether the recording so far is only in memory.
  package static var isHeld: Bool { cmr_is_held() }

  /// Drops what was kept: the script does what cannot be recorded.
  package static func letGo() { cmr_let_go() }

  /// Writes what was kept to a file, and continues there.
  /// - Throws: What was there stays as it is, and what was kept is still kept.
  package static func commit(to path: String) throws(SystemError) {
    let result = cmr_commit_to(path)
    if result < 0 { throw SystemError(call: SystemCall.write.name, code: -result) }
  }

  /// Ends the recording for the script. In a replay this does not return.
  package static func endHere() throws(SystemError) {
    let result = cmr_end_here()
    if result < 0 { throw SystemError(call: SystemCall.write.name, code: -result) }
  }

  /// Checks a whole recording.
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

  /// Starts to answer this thread's calls from a checked recording, whose bytes must stay in place.
  /// - Parameter whenDiverged: Called with a text when the script asks for something else than was
  ///   recorded, or when it has ended its recording; must not return.
  package static func play(
    _ bytes: UnsafeRawBufferPointer, isEndless: Bool,
    whenDiverged: @escaping @convention(c) (UnsafePointer<CChar>?, _ isEnd: Bool) -> Void
  ) {
    cmr_on_divergence(whenDiverged)
    cmr_play(bytes.baseAddress, bytes.count, isEndless)
  }

  /// After the script: writes the rest; or, in a replay, reports anything left that was not asked
  /// for.
  package static func finish() throws(SystemError) {
    let result = cmr_finish()
    if result < 0 { throw SystemError(call: SystemCall.write.name, code: -result) }
  }

  /// Records bytes.
  package static func put(_ key: Key, _ bytes: UnsafeRawBufferPointer) {
    Intake.put(key.rawValue, bytes)
  }

  /// The bytes recorded here; valid as long as the recording is.
  package static func take(_ key: Key) -> UnsafeRawBufferPointer { Intake.take(key.rawValue) }

  /// Records, or replays, the standard libraries of a state too.
  package static func join(_ state: LuaState) { state.setUp(cmr_install_libraries) }
}
