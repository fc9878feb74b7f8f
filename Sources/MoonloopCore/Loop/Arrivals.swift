// What other threads tell a loop that is recorded: it arrives at looks of the loop's thread that a
// replay repeats, so that it comes to the script at the same points. See docs/recording.md.

internal import Synchronization

/// How messages are written on a tape, and read from it. Loop thread only.
package protocol MessageTape: AnyObject {
  /// Writes a message.
  /// - Returns: The message as it is to be delivered: what depends on other threads is asked of the
  ///   tape from now on.
  func record(_ message: any Sendable, into writer: inout TapeWriter) -> any Sendable
  /// Reads the message that was recorded so.
  func play(_ reader: inout TapeReader) -> any Sendable
}

/// Where messages of other threads wait until their loop looks. Any thread, but for what is marked.
///
/// Unchecked because of the weak references, which are set once and safe to read on any thread.
package final class Arrivals: @unchecked Sendable {
  /// The same in a replay.
  package let number: Int
  private weak var loop: Loop?
  /// Loop thread only.
  package weak var port: Loop.Port?
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
  package var isHome: Bool { loop?.isOnThread ?? false }
  package func isOf(_ other: Loop) -> Bool { loop === other }
  package var waiting: Int { queue.waiting }

  /// Has the loop hear of a message when it looks; also on its own thread.
  /// - Returns: false if there is no room, or nobody hears of it any more.
  @discardableResult
  package func post(_ message: any Sendable, limit: Int = .max) -> Bool {
    guard let loop, queue.post(message, limit: limit) != nil else { return false }
    if !isPosted.exchange(true, ordering: .sequentiallyConsistent) { loop.post(.arrived(self)) }
    return true
  }

  /// Nothing is heard any more. Loop thread only.
  package func end() {
    queue.close()
    deliver = nil
    _ = queue.takeAll()
    loop?.arrivals[number] = nil
  }

  fileprivate func takeAll() -> [any Sendable] {
    isPosted.store(false, ordering: .sequentiallyConsistent)
    return queue.takeAll().compactMap { $0 }
  }

  fileprivate func hear(_ message: any Sendable) { deliver?(message) }
}

extension Loop {
  private enum Entry {
    static let end = 0
    /// What the loop's own thread had posted, which a replay posts itself.
    static let own = 1
    static let messages = 2
  }

  /// A place for messages of other threads; nil if the loop is not recorded. Loop thread only.
  package func makeArrivals(_ deliver: @escaping (any Sendable) -> Void) -> Arrivals? {
    guard isTaped, Tape.state != .idle else { return nil }
    lastArrival += 1
    let new = Arrivals(lastArrival, self, deliver)
    arrivals[lastArrival] = new
    return new
  }

  /// The port whose messages arrive there. Loop thread only.
  package func port(arriving number: Int) -> Port? { arrivals[number]?.port }

  /// Takes in what was asked for, where a recording is written or played.
  func takeTapedPosts() {
    guard Tape.seldom(inbox.hasMessages) else { return }
    if Tape.state == .plays { playPosts() } else { recordPosts() }
  }

  private func recordPosts() {
    var entry = TapeWriter()
    for case let post? in inbox.takeAll() {
      entry.clear()
      guard case .arrived(let arrivals) = post else {
        entry.put(Entry.own)
        put(entry)
        take(post)
        continue
      }
      var messages = arrivals.takeAll()
      entry.put(Entry.messages)
      entry.put(arrivals.number)
      entry.put(messages.count)
      for index in messages.indices {
        messages[index] = messageTape?.record(messages[index], into: &entry) ?? messages[index]
      }
      put(entry)
      for message in messages { arrivals.hear(message) }
    }
    entry.clear()
    entry.put(Entry.end)
    put(entry)
  }

  private func put(_ entry: TapeWriter) {
    entry.bytes.withUnsafeBytes { Tape.put(.crossings, $0) }
  }

  private func playPosts() {
    var own = inbox.takeAll().makeIterator()
    while true {
      var entry = TapeReader(Tape.take(.crossings))
      switch entry.number() {
      case Entry.own: if case let post?? = own.next() { take(post) }
      case Entry.messages:
        let place = arrivals[entry.number()]
        let messages = (0..<entry.count()).map { _ in messageTape?.play(&entry) }
        for case let message? in messages { place?.hear(message) }
      default: return
      }
    }
  }
}
