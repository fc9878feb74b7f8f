// Sources, ports, descriptors and observers: adding them to modes, and taking them out.

extension Loop {
  /// Adds an item to modes, so that it takes part in runs of them.
  ///
  /// `.common` adds it to every common mode, now and later (R91). Twice is once (R47).
  /// - Parameters:
  ///   - item: A source, port, descriptor source, observer or timer.
  ///   - names: The modes.
  /// - Throws: `LoopError` if the item is invalid, on another loop that must be its only one, or if
  ///   the system refuses its descriptor; it is then in none of the modes that are left.
  /// - Note: Loop thread only; inside `change` from elsewhere.
  /// - SeeAlso: counterparts `CFRunLoopAddSource`, `CFRunLoopAddTimer`, `CFRunLoopAddObserver`.
  public func add(_ item: Item, modes names: [ModeName] = [.default]) throws(LoopError) {
    requireThread("add")
    guard !hasEnded else { throw .loopEnded(name) }
    guard item.isValid else { throw .invalidItem(item.label) }
    guard item.isAtHome else { throw .madeForAnotherThread(item.label) }
    if let timer = item.timer { return try add(timer: timer, names) }
    try claim(item)
    guard item.isValid else {  // Another thread has ended it since it was looked at.
      leaveAllModes(item)
      throw .invalidItem(item.label)
    }
    if names.contains(.common) && !isCommonItem(standIn(for: item, in: nil)) {
      let place = items.common.append(item)
      changePlaces(of: item) { $0.common = Int32(place) }
      noteEqual(item, in: nil)
    }
    defer { releaseIfNowhere(item) }
    for name in names {
      do {
        for mode in modes(for: name) { try join(item, mode) }
      } catch {
        if name == .common { forgetCommon(item) }
        throw error
      }
    }
  }

  /// Removes an item from modes; it stays valid and can be added again.
  ///
  /// `.common` removes a common item from every common mode, and has no effect on any other (R131).
  /// Removed from one common mode, it stays in the others and stays a common item (R93). Modes that
  /// it is not in are ignored. A source stands for those it is equal to (R143).
  /// - Note: Loop thread only; inside `change` from elsewhere.
  public func remove(_ item: Item, modes names: [ModeName] = [.default]) {
    requireThread("remove")
    if let id = timerID(item) { return remove(id, names) }
    for name in names {
      if name == .common {
        let common = standIn(for: item, in: nil)
        guard isCommonItem(common) else { continue }
        forgetCommon(common)
        for mode in modes.common { takeOut(item, mode) }
        if common !== item { releaseIfNowhere(common) }
      } else if let mode = findMode(name) {
        takeOut(item, mode)
      }
    }
    releaseIfNowhere(item)
  }

  private func takeOut(_ item: Item, _ mode: Mode) {
    let standIn = standIn(for: item, in: mode)
    leave(standIn, mode)
    if standIn !== item { releaseIfNowhere(standIn) }
  }

  /// Whether an item is in a mode; for `.common`, whether it is a common item.
  /// - Note: Loop thread only.
  public func contains(_ item: Item, mode name: ModeName = .default) -> Bool {
    requireThread("contains")
    if let id = timerID(item) { return contains(id, name) }
    if name == .common { return isCommonItem(standIn(for: item, in: nil)) }
    guard let mode = findMode(name) else { return false }
    return place(of: standIn(for: item, in: mode), in: mode) != nil
  }

  /// The names of the modes of this loop that an item is in. Loop thread only.
  /// - Complexity: O(n) in those modes.
  public func modes(of item: Item) -> [ModeName] {
    requireThread("modes(of:)")
    if let id = timerID(item) { return modeNames(of: id) }
    return places(of: item).modes.map { modes[$0].name }
  }

  // MARK: Belonging

  private func claim(_ item: Item) throws(LoopError) {
    let isOwned = item.claim(for: self)
    if isOwned, let guest = items.guests.removeValue(forKey: ObjectIdentifier(item)) {
      item.settle(guest, on: self)
    }
    try item.join(self, isOwned: isOwned)
  }

  /// Where an item stands in this loop; a source or port may be in several loops.
  @inline(__always)
  func places(of item: Item) -> Places {
    item.isOwned(by: self) ? item.places : items.guests[ObjectIdentifier(item)]?.places ?? Places()
  }

  /// Calls a body for each mode that an item is in; counts no reference for the default mode.
  @inline(__always)
  func forEachMode(of item: Item, _ body: (Mode) -> Void) {
    func visit(_ index: Int) { if index == 0 { body(defaultMode) } else { body(modes[index]) } }
    if item.isOwned(by: self) {
      item.places.forEachMode(visit)
    } else {
      places(of: item).forEachMode(visit)
    }
  }

