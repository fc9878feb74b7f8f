// Messages of other threads to a loop that has an intake: they arrive when the loop's thread looks,
// and a replay looks at the same points.

internal import Synchronization

/// Records what other threads send a loop, or replays what they sent then. Loop thread only.
package protocol Crossings: AnyObject {
  /// The loop's own thread had posted something, which a replay posts itself.
  func keepOwn()
  /// Messages of other threads have arrived.
  /// - Returns: The messages to deliver; from now on the intake answers what depends on other
  ///   threads.
  func keep(_ messages: [any Sendable], at place: Int) -> [any Sendable]
  /// That was all, at this look.
  func keepEnd()
  /// What came next, in a replay; nil: that was all.
  func next() -> Crossing?
}

package enum Crossing {
  case own
  case messages([any Sendable], at: Int)
}

/// What a loop with an intake knows of the messages of other threads. Loop thread only.
package struct ArrivalState {
  /// Whether what enters the loop is kept, or replayed.
  let hasIntake = !Intake.isPlain
  /// Where the messages arrive then, by number.
  fileprivate(set) var places: [Int: Arrivals] = [:]
  fileprivate var last = 0
  /// How they are kept, or replayed.
  package var crossings: (any Crossings)?
}

/// Where messages of other threads wait until their loop looks. Any thread, unless marked
/// otherwise.
///
/// Unchecked because of the weak references, which are set once and safe to read on any thread.
package final class Arrivals: @unchecked Sendable {
  /// The same in a replay.
  package let number: Int
  private weak var loop: Loop?
  /// Loop thread only.
  weak var port: Loop.Port?
  /// Takes a message over. Loop thread only; nil after the end.
  private var deliver: ((any Sendable) -> Void)?
  private let queue = Inbox<any Sendable>()
  private let isPosted = Atomic<Bool>(false)

  fileprivate init(_ number: Int, _ loop: Loop, _ deliver: @escaping (any Sendable) -> Void) {
    self.number = number
    self.loop = loop
    self.deliver = deliver
  }

  /// Whether the calling thread is the loop's.
  var isHome: Bool { loop?.isOnThread ?? false }
  package func isOf(_ other: Loop) -> Bool { loop === other }
  var waiting: Int { queue.waiting }

  /// Delivers a message when the loop looks; also on its own thread.
  /// - Returns: false if there is no room, or its receiver is gone.
  @discardableResult
  package func post(_ message: any Sendable, limit: Int = .max) -> Bool {
    guard let loop, queue.post(message, limit: limit) != nil else { return false }
    if !isPosted.exchange(true, ordering: .sequentiallyConsistent) { loop.post(.arrived(self)) }
    return true
  }

  /// No more messages are delivered. Loop thread only.
  package func end() {
    queue.close()
    deliver = nil
    _ = queue.takeAll()
    loop?.arrivals.places[number] = nil
  }

  fileprivate func takeAll() -> [any Sendable] {
    isPosted.store(false, ordering: .sequentiallyConsistent)
    var messages = queue.takeAll()
    var taken: [any Sendable] = []
    while let message = messages.takeFirst() { taken.append(message) }
    return taken
  }

  fileprivate func hear(_ message: any Sendable) { deliver?(message) }
}

extension Loop {
  /// A place for messages of other threads; nil if the loop has no intake. Loop thread only.
  package func makeArrivals(_ deliver: @escaping (any Sendable) -> Void) -> Arrivals? {
    guard arrivals.hasIntake, !Intake.isPlain else { return nil }
    arrivals.last += 1
    let new = Arrivals(arrivals.last, self, deliver)
    arrivals.places[arrivals.last] = new
    return new
  }

  /// The port whose messages arrive there. Loop thread only.
  package func port(arriving number: Int) -> Port? { arrivals.places[number]?.port }

  /// Takes in what was requested, through the intake.
  func takePostsByIntake() {
    guard Intake.seldom(shared.inbox.hasMessages) else { return }
    if Intake.isReplayed { replayPosts() } else { keepPosts() }
  }

  private func keepPosts() {
    var posts = shared.inbox.takeAll()
    while let post = posts.takeFirst() {
      guard case .arrived(let place) = post else {
        arrivals.crossings?.keepOwn()
        take(post)
        continue
      }
      let messages = place.takeAll()
      let kept = arrivals.crossings?.keep(messages, at: place.number) ?? messages
      for message in kept { place.hear(message) }
    }
    arrivals.crossings?.keepEnd()
  }

  private func replayPosts() {
    var own = shared.inbox.takeAll()
    while let crossing = arrivals.crossings?.next() {
      switch crossing {
      case .own: if let post = own.takeFirst() { take(post) }
      case .messages(let messages, let number):
        let place = arrivals.places[number]
        for message in messages { place?.hear(message) }
      }
    }
    if arrivals.crossings == nil { while let post = own.takeFirst() { take(post) } }
  }
}
