// The observers of a mode, so that each activity finds its own without a look at the others.

/// The observers of a mode, called by ascending order, equal ones in order of adding (R32).
struct ObserverList {
  /// Those of the same activities, marked with the number of their adding.
  private struct Group {
    let activities: Activity
    var members = ItemList<Loop.Observer>()
  }

  /// There are at most as many as sets of activities.
  private var groups: [Group] = []
  /// In order, by activity; nil where one was added or removed since the last call.
  /// Empty until there was an observer.
  private var inOrder: [[Loop.Observer]?] = []
  private var lastAdded: UInt64 = 0
  /// The activities that have an observer in the mode.
  private(set) var watched: Activity = []

  var count: Int { groups.reduce(0) { $0 + $1.members.count } }

  /// - Returns: Its place among those of the same activities.
  mutating func insert(_ observer: Loop.Observer) -> Int {
    lastAdded += 1
    if inOrder.isEmpty { inOrder = Array(repeating: nil, count: 8) }
    let group = group(of: observer) ?? makeGroup(observer)
    forgetOrder(group)
    watched.formUnion(groups[group].activities)
    return groups[group].members.append(observer, mark: lastAdded)
  }

  /// - Parameter moved: See `ItemList.remove`.
  mutating func remove(
    _ observer: Loop.Observer, at place: Int, moved: (Loop.Observer, Int) -> Void
  ) {
    guard let group = group(of: observer) else { return }
    forgetOrder(group)
    groups[group].members.remove(at: place, moved: moved)
    if !groups[group].members.isEmpty { return }
    watched = groups.reduce([]) { $1.members.isEmpty ? $0 : $0.union($1.activities) }
  }

  /// The observers of an activity, in order: they stay the same whatever their handlers change.
  @inline(__always)
  mutating func observers(of activity: Activity) -> [Loop.Observer] {
    if inOrder.isEmpty { return [] }
    return inOrder[activity.rawValue.trailingZeroBitCount] ?? sorted(activity)
  }

  @inline(never)
  private mutating func sorted(_ activity: Activity) -> [Loop.Observer] {
    var found: [(observer: Loop.Observer, added: UInt64)] = []
    for group in groups where group.activities.contains(activity) {
      group.members.forEachMarked { found.append(($0, $1)) }
    }
    found.sort { first, second in
      let (one, other) = (first.observer.order, second.observer.order)
      return one != other ? one < other : first.added < second.added
    }
    let observers = found.map(\.observer)
    inOrder[activity.rawValue.trailingZeroBitCount] = observers
    return observers
  }

  private func group(of observer: Loop.Observer) -> Int? {
    let activities = observer.activities.intersection(.all)
    return groups.firstIndex { $0.activities == activities }
  }

  private mutating func makeGroup(_ observer: Loop.Observer) -> Int {
    groups.append(Group(activities: observer.activities.intersection(.all)))
    return groups.count - 1
  }

  private mutating func forgetOrder(_ group: Int) {
    for (_, activity) in Activity.named where groups[group].activities.contains(activity) {
      inOrder[activity.rawValue.trailingZeroBitCount] = nil
    }
  }
}

extension ObserverList: Sequence {
  /// Goes through the observers that are there now, in no particular order.
  func makeIterator() -> Array<Loop.Observer>.Iterator {
    var all: [Loop.Observer] = []
    for group in groups { for observer in group.members { all.append(observer) } }
    return all.makeIterator()
  }
}
