// What other threads ask of a loop: a queue with a lock at either end.

internal import Synchronization

/// A queue that any thread may add to and take from.
///
/// Senders and receivers meet once per batch: the taker of the first message moves all that
/// are there over to its own end. Nothing is called while a lock is held.
package final class Inbox<Message>: Sendable {
  private struct Back: ~Copyable {
    // Protected by the mutex around it.
    nonisolated(unsafe) var messages = Queue<Message>()
    var isClosed = false
  }
  private struct Front: ~Copyable {
    // Protected by the mutex around it.
    nonisolated(unsafe) var messages = Queue<Message>()
  }
  private let back = Guarded(Back())
  /// Messages that are older than all at the back. Its lock is taken before the other.
  private let front = Guarded(Front())
  /// How many messages there are, and one more in a pinned inbox.
  private let count = Atomic<Int>(0)

  package init() {}

  /// Whether it is empty; a single load. Any thread.
  @inline(__always)
  package var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// How many messages wait. Any thread.
  package var waiting: Int { count.load(ordering: .acquiring) }

  /// Adds a message at the end. Any thread.
  /// - Parameter limit: The number of waiting messages that is not exceeded.
  /// - Returns: How many waited before; nil if the message was refused because the inbox is full or
  ///   closed. The taker of the last of those finds this one too.
  @discardableResult
  package func post(_ message: sending Message, limit: Int = .max) -> Int? {
    // The message is handed over whole: the caller keeps no part of it (`sending`).
    nonisolated(unsafe) let message = message
    return back.withLock { back in
      // No less than there are: only messages that are taken meanwhile count too many.
      if back.isClosed || count.load(ordering: .relaxed) >= limit { return nil }
      back.messages.append(message)
      return count.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
    }
  }

  /// Takes all messages, in order of arrival. Any thread.
  package func takeAll() -> Queue<Message> {
    nonisolated(unsafe) var taken = Queue<Message>()  // leaves the mutex whole
    front.withLock { front in
      swap(&taken, &front.messages)
      back.withLock { back in
        if taken.isEmpty { return swap(&taken, &back.messages) }
        while let message = back.messages.takeFirst() { taken.append(message) }
      }
      count.wrappingSubtract(taken.count, ordering: .sequentiallyConsistent)
    }
    return taken
  }

  /// Takes the first message; nil if there is none. Any thread.
  package func takeFirst() -> Message? {
    if isEmpty { return nil }
    nonisolated(unsafe) var taken: Message?  // leaves the mutex whole
    front.withLock { front in
      if front.messages.isEmpty { back.withLock { swap(&front.messages, &$0.messages) } }
      taken = front.messages.takeFirst()
      if taken != nil { count.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    }
    return taken
  }

  /// Makes it never look empty from now on, so that its receiver always looks closely: see
  /// `hasMessages`. Once, before the first message.
  func pin() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }

  /// Whether there is something in a pinned inbox. Any thread.
  var hasMessages: Bool { count.load(ordering: .acquiring) > 1 }

  /// Refuses all messages from now on. Any thread.
  package func close() {
    back.withLock { $0.isClosed = true }
  }
}
