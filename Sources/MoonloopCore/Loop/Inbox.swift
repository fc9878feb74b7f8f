// What other threads ask of a loop: a queue behind the only lock of the core.

internal import Synchronization

/// A queue that any thread may add to and one thread empties. The lock inside is the only one there
/// is; nothing is called while it is held.
package final class Inbox<Message>: Sendable {
  private struct Content {
    // Protected by the mutex around it. Those that were taken are nil, so that nothing is let go,
    // and no deinit of a message called, under the lock.
    nonisolated(unsafe) var messages: [Message?] = []
    var first = 0  // index of the first message that was not taken
    var isClosed = false
    /// What `count` is above the number of messages: see `pin`.
    var pinned = 0
    var waiting: Int { messages.count - first }
  }
  private let content = Guarded(Content())
  private let count = Atomic<Int>(0)

  package init() {}

  /// Whether there is nothing; a single load. Any thread.
  @inline(__always)
  package var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// How many messages wait. Any thread.
  package var waiting: Int { count.load(ordering: .acquiring) }

  /// Adds a message at the end. Any thread.
  ///
  /// - Parameter limit: The number of waiting messages that is not exceeded.
  /// - Returns: How many waited before; nil if the message was refused because the inbox is full or
  ///   closed.
  @discardableResult
  package func post(_ message: sending Message, limit: Int = .max) -> Int? {
    // The message is handed over whole: the caller keeps no part of it (`sending`).
    nonisolated(unsafe) let message = message
    return content.withLock { content in
      let before = content.waiting
      if content.isClosed || before >= limit { return nil }
      content.messages.append(message)
      count.store(before + 1 + content.pinned, ordering: .sequentiallyConsistent)
      return before
    }
  }

  /// Takes all messages, in order of arrival, between nils. One thread at a time.
  package func takeAll() -> [Message?] {
    nonisolated(unsafe) var taken: [Message?] = []  // leaves the mutex whole
    content.withLock { content in
      taken = content.messages
      content.messages = []
      content.first = 0
      count.store(content.pinned, ordering: .sequentiallyConsistent)
    }
    return taken
  }

  /// Takes the first message; nil if there is none. Any thread.
  package func takeFirst() -> Message? {
    nonisolated(unsafe) var taken: Message?  // leaves the mutex whole
    content.withLock { content in
      guard content.first < content.messages.count else { return }
      taken = content.messages[content.first].take()
      content.first += 1
      if content.first == content.messages.count {
        content.messages.removeAll(keepingCapacity: true)
        content.first = 0
      } else if content.first >= 1024 && content.first * 2 > content.messages.count {
        content.messages.removeFirst(content.first)
        content.first = 0
      }
      count.store(content.waiting + content.pinned, ordering: .sequentiallyConsistent)
    }
    return taken
  }

  /// Has it never look empty from now on, so that who empties it looks closely each time: see
  /// `hasMessages`.
  package func pin() {
    content.withLock { content in
      content.pinned = 1
      count.store(content.waiting + 1, ordering: .sequentiallyConsistent)
    }
  }

  /// Whether there is something in a pinned inbox. Any thread.
  package var hasMessages: Bool { count.load(ordering: .acquiring) > 1 }

  /// Refuses all messages from now on. Any thread.
  package func close() {
    content.withLock { $0.isClosed = true }
  }
}
