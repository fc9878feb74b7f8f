// A call about files on its way through the threads that may block.

internal import CLinuxShims
internal import Glibc
internal import MoonloopCore

/// One call, given to the pool once, and answered once.
package final class FileRequest: Sendable {
  private enum State {
    case waiting
    case answered(FileCall.Answer)
    case over
  }

  /// Four threads for all loops of the process, as in libuv: more would only wait for the disk.
  private static let pool = ThreadPool(limit: 4, stackSize: 1 << 18)

  private let call: FileCall
  private let state = Guarded(State.waiting)

  package init(_ call: FileCall) { self.call = call }

  /// Has the call done.
  /// - Parameter whenDone: Called once, on another thread; on this one if no thread could be
  ///   started. The call is not made if the wait is over when its turn comes.
  package func submit(whenDone: @escaping @Sendable (FileCall.Answer?) -> Void) {
    Self.pool.run { [self] refused in
      let isWanted = state.withLock { state in
        if case .waiting = state { true } else { false }
      }
      guard isWanted else { return whenDone(nil) }
      var call = call
      call.request = self
      let answer = refused.map { .failure($0) } ?? call.run()
      let isLate = state.withLock { state in
        if case .over = state { return true }
        state = .answered(answer)
        return false
      }
      if isLate { call.discard(answer) }
      whenDone(answer)
    }
  }

  /// The answer, for the first caller once it is there. Any thread.
  package func take() -> FileCall.Answer? {
    state.withLock { state in
      guard case .answered(let answer) = state else { return nil }
      state = .over
      return answer
    }
  }

  /// Whether the answer is not wanted any more. Any thread.
  var isOver: Bool {
    state.withLock { state in
      if case .over = state { true } else { false }
    }
  }

  /// The wait is over. Any thread.
  package func abandon() {
    let answer = state.withLock { state -> FileCall.Answer? in
      defer { state = .over }
      if case .answered(let answer) = state { return answer }
      return nil
    }
    if let answer { discard(answer) }
  }

  /// Closes what an answer has opened if it was not taken.
  package func discard(_ answer: FileCall.Answer) { call.discard(answer) }

  // MARK: Through a pipe

  /// Sends an answer into a pipe and closes its end: so it enters a loop that is recorded.
  package static func send(_ answer: FileCall.Answer?, to end: Int32) {
    var bytes: [UInt8] = []
    switch answer {
    case .success(let value): value.encode(into: &bytes)
    case .failure(let error): FileValue.list([.number(Int(error.code))]).encode(into: &bytes)
    case nil: break
    }
    if case .success = answer { bytes.insert(1, at: 0) } else { bytes.insert(0, at: 0) }
    bytes.withUnsafeBytes { cmx_write_all(end, $0.baseAddress, $0.count) }
    cmx_close(end)
  }

  /// The answer that was sent.
  package func decode(_ bytes: [UInt8]) -> FileCall.Answer {
    var rest = bytes[...]
    let isSuccess = rest.popFirst() == 1
    switch (isSuccess, FileValue.decode(&rest)) {
    case (true, let value?): return .success(value)
    case (false, .list(let code)?):
      if case .number(let code)? = code.first { return .failure(call.failure(Int32(code))) }
    default: break
    }
    return .failure(call.failure(EIO))
  }
}
