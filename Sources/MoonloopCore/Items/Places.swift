// Where an item stands in the lists of its modes, so that it joins and leaves each in one step.

/// The modes that an item is in, in one loop, and its place in the list of each.
///
/// Most items are in one mode, and cost no memory for it; very few are in more than a handful.
struct Places {
  /// One mode and the place in its list.
  private struct Place {
    var mode: Int32
    var place: Int32

    static let none = Place(mode: -1, place: -1)
    static let inCrowd = Place(mode: -2, place: -1)
  }

  /// The modes of an item that is in very many, found by their indices.
  private final class Crowd {
    private(set) var places: [Int32: (place: Int32, joined: UInt64)] = [:]
    private var lastJoined: UInt64 = 0

    init(_ list: [Place]) {
      for place in list { set(place) }
    }

    func set(_ place: Place) {
      if places[place.mode] != nil {
        places[place.mode]?.place = place.place
      } else {
        lastJoined += 1
        places[place.mode] = (place.place, lastJoined)
      }
    }

    func remove(_ mode: Int32) { places[mode] = nil }

    var modes: [Int32] { places.sorted { $0.value.joined < $1.value.joined }.map(\.key) }
  }

  /// The modes after the first while they are few enough to be searched; else all of them.
  private enum Rest {
    case few([Place])
    case many(Crowd)
  }

  private static let fewAtMost = 8

  private var rest: Rest?
  private var first = Place.none
  /// The place among the common items of the loop; -1: it is none of them (R91).
  var common: Int32 = -1

  @inline(__always) var isEmpty: Bool { first.mode == Place.none.mode }
  @inline(__always) var isCommon: Bool { common >= 0 }

  @inline(__always)
  func contains(_ mode: Int) -> Bool { first.mode == Int32(mode) || place(in: mode) != nil }

  /// The place in the list of a mode; nil if it is not in that mode.
  @inline(__always)
  func place(in mode: Int) -> Int? {
    first.mode == Int32(mode) ? Int(first.place) : placeInRest(Int32(mode))
  }

  @inline(never)
  private func placeInRest(_ mode: Int32) -> Int? {
    switch rest {
    case nil: nil
    case .few(let list): list.first { $0.mode == mode }.map { Int($0.place) }
    case .many(let crowd): crowd.places[mode].map { Int($0.place) }
    }
  }

  /// Notes that it has joined a mode, or stands elsewhere in its list.
  @inline(__always)
  mutating func set(_ place: Int, in mode: Int) {
    let new = Place(mode: Int32(mode), place: Int32(place))
    if isEmpty || first.mode == new.mode { first = new } else { setInRest(new) }
  }

  @inline(never)
  private mutating func setInRest(_ new: Place) {
    switch rest {
    case nil: rest = .few([new])
    case .few(var list):
      if let index = list.firstIndex(where: { $0.mode == new.mode }) {
        list[index] = new
      } else {
        list.append(new)
      }
      if list.count < Self.fewAtMost {
        rest = .few(list)
      } else {
        rest = .many(Crowd([first] + list))
        first = .inCrowd
      }
    case .many(let crowd): crowd.set(new)
    }
  }

  /// Notes that it has left a mode.
  @inline(__always)
  mutating func leave(_ mode: Int) {
    if first.mode == Int32(mode), case nil = rest {
      first = .none
    } else {
      leaveOneOfMany(Int32(mode))
    }
  }

  @inline(never)
  private mutating func leaveOneOfMany(_ mode: Int32) {
    switch rest {
    case nil: break
    case .few(let list):
      let left = ([first] + list).filter { $0.mode != mode }
      first = left[0]
      rest = left.count > 1 ? .few(Array(left.dropFirst())) : nil
    case .many(let crowd):
      crowd.remove(mode)
      if crowd.places.isEmpty { (first, rest) = (.none, nil) }
    }
  }

  /// Calls a body for each mode, in order of joining.
  @inline(__always)
  func forEachMode(_ body: (Int) -> Void) {
    if first.mode >= 0 { body(Int(first.mode)) }
    if case nil = rest { return }
    forEachOfRest(body)
  }

  @inline(never)
  private func forEachOfRest(_ body: (Int) -> Void) {
    switch rest {
    case nil: break
    case .few(let list): for place in list { body(Int(place.mode)) }
    case .many(let crowd): for mode in crowd.modes { body(Int(mode)) }
    }
  }

  /// The indices of the modes, in order of joining.
  var modes: [Int] {
    var found: [Int] = []
    forEachMode { found.append($0) }
    return found
  }
}
