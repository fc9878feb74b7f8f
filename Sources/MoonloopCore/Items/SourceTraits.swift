// What a source's context contains besides its handlers: which sources it is equal to, and a
// description.

/// The rest of a source's context; most sources have none of it.
package final class SourceTraits {
  /// Sources with equal identities and equal orders count as one (R143).
  package let identity: AnyHashable?
  /// Computed once: `hash(into:)` is the program's, and may use the loop.
  fileprivate let hash: Int
  /// Says what the source is about; goes with its handlers.
  @exclusivity(unchecked) fileprivate(set) var describe: ((Loop.Source) -> String)?

  /// - Returns: nil if all values are the defaults.
  package init?(identity: AnyHashable?, describe: ((Loop.Source) -> String)?) {
    if identity == nil && describe == nil { return nil }
    self.identity = identity
    hash = identity?.hashValue ?? 0
    self.describe = describe
  }

  package var describes: Bool { describe != nil }

  func dropHandler() { describe = nil }
}

extension Loop.Source: CustomStringConvertible {
  /// The source on one line: its name, order, state and description (R144).
  /// - Note: Any thread if `describe` may be called on any.
  /// - SeeAlso: counterpart `copyDescription` of `CFRunLoopSourceContext`.
  public var description: String {
    let state = isValid ? isSignalled ? "signalled" : "not signalled" : "ended"
    let text = ownDescription.map { "; \($0)" } ?? ""
    return "\(label): order \(order), \(state)\(text)"
  }

  /// The source's description; nil if it has none, or has ended.
  package var ownDescription: String? {
    guard traits != nil, isAtHome else { return nil }
    defer { endCall() }
    return beginCall() ? traits?.describe?(self) : nil
  }
}

/// A place that one source of several equal ones can have; compared by numbers alone, as the
/// program's `==` may use the loop while it is looked for.
struct EqualityKey: Hashable {
  /// The mode by its index; -1: among the common items.
  private let mode: Int
  private let order: Int
  private let hash: Int

  /// - Returns: nil for a source that is equal to itself only.
  init?(of source: Loop.Source, in mode: Mode?) {
    guard let traits = source.traits, traits.identity != nil else { return nil }
    self.mode = mode?.index ?? -1
    order = source.order
    hash = traits.hash
  }
}

extension Loop {
  /// The source that is in a mode, or is a common item if that is nil, and to which this one is
  /// equal; the item itself if there is none (R143). Calls the program's `==`.
  @inline(__always)
  func standIn(for item: Item, in mode: Mode?) -> Item {
    items.equals.isEmpty ? item : findStandIn(for: item, in: mode)
  }

  @inline(never)
  private func findStandIn(for item: Item, in mode: Mode?) -> Item {
    guard let key = item.equality(in: mode), let candidates = items.equals[key] else {
      return item
    }
    let identity = item.identity
    return candidates.first { $0 === item || $0.identity == identity } ?? item
  }

  /// The sources that `remove` removes from modes in place of this one. Loop thread only.
  package func standIns(for item: Item, modes names: [ModeName]) -> [Item] {
    var found: [Item] = []
    for name in names where name == .common || findMode(name) != nil {
      for mode in [name == .common ? nil : findMode(name)] + (name == .common ? modes.common : []) {
        let other = standIn(for: item, in: mode)
        if other !== item && !found.contains(where: { $0 === other }) { found.append(other) }
      }
    }
    return found
  }

  /// A source has come into a mode, or is a common item now.
  func noteEqual(_ item: Item, in mode: Mode?) {
    guard let key = item.equality(in: mode) else { return }
    items.equals[key, default: []].append(item)
  }

  /// It has left the mode, or is a common item no more.
  func forgetEqual(_ item: Item, in mode: Mode?) {
    guard let key = item.equality(in: mode), var equal = items.equals[key] else { return }
    equal.removeAll { $0 === item }
    items.equals[key] = equal.isEmpty ? nil : equal
  }
}
