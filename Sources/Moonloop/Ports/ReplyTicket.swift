// The one chance to answer a request: used once; if it is dropped, the requester gets an error.

internal import MoonloopCore
internal import Synchronization

/// The outcome of a request.
enum ReplyAnswer: Sendable {
  case value(StructuredClone)
  /// There can be no answer any more: the message was dropped, or its receiver released it.
  case dropped
  /// The same, because its handler has failed; known on the receiver's own thread.
  case failed

  /// As other threads and processes get it.
  var abroad: ReplyAnswer { if case .failed = self { .dropped } else { self } }
}

/// The right to answer a request, which travels with the message. Any thread.
///
/// It is dropped with the message when a port ends, with the state that received it, or when a
/// script releases it: so the requester learns of a dead peer at once.
final class ReplyTicket: Sendable {
  private let deliver: @Sendable (ReplyAnswer) -> Bool
  private let isUsed = Atomic<Bool>(false)

  /// - Parameter deliver: Delivers the answer; false if the wait is over.
  init(_ deliver: @escaping @Sendable (ReplyAnswer) -> Bool) { self.deliver = deliver }

  /// - Returns: false if it was answered before, or the wait is over.
  func answer(_ value: StructuredClone) -> Bool {
    !isUsed.exchange(true, ordering: .acquiringAndReleasing) && deliver(.value(value))
  }

  /// There will be no answer: the requester gets an error.
  func drop() {
    if !isUsed.exchange(true, ordering: .acquiringAndReleasing) { _ = deliver(.dropped) }
  }

  /// The same, because the handler has failed.
  func fail() {
    if !isUsed.exchange(true, ordering: .acquiringAndReleasing) { _ = deliver(.failed) }
  }

  /// The end is not reported: a replay has recorded the outcome.
  func forget() { isUsed.store(true, ordering: .releasing) }

  deinit { drop() }
}

extension ReplyTicket {
  /// The right to answer another thread, for a loop that is recorded: whether it takes the answer
  /// is asked of the intake.
  convenience init(recording ticket: ReplyTicket) {
    self.init { answer in
      switch answer {
      case .value(let value): return Intake.flag { ticket.answer(value) }
      case .dropped, .failed:
        ticket.drop()
        return true
      }
    }
  }

  /// The same in a replay.
  convenience init(replaying: Void) {
    self.init { answer in
      if case .value = answer { return Intake.flag { false } }
      return true
    }
  }
}
