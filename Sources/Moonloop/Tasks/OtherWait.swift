// A wait for something that tasks know nothing of: a line of a stream, room in a channel.

package import LuaEmbed
package import MoonloopCore

/// What a task waits for, by the few things that tasks ask of it.
///
/// One that is made anew for each wait gets closures; one that lasts is a class of its own.
package class OtherWait {
  private let words: String
  private let giveUp: () -> Void
  /// The task that waits, once it has suspended; code that keeps the wait for longer clears it.
  @exclusivity(unchecked) package final var waiter: ScriptTask?
  /// What it gives, once it has come.
  @exclusivity(unchecked) package final var values = TaskValues.none

  init(what: String = "", abandon: @escaping () -> Void = {}) {
    words = what
    giveUp = abandon
  }

  /// In words, for `why` and for deadlocks: "a line of stdin".
  package var what: String { words }

  /// The same as it follows "waits": "for a line of stdin", "to acquire semaphore 'gate'".
  package var purpose: String { "for \(what)" }

  /// Whether its answer must reach the task once it was given, though the task is cancelled before
  /// its turn: then it learns of that at its next await, and nothing is lost.
  package var isFinal: Bool { false }

  /// Ends it without an answer: the task is cancelled, or its deadline has come.
  package func abandon() { giveUp() }

  /// The failure that it ended with, raised in the task instead of what it gives.
  package var failure: TaskFailure? { nil }

  /// Pushes what it gives, and tells how many values that is. [-0, +n]
  package func push(on stack: LuaStack) -> Int { values.push(on: stack) }

  /// Pushes what the task is given when its deadline has come, after `abandon`. [-0, +n]
  /// - Parameter purpose: What it was before.
  package func pushLate(on stack: LuaStack, _ purpose: String) -> Int {
    stack.pushTimedOut(purpose)
    return 3
  }

  /// A call waits for the task in a private mode: what it waits for is served there too (D50).
  package func join(_ mode: ModeName, _ loop: Loop) {}

  /// The same is over.
  package func leave(_ mode: ModeName, _ loop: Loop) {}
}
