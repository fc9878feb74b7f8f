// A wait for a callback: the `resume` of `ml.await`, and what it may keep open (D23).

internal import LuaEmbed
internal import MoonloopCore

/// One `ml.await`: it is over when `resume` is called the first time, or its task is cancelled.
final class CallbackWait {
  /// The task that waits; nil before it does, and when it is over.
  weak var waiter: ScriptTask?
  /// What `resume` was called with, before the wait began.
  var values: TaskValues?
  var isOver = false
  /// What the function returned, to be closed when the task is cancelled.
  var closable: LuaReference?
  /// The same, if it is an item that has modes.
  var handle: WaitedHandle?

  init() {}

  /// The values that were waited for. From now on nothing is held, because what the function
  /// returned may hold `resume`, which holds this.
  func takeValues() -> TaskValues {
    defer {
      values = nil
      closable = nil
      handle = nil
    }
    return values ?? .none
  }
}

/// An item of the loop that a task waits for.
enum WaitedHandle {
  case timer(TimerID)
  case item(Loop.Item)

  func add(to mode: ModeName, _ loop: Loop) {
    switch self {
    case .timer(let id): loop.add(id, mode)
    case .item(let item): try? loop.add(item, modes: [mode])
    }
  }

  func remove(from mode: ModeName, _ loop: Loop) {
    switch self {
    case .timer(let id): loop.remove(id, [mode])
    case .item(let item): loop.remove(item, modes: [mode])
    }
  }
}

extension Tasks {
  /// The callback was called: the first time, its values are the results of the wait.
  func answer(_ callback: CallbackWait, _ values: TaskValues) {
    guard !callback.isOver else { return }
    callback.isOver = true
    callback.values = values
    if let task = callback.waiter {
      callback.waiter = nil
      makeReady(task, .answer)
    }
  }

  /// The wait is over: what the function returned is closed.
  func close(_ callback: CallbackWait) {
    callback.isOver = true
    callback.waiter = nil
    guard let closable = callback.closable else { return }
    _ = callback.takeValues()
    let outcome = state.start(push: { stack in
      stack.push(function: closeArgument, then: closeArgument)
      stack.push(closable)
      return 1
    })
    settle(outcome, current)
  }
}

/// Closes its argument as a `<close>` variable does.
private let closeArgument: LuaRawFunction = { L, context in
  host(L, context, "ml.await") { call in
    call.stack.setCount(1)
    call.stack.push(function: doNothing)
    return LuaStatus.guarded(arguments: 0)
  }
}

private let doNothing: LuaRawFunction = { _, _ in LuaStatus.results(0) }
