// What other threads ask of a loop: a queue behind the only lock of the core.

internal import Synchronization

/// A queue that any thread may add to and one thread empties. The lock inside is the only one there
/// is; nothing is called while it is held.
package final class Inbox<Message>: Sendable {
  private struct Content: ~Copyable {
    // Protected by the mutex around it.
    nonisolated(unsafe) var messages = Queue<Message>()
    var isClosed = false
    /// What `count` is above the number of messages: see `pin`.
    var pinned = 0
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
      let before = content.messages.count
      if content.isClosed || before >= limit { return nil }
      content.messages.append(message)
      count.store(before + 1 + content.pinned, ordering: .sequentiallyConsistent)
      return before
    }
  }

  /// Takes all messages, in order of arrival. One thread at a time.
  package func takeAll() -> Queue<Message> {
    nonisolated(unsafe) var taken = Queue<Message>()  // leaves the mutex whole
    content.withLock { content in
      swap(&taken, &content.messages)
      count.store(content.pinned, ordering: .sequentiallyConsistent)
    }
    return taken
  }

  /// Takes the first message; nil if there is none. Any thread.
  package func takeFirst() -> Message? {
    nonisolated(unsafe) var taken: Message?  // leaves the mutex whole
    content.withLock { content in
      taken = content.messages.takeFirst()
      count.store(content.messages.count + content.pinned, ordering: .sequentiallyConsistent)
    }
    return taken
  }

  /// Has it never look empty from now on, so that who empties it looks closely each time: see
  /// `hasMessages`.
  package func pin() {
    content.withLock { content in
      content.pinned = 1
      count.store(content.messages.count + 1, ordering: .sequentiallyConsistent)
    }
  }

  /// Whether there is something in a pinned inbox. Any thread.
  package var hasMessages: Bool { count.load(ordering: .acquiring) > 1 }

  /// Refuses all messages from now on. Any thread.
  package func close() {
    content.withLock { $0.isClosed = true }
  }
}