  /// The place of an item in the list of a mode; nil if it is not in that.
  @inline(__always)
  func place(of item: Item, in mode: Mode) -> Int? {
    item.isOwned(by: self)
      ? item.places.place(in: mode.index)
      : items.guests[ObjectIdentifier(item)]?.places.place(in: mode.index)
  }

  private func changePlaces(of item: Item, _ body: (inout Places) -> Void) {
    if item.isOwned(by: self) { return body(&item.places) }
    let id = ObjectIdentifier(item)
    body(&items.guests[id, default: Guest()].places)
    if let rest = items.guests[id]?.places, rest.isEmpty && !rest.isCommon {
      items.guests[id] = nil
    }
  }

  private func isCommonItem(_ item: Item) -> Bool { places(of: item).isCommon }

  private func forgetCommon(_ item: Item) {
    let places = places(of: item)
    guard places.isCommon else { return }
    items.common.remove(at: Int(places.common)) { item, place in
      changePlaces(of: item) { $0.common = Int32(place) }
    }
    changePlaces(of: item) { $0.common = -1 }
    forgetEqual(item, in: nil)
  }

  /// An item that is in no mode here, and is no common item, belongs here no more.
  private func releaseIfNowhere(_ item: Item) {
    let places = places(of: item)
    guard places.isEmpty, !places.isCommon else { return }
    let isOwned = item.isOwned(by: self)
    item.leave(self, isOwned: isOwned)
    if isOwned { item.release() }
  }

  /// Removes an item from everything, at its end.
  func leaveAllModes(_ item: Item) {
    forgetCommon(item)
    forEachMode(of: item) { leave(item, $0) }
    releaseIfNowhere(item)
    if !item.isValid { item.letGo() }
  }

  /// How many places items, timers and turns have in other modes than the default one. Loop thread
  /// only.
  package var placesInModes: Int { items.places }
  /// Approximate bytes of each.
  package static let placeFootprint = 96

  /// Something has come into a mode, or has left it.
  @inline(__always)
  func countPlace(in mode: Mode, _ change: Int) {
    if mode.index > 0 { countPlace(change) }
  }

  /// A few more or less make no difference to those that count them.
  @inline(never)
  private func countPlace(_ change: Int) {
    items.places += change
    if abs(items.places - items.placesTold) < 64 { return }
    items.placesTold = items.places
    for hook in hooks.whenPlacesChange { hook.body() }
  }

  // MARK: Joining and leaving a mode

  func join(_ item: Item, _ mode: Mode) throws(LoopError) {
    if standIn(for: item, in: mode) !== item || place(of: item, in: mode) != nil { return }
    guard item.isValid else { throw .invalidItem(item.label) }  // The program's `==` has ended it.
    try item.willJoin(mode, of: self)
    let place = item.enlist(in: mode)
    changePlaces(of: item) { $0.set(place, in: mode.index) }
    countPlace(in: mode, 1)
    if item.holdsRuns { mode.holders += 1 }
    noteEqual(item, in: mode)
    item.didJoin(mode, of: self)
  }

  func leave(_ item: Item, _ mode: Mode) {
    guard let place = place(of: item, in: mode) else { return }
    changePlaces(of: item) { $0.leave(mode.index) }
    countPlace(in: mode, -1)
    if item.holdsRuns { mode.holders -= 1 }
    item.strike(from: mode, of: self, at: place) { item, place in
      changePlaces(of: item) { $0.set(place, in: mode.index) }
    }
    forgetEqual(item, in: mode)
    item.didLeave(mode, of: self)
  }

  /// Whether an item keeps a run going; if false, a run ends when nothing else is left.
  /// - Note: Loop thread only.
  public func setKeepsAlive(_ item: Item, _ holds: Bool) {
    requireThread("setKeepsAlive")
    if let timer = item.timer {
      timer.keepsLoopAlive = holds
      return
    }
    setHolds(item: item, holds)
  }

  /// Sets it for a descriptor, on the thread of the loop; not checked: a stream whose task reads in
  /// a row does it twice a message.
  package func setHolds(_ source: DescriptorSource, _ holds: Bool) {
    setHolds(item: source, holds)
  }

  /// The class of an item is known where this is inlined, which saves a lookup.
  @inline(__always)
  private func setHolds<Kind: Item>(item: Kind, _ holds: Bool) {
    let before = item.holdsRuns
    item.holds = holds
    let change = (item.holdsRuns ? 1 : 0) - (before ? 1 : 0)
    if change != 0 { forEachMode(of: item) { $0.holders += change } }
  }
}
