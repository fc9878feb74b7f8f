// A scenario as the driver sees it: objects to make, steps to perform, the expected trace.

/// One scenario file, read and checked. Times are in nanoseconds, not yet stretched.
package struct Scenario: Sendable {
  package var id: String
  package var family: String
  package var title: String
  /// Whether the home thread is the process's main thread.
  package var onMainThread: Bool
  /// The abilities without which the scenario cannot run.
  package var needs: [String]
  package var objects: [ObjectSpec]
  package var steps: [Action]
  package var expect: [String]
  /// CFRunLoop's trace where it differs.
  package var cf: [String]?
}

/// One object to make.
package struct ObjectSpec: Sendable {
  package var id: String
  package var kind: Kind
  /// The modes of the home loop it is in from the start.
  package var modes: [String]
  /// Made only by a `create` action.
  package var isDeferred: Bool
  package var isQuiet: Bool
  package var isStamped: Bool
  /// What each of its callbacks does after its entry.
  package var actions: [Action]

  package enum Kind: Sendable {
    /// An interval of 0 or less fires once.
    case timer(delay: Int64, interval: Int64, tolerance: Int64 = 0)
    /// Sources of equal identities and orders count as one.
    case source(order: Int, hasLifecycle: Bool, identity: String? = nil)
    case port
    case descriptor(events: [Direction], reenabled: [Direction], order: Int)
    case observer(activities: [ActivityName], repeats: Bool, order: Int)
    case block
  }

  /// The word of the format for its type.
  package var type: ObjectType {
    switch kind {
    case .timer: .timer
    case .source: .source
    case .port: .port
    case .descriptor: .fd
    case .observer: .observer
    case .block: .block
    }
  }
}

extension ObjectSpec {
  /// An action that appears in no scenario file and no trace.
  package init(unseen id: String, _ kind: Kind) {
    self.init(
      id: id, kind: kind, modes: [], isDeferred: true, isQuiet: true, isStamped: false, actions: [])
  }

  /// The same with its times multiplied.
  package func stretched(by scale: Int64) -> ObjectSpec {
    guard case .timer(let delay, let interval, let tolerance) = kind else { return self }
    var spec = self
    spec.kind = .timer(
      delay: delay * scale, interval: interval * scale, tolerance: tolerance * scale)
    return spec
  }
}

package enum ObjectType: String, Sendable, CaseIterable {
  case timer, source, port, fd, observer, block
}

/// What a descriptor can be ready for.
package enum Direction: String, Sendable, CaseIterable {
  case read, write
}

/// The six activities of a run loop.
package enum ActivityName: String, Sendable, CaseIterable {
  case entry, beforeTimers, beforeSources, beforeWaiting, afterWaiting, exit
}

/// One action, of the steps, of a thread, or of a callback.
package struct Action: Sendable {
  package var op: Operation
  /// Only for this activity or direction of the callback.
  package var on: String?
  /// Only in the n-th callback, counted from 1.
  package var nth: Int?
  /// The loop it applies to: `Action.home` or the name of a thread.
  package var loop: String

  package static let home = "home"
}

/// The place of a block among others, and what it is for.
package struct Aim: Sendable {
  package let order: Int
  package let target: String?
}

package enum Operation: Sendable {
  /// No timeout means forever.
  case run(mode: String, timeout: Int64?, returnAfterSource: Bool)
  case runUnconditionally
  case stop
  case wake
  case signal(id: String)
  case post(id: String, message: String)
  case add(id: String, mode: String)
  case remove(id: String, mode: String)
  case addCommonMode(String)
  case invalidate(id: String)
  case create(id: String)
  case setNext(id: String, delay: Int64)
  case setTolerance(id: String, Int64)
  case fire(id: String)
  case perform(id: String, modes: [String], aim: Aim? = nil)
  case performOn(id: String, modes: [String], waits: Bool, aim: Aim? = nil)
  case performAfter(id: String, delay: Int64, modes: [String])
  case cancelPerform(id: String)
  /// All requests for one target.
  case cancelTarget(String)
  case mainAsync(id: String)
  case write(id: String, data: String)
  case closePeer(id: String)
  case read(id: String, bytes: Int)
  case fill(id: String)
  case drain(id: String)
  case enable(id: String, events: [Direction])
  case disable(id: String, events: [Direction])
  case sleep(Int64)
  case log(String)
  case query(Query)
  case thread(name: String, actions: [Action])
  case join(name: String)
}

extension Operation {
  /// The object that it needs, which must have been made.
  package var item: String? {
    switch self {
    case .signal(let id), .post(let id, _), .add(let id, _), .remove(let id, _),
      .invalidate(let id), .setNext(let id, _), .setTolerance(let id, _), .fire(let id),
      .write(let id, _), .closePeer(let id), .read(let id, _), .fill(let id), .drain(let id),
      .enable(let id, _), .disable(let id, _), .query(.valid(let id)), .query(.contains(let id, _)),
      .query(.nextFire(let id)):
      id
    default: nil
    }
  }
}

package enum Query: Sendable {
  case currentMode
  case waiting
  case valid(id: String)
  case contains(id: String, mode: String)
  case nextFire(id: String)
  case nextTimer(mode: String)
  case elapsed
}
