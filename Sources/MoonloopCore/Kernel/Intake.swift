// The intake: what enters a loop's thread from outside goes through it, if there is one. It keeps
// what the system and other threads answer, or gives the answers of another run. The calls of
// `CLinuxShims` ask it by themselves; what other threads have done is asked here.

internal import CLinuxShims

/// What enters the calling thread from outside.
package enum Intake {
  /// Nothing is recorded or replayed.
  package static var isPlain: Bool { cmx_intake_kind() == cmx_intake_none }

  /// What enters is kept, to be replayed some time.
  package static var isKept: Bool { cmx_intake_kind() == cmx_intake_keeps }

  /// What enters now is what entered then: the system is not asked.
  package static var isReplayed: Bool { cmx_intake_kind() == cmx_intake_replays }

  /// Reads the clocks beside the intake: for measurements, which are not recorded. In a
  /// replay the time is that of the last reading.
  package static func aside<Result>(_ body: () -> Result) -> Result {
    if isPlain { return body() }
    cmx_intake_set_aside(true)
    defer { cmx_intake_set_aside(false) }
    return body()
  }

  /// Records bytes, under a key that says what they are.
  package static func put(_ key: UInt32, _ bytes: UnsafeRawBufferPointer) {
    cmx_intake_put(key, bytes.baseAddress, bytes.count)
  }

  /// The bytes that were kept here; they stay where they are for the rest of the replay.
  package static func take(_ key: UInt32) -> UnsafeRawBufferPointer {
    var bytes: UnsafeRawPointer?
    let count = cmx_intake_take(key, &bytes)
    return UnsafeRawBufferPointer(start: bytes, count: count)
  }

  // MARK: Other threads

  /// Does something that is not recorded: the thread has no intake meanwhile.
  package static func outside<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let left = cmx_intake_leave()
    defer { cmx_intake_return(left) }
    return try body()
  }

  /// Asks about other threads, which is nearly always answered with no: then
  /// nothing is recorded. A replay does not ask, and has the recorded answers.
  package static func seldom(_ answer: @autoclosure () -> Bool) -> Bool {
    switch cmx_intake_kind() {
    case cmx_intake_none: answer()
    case cmx_intake_keeps: cmx_intake_look(answer())
    default: cmx_intake_look(false)
    }
  }

  /// Asks for a number that depends on other threads. A replay does not ask.
  package static func number(_ answer: () -> Int64) -> Int64 {
    switch cmx_intake_kind() {
    case cmx_intake_none: answer()
    case cmx_intake_keeps: cmx_intake_number(outside(answer))
    default: cmx_intake_number(0)
    }
  }

  /// The same for a yes or no.
  package static func flag(_ answer: () -> Bool) -> Bool { number { answer() ? 1 : 0 } != 0 }

  /// Does something that is not recorded, and may fail. A replay does not do it, but
  /// fails where that did.
  package static func attempt(_ body: () throws(SystemError) -> Void) throws(SystemError) {
    var failure: SystemError?
    let told = bytes {
      do throws(SystemError) { try body() } catch { failure = error }
      guard let failure else { return [] }
      var writer = PackedWriter()
      writer.put(failure.call)
      writer.put(Int(failure.code))
      return writer.bytes
    }
    if let failure { throw failure }
    if told.isEmpty { return }
    throw told.withUnsafeBytes { bytes in
      var reader = PackedReader(bytes)
      return SystemError(call: reader.text(), code: Int32(clamping: reader.number()))
    }
  }

  /// The same for a text.
  package static func text(_ answer: () -> String) -> String {
    String(decoding: bytes { Array(answer().utf8) }, as: UTF8.self)
  }

  /// The same for bytes.
  package static func bytes(_ answer: () -> [UInt8]) -> [UInt8] {
    if isReplayed { return Array(take(outsideKey)) }
    let result = outside(answer)
    result.withUnsafeBytes { put(outsideKey, $0) }
    return result
  }

  /// What the part of the host that is outside did, or said.
  private static let outsideKey: UInt32 = 6
}
