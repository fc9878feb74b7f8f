// One call of a host: a Lua task whose end Swift awaits.

internal import LuaEmbed
internal import MoonloopCore

/// A call that a host makes for a Swift task.
// Sendable: what changes is used only on the loop's thread.
final class HostedCall: @unchecked Sendable {
  private let name: String
  private let loop: Loop
  private weak var runtime: Runtime?
  private weak var task: ScriptTask?
  private var isCancelled = false

  init(_ name: String, _ loop: Loop) {
    self.name = name
    self.loop = loop
  }

  /// Makes the task. Loop thread only.
  /// - Parameters:
  ///   - function: Pushes the function, or reports why it cannot.
  ///   - push: Pushes the arguments, and returns their number.
  ///   - read: Reads the first result, at a stack index.
  ///   - end: Called once, with the outcome.
  func begin<R: Sendable>(
    _ runtime: Runtime, function pushFunction: (LuaStack) throws(LuaError) -> Void,
    push: (LuaStack) throws(LuaError) -> Int,
    read: @escaping (LuaStack, Int32) throws(LuaError) -> R,
    end: @escaping (Result<R, LuaError>) -> Void
  ) {
    loop.requireThread("LuaHost.call")
    if isCancelled || Task.isCancelled { return end(.failure(Self.cancelled)) }
    let stack = runtime.state.stack
    do throws(LuaError) {
      guard stack.reserve(16) else { throw LuaError(message: "no room to call '\(name)'") }
      try pushFunction(stack)
    } catch { return end(.failure(error)) }
    let function = stack.absolute(-1)
    do throws(LuaError) {
      _ = try runtime.state.keepingOpen { () throws(LuaError) in try push(stack) }
    } catch {
      stack.pop(1 + stack.count - Int(function))
      return end(.failure(error))
    }
    let task = ScriptTask(subject: .chunk, modes: [.default])
    task.name = name
    task.hasHandle = true  // so that its results are kept
    self.task = task
    self.runtime = runtime
    task.whenEnded = { [unowned runtime] task in  // it holds its tasks
      end(Self.result(of: task, runtime, read))
    }
    runtime.tasks.prepare(task, in: nil, on: stack, function: function, isScope: false)
    loop.wakeUp()
  }

  /// Any thread.
  func cancel() {
    loop.change { [self] _ in
      isCancelled = true
      guard let task, let runtime, !runtime.isClosing else { return }
      let reason = LuaReference(pushing: "cancelled", on: runtime.state.stack)
      runtime.tasks.cancel(task, Cancellation(reason: reason))
    }
    loop.wakeUp()
  }

  private static var cancelled: LuaError {
    LuaError(kind: .interrupted, message: "the call was cancelled", underlying: CancellationError())
  }

  private static func result<R>(
    of task: ScriptTask, _ runtime: Runtime, _ read: (LuaStack, Int32) throws(LuaError) -> R
  ) -> Result<R, LuaError> {
    switch task.outcome {
    case .none, .cancelled:
      let isCancelled = task.cancellation != nil || runtime.errors.isEndingScripts
      return .failure(isCancelled ? cancelled : .closed)
    case .failed:
      guard let failure = task.failure else { return .failure(.closed) }
      failure.isTaken = true
      // A script that called os.exit was interrupted for that.
      let isEnd = failure.error.kind == .interrupted && runtime.errors.expectsInterrupts()
      return .failure(isEnd ? .closed : failure.error)
    case .returned:
      let stack = runtime.state.stack
      let base = stack.count
      _ = task.values.push(on: stack)
      defer { stack.setCount(Int32(base)) }
      return Result { () throws(LuaError) -> R in
        try runtime.state.keepingOpen { () throws(LuaError) in try read(stack, Int32(base) + 1) }
      }
    }
  }
}

extension LuaStack {
  /// Pushes the function under a name such as "app.handlers.get". [-0, +1, raises: -]
  func pushFunction(named name: String) throws(LuaError) {
    try pushFunction(named: Array(name.utf8))
  }

  func pushFunction(named name: [UInt8]) throws(LuaError) {
    let names = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    pushGlobals()
    for name in names where type(-1) == .table {
      name.withUnsafeBytes { push(bytes: $0) }
      _ = rawGet(-2)
      rotate(-2, 1)
      pop()
    }
    if type(-1) == .function { return }
    pop()
    throw LuaError(message: "there is no function '\(String(decoding: name, as: UTF8.self))'")
  }
}
