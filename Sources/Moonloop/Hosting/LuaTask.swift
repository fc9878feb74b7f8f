// A host's call that was started without being awaited.

public import LuaEmbed
internal import MoonloopCore

/// A Lua task that a host has started: it goes on whether it is awaited or not.
///
/// Any thread may await and cancel it. Dropping it has no effect; it ends with its host.
/// Counterpart: `Task` of Swift.
public struct LuaTask<Value: Sendable>: Sendable {
  fileprivate let call: HostedCall
  fileprivate let outcome = Outcome<Value>()

  /// The function's result. Every caller that awaits it gets it.
  ///
  /// Cancelling the Swift task that awaits does not cancel this one.
  /// - Throws: `LuaError`: what the function raised; `.interrupted` with a `CancellationError` as
  ///   `underlying` if it was cancelled; `.closed` if its host was shut down.
  public var value: Value {
    get async throws(LuaError) {
      try await withCheckedContinuation { waiting in
        outcome.whenKnown { waiting.resume(returning: $0) }
      }.get()
    }
  }

  /// Cancels the Lua task, which can still clean up.
  public func cancel() { call.cancel() }
}

extension LuaHost {
  /// Starts a global function as a task, and does not wait for it.
  /// - Parameters:
  ///   - name: The function's name; dots lead into tables: "app.handlers.get".
  ///   - arguments: Converted by their Swift types.
  public func start<each A: LuaPushable & Sendable, R: LuaReadable & Sendable>(
    _ name: String, _ arguments: repeat each A
  ) -> LuaTask<R> {
    let task = LuaTask<R>(call: HostedCall(name, loop))
    begin(
      task.call, { (stack) throws(LuaError) in try stack.pushFunction(named: name) },
      { stack in stack.push(all: repeat each arguments) },
      { (stack, index) throws(LuaError) in try stack.result(index, of: name) },
      end: { [outcome = task.outcome] in outcome.set($0) })
    return task
  }
}

/// The outcome of a call, and what waits for it. Any thread.
private final class Outcome<Value: Sendable>: Sendable {
  private struct State {
    var result: Result<Value, LuaError>?
    var waiting: [@Sendable (Result<Value, LuaError>) -> Void] = []
  }
  private let state = Guarded(State())

  func set(_ result: Result<Value, LuaError>) {
    let waiting = state.withLock { state in
      state.result = result
      defer { state.waiting = [] }
      return state.waiting
    }
    for tell in waiting { tell(result) }
  }

  func whenKnown(_ tell: @escaping @Sendable (Result<Value, LuaError>) -> Void) {
    let known = state.withLock { state in
      if state.result == nil { state.waiting.append(tell) }
      return state.result
    }
    if let known { tell(known) }
  }
}
