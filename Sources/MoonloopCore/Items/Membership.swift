// A source or port in one of its loops, and whether a post about it is on its way there.

internal import Synchronization

/// What a source or port that may be in several loops knows of one of them. Any thread.
///
/// A post says no more than "look at it", so one is enough: a loop that never looks is sent one.
package final class Membership: Sendable {
  let loop: Loop
  private let isPosted = Atomic<Bool>(false)

  init(_ loop: Loop) { self.loop = loop }

  /// Whether a post must be sent. Its subject must have been stored before.
  func claimPost() -> Bool { !isPosted.exchange(true, ordering: .sequentiallyConsistent) }

  /// The post has come: whatever is stored from now on needs another one. Loop thread only, before
  /// the look.
  func postIsTaken() { isPosted.store(false, ordering: .sequentiallyConsistent) }
}

/// The items that a loop knows beside those of its modes. Loop thread only.
struct LoopItems {
  /// How many places items, timers and turns have in other modes than the default one.
  var places = 0
  /// The same when those that count them were last told.
  var placesTold = 0
  var common = ItemList<Loop.Item>()
  /// Sources and ports that belong to another loop as well.
  var guests: [ObjectIdentifier: Guest] = [:]
  /// The sources that can be equal to others, by the places that only one of those can have.
  var equals: [EqualityKey: [Loop.Item]] = [:]
}

/// What a loop knows of a source or port that belongs to another loop. Loop thread only.
struct Guest {
  var places = Places()
  /// As `Source.signalNumber`.
  var signalNumber: UInt64 = 0
}
