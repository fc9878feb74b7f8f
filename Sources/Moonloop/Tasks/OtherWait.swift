// A wait for something that tasks know nothing about: a line of a stream, room in a channel.

internal import LuaEmbed
internal import MoonloopCore

/// What a task waits for, reduced to the few operations that tasks need.
///
/// Simple waits pass closures; others are subclasses.
class OtherWait {
  private let words: String
  private let giveUp: () -> Void
  /// The task that waits, once it has suspended; code that keeps the wait for longer clears it.
  @exclusivity(unchecked) final var waiter: ScriptTask?
  /// Its results, once there are any.
  @exclusivity(unchecked) final var values = TaskValues.none

  init(what: String = "", abandon: @escaping () -> Void = {}) {
    words = what
    giveUp = abandon
  }

  /// As text, for `why` and for deadlocks: "a line of stdin".
  var what: String { words }

  /// The same after "waits": "for a line of stdin", "to acquire semaphore 'gate'".
  var purpose: String { "for \(what)" }

  /// Whether its answer must reach the task once given, even if the task is cancelled before its
  /// turn: then the task gets the cancellation at its next await, and nothing is lost.
  var isFinal: Bool { false }

  /// Ends it without an answer: the task is cancelled, or its deadline has come.
  func abandon() { giveUp() }

  /// The failure that ended it, raised in the task instead of results.
  var failure: TaskFailure? { nil }

  /// Pushes its results, and returns their number. [-0, +n]
  func push(on stack: LuaStack) -> Int { values.push(on: stack) }

  /// Pushes the task's results when its deadline has come, after `abandon`. [-0, +n]
  /// - Parameter purpose: Its purpose before that.
  func pushLate(on stack: LuaStack, _ purpose: String) -> Int {
    stack.pushTimedOut(purpose)
    return 3
  }

  /// A call waits for the task in a private mode: what it waits for is served there too (D50).
  func join(_ mode: ModeName, _ loop: Loop) {}

  /// The same is over.
  func leave(_ mode: ModeName, _ loop: Loop) {}
}

extension Tasks {
  /// What a wait is for has happened: its task goes on in the next pass, and is not in it any more.
  func answer(_ wait: OtherWait) {
    guard let task = wait.waiter else { return }
    wait.waiter = nil
    makeReady(task, .answer)
  }

  /// The same in a call-out that is not a timer's: the task may go on now.
  func answerNow(_ wait: OtherWait) {
    guard let task = wait.waiter else { return }
    if !answerNow(task, push: { wait.push(on: $0) }) { makeReady(task, .answer) }
  }
}
