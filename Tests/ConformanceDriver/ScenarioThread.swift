// A thread of a scenario: the home thread or one that a `thread` action started.

import MoonloopCore
import Synchronization

final class ScenarioThread: Sendable {
  /// nil: home.
  let name: String?
  let loop: Loop
  /// Set when it has performed all its actions.
  let isDone = Flag()
  /// Whether it still serves requests of other threads for its loop.
  let isServing = Mutex(true)

  init(name: String?, loop: Loop) {
    self.name = name
    self.loop = loop
  }

  /// The prefix of its entries.
  var prefix: String { name.map { $0 + "|" } ?? "" }
}
