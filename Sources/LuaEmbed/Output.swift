// Scripts' output, redirected from the program's standard streams.

internal import CLuaShims

/// The standard output and error of a state, while they are redirected. Held by the state.
final class LuaOutput {
  fileprivate let take: (Int32, UnsafeRawBufferPointer) -> Void
  fileprivate(set) var isCleaned = false
  private var record: OpaquePointer?

  init?(_ state: LuaState, _ take: @escaping (Int32, UnsafeRawBufferPointer) -> Void) {
    self.take = take
    let context = Unmanaged.passUnretained(self).toOpaque()
    record = cml_divert_output(
      state.record,
      { context, stream, bytes, count in
        guard let context else { return }
        Unmanaged<LuaOutput>.fromOpaque(context).takeUnretainedValue()
          .take(stream, UnsafeRawBufferPointer(start: bytes, count: count))
      }, context)
    if record == nil { return nil }
  }

  deinit { if let record { cml_output_free(record) } }
}

extension LuaState {
  /// Why `print` could first not write to the standard output since the last call, as an `errno`;
  /// 0 if it could. Any thread.
  package static func takePrintFailure() -> Int32 { cml_take_print_failure() }

  /// Makes what scripts print, or write to `io.stdout` (1) and `io.stderr` (2), go to a closure
  /// instead: whole lines, and the rest when the state ends.
  /// - Returns: false if there is no memory.
  /// - Parameter isCleaned: It is written where it would have been, but for what it may contain.
  package func divertOutput(
    isCleaned: Bool = false,
    _ take: @escaping (_ stream: Int32, _ bytes: UnsafeRawBufferPointer) -> Void
  ) -> Bool {
    output = LuaOutput(self, take)
    output?.isCleaned = isCleaned
    return output != nil
  }

  /// Whether its output goes elsewhere than the program's.
  package var hasDivertedOutput: Bool { output.map { !$0.isCleaned } ?? false }

  /// Passes on what others have written for this state.
  /// - Returns: false if its output goes where the program's does.
  package func divert(_ stream: Int32, _ bytes: [UInt8]) -> Bool {
    guard let output else { return false }
    bytes.withUnsafeBytes { output.take(stream, $0) }
    return true
  }
}
