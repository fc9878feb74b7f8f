// Closures of async code, performed on the loop's thread, with their values.

internal import Synchronization

extension Loop {
  /// Performs a body on the loop's thread, and returns what it returns or throws.
  ///
  /// It is a block of the modes (R103): performed once, by the next pass in one of them, even if
  /// the caller is on that thread. If the calling task is cancelled before, it is never performed.
  /// - Parameters:
  ///   - modes: The modes in any of which it is performed.
  ///   - body: What is performed.
  /// - Throws: What the body throws; `LoopError.loopEnded` if the loop ends before it is performed;
  ///   `CancellationError`.
  /// - Note: Any thread. A loop that is not running lets the caller wait.
  public func submit<Value: Sendable>(
    modes: [ModeName] = [.common], _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let submission = Submission<Value>(to: self)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard submission.begin(continuation) else { return }
        perform(modes: modes) { [ticket = Ticket(submission)] in ticket.submission.perform(body) }
      }
    } onCancel: {
      submission.end(.failure(CancellationError()))
    }
  }

  /// Performs async code on the loop's thread, and returns what it returns or throws.
  ///
  /// Each of its parts that is on no actor is a job of the loop's common modes, as if by `enqueue`.
  /// - Throws: What the body throws; `LoopError.loopEnded` if the loop has ended before.
  /// - Note: Any thread. What is left when the loop ends is performed as `enqueue` says.
  public func submit<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    if hasEnded { throw LoopError.loopEnded(name) }
    return try await withTaskExecutorPreference(TaskPreference(loop: self), operation: body)
  }
}

/// The loop as the executor of a task's own parts.
private final class TaskPreference: TaskExecutor {
  private let loop: Loop

  init(loop: Loop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    loop.enqueue(UnownedJob(job)) { [self] in $0.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

/// The caller that waits for a body, resumed exactly once.
private final class Submission<Value: Sendable>: Sendable {
  private enum State {
    case new, over, isPerformed
    case waits(CheckedContinuation<Value, any Error>)
  }
  private let state = Mutex<State>(.new)
  private let loop: Loop

  init(to loop: Loop) { self.loop = loop }

  /// - Returns: false if the task was cancelled before.
  func begin(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
    let isOver = state.withLock { state in
      if case .over = state { return true }
      state = .waits(continuation)
      return false
    }
    if isOver { continuation.resume(throwing: CancellationError()) }
    return !isOver
  }

  func perform(_ body: () throws -> Value) {
    guard let continuation = take(.isPerformed) else { return }
    continuation.resume(with: Result { try body() })
  }

  /// Has no effect once the body has begun.
  func end(_ result: Result<Value, any Error>) { take(.over)?.resume(with: result) }

  /// The block was dropped.
  func wasDropped() { end(.failure(LoopError.loopEnded(loop.name))) }

  private func take(_ next: State) -> CheckedContinuation<Value, any Error>? {
    state.withLock { state in
      switch state {
      case .waits(let continuation):
        state = next
        return continuation
      case .new:
        state = next
        return nil
      case .over, .isPerformed: return nil
      }
    }
  }
}

/// Held only by the block: reports when the loop drops it.
private final class Ticket<Value: Sendable>: Sendable {
  let submission: Submission<Value>

  init(_ submission: Submission<Value>) { self.submission = submission }
  deinit { submission.wasDropped() }
}
