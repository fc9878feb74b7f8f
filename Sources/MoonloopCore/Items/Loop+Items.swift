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
    if let timer = item as? Timer { return try add(timer: timer, names) }
    try claim(item)
    guard item.isValid else {  // Another thread has ended it since it was looked at.
      leaveAllModes(item)
      throw .invalidItem(item.label)
    }
    if names.contains(.common) && !isCommonItem(item) {
      commonItems.append(item)
      if item.isOwned(by: self) { item.isCommon = true }
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

  /// Takes an item out of modes; it stays valid and can be added again.
  ///
  /// `.common` takes a common item out of every common mode, and has no effect on any other (R131).
  /// Taken out of one common mode, it stays in the others and stays a common item (R93). Modes that
  /// it is not in are ignored.
  /// - Note: Loop thread only; inside `change` from elsewhere.
  public func remove(_ item: Item, modes names: [ModeName] = [.default]) {
    requireThread("remove")
    if let timer = item as? Timer {
      if timer.isOwned(by: self) { remove(timer.id, names) }
      return
    }
    for name in names {
      if name == .common {
        guard isCommonItem(item) else { continue }
        forgetCommon(item)
        for mode in modes where mode.isCommon { leave(item, mode) }
      } else if let mode = findMode(name) {
        leave(item, mode)
      }
    }
    releaseIfNowhere(item)
  }

  /// Whether an item is in a mode; for `.common`, whether it is a common item.
  /// - Note: Loop thread only.
  public func contains(_ item: Item, mode name: ModeName = .default) -> Bool {
    if let timer = item as? Timer { return timer.isOwned(by: self) && contains(timer.id, name) }
    if name == .common { return isCommonItem(item) }
    guard let mode = findMode(name) else { return false }
    return isMember(item, mode)
  }

  /// The names of the modes of this loop that an item is in. Loop thread only.
  public func modes(of item: Item) -> [ModeName] {
    if let timer = item as? Timer { return timer.isOwned(by: self) ? modeNames(of: timer.id) : [] }
    return indices(of: item).map { modes[$0].name }
  }

  // MARK: Belonging

  private func claim(_ item: Item) throws(LoopError) {
    let isOwned = item.claim(for: self)
    if isOwned, let indices = guestModes.removeValue(forKey: ObjectIdentifier(item)) {
      settle(item, indices)
    }
    switch item {
    case let source as Source: source.join(self)
    case let port as Port: port.join(self)
    case let observer as Observer:
      guard isOwned else { throw .onAnotherLoop(item.label) }
      observer.loop = self
    case let descriptor as DescriptorSource:
      guard isOwned else { throw .onAnotherLoop(descriptor.label) }
    default: break
    }
  }

  /// The loop that had an item first has let go of it: it is this loop's own from now on.
  private func settle(_ item: Item, _ indices: [Int]) {
    for index in indices { item.noteMode(index) }
    item.isCommon = commonItems.contains { $0 === item }
    if let source = item as? Source, source.isSignalled { noteSignalled(source) }
  }

  /// The indices of an item's modes in this loop; a source may be in several loops.
  package func indices(of item: Item) -> [Int] {
    item.isOwned(by: self) ? item.modeIndices : guestModes[ObjectIdentifier(item)] ?? []
  }

  private func isMember(_ item: Item, _ mode: Mode) -> Bool {
    if item.isOwned(by: self) { return item.isIn(mode.index) }
    return guestModes[ObjectIdentifier(item)]?.contains(mode.index) ?? false
  }

  private func isNowhere(_ item: Item) -> Bool {
    item.isOwned(by: self) ? item.modes.isEmpty : guestModes[ObjectIdentifier(item)] == nil
  }

  private func noteMember(_ item: Item, _ mode: Mode) {
    if item.isOwned(by: self) {
      item.noteMode(mode.index)
    } else {
      guestModes[ObjectIdentifier(item), default: []].append(mode.index)
    }
  }

  private func forgetMember(_ item: Item, _ mode: Mode) {
    if item.isOwned(by: self) {
      item.forgetMode(mode.index)
    } else {
      let rest = guestModes[ObjectIdentifier(item)]?.filter { $0 != mode.index } ?? []
      guestModes[ObjectIdentifier(item)] = rest.isEmpty ? nil : rest
    }
  }

  private func isCommonItem(_ item: Item) -> Bool {
    item.isOwned(by: self) ? item.isCommon : commonItems.contains { $0 === item }
  }

  private func forgetCommon(_ item: Item) {
    guard isCommonItem(item) else { return }
    if item.isOwned(by: self) { item.isCommon = false }
    commonItems.removeAll { $0 === item }
  }

  /// An item that is in no mode here, and is no common item, belongs here no more.
  private func releaseIfNowhere(_ item: Item) {
    guard isNowhere(item), !isCommonItem(item) else { return }
    let isOwned = item.isOwned(by: self)
    (item as? Source)?.leave(self)
    (item as? Port)?.leave(self)
    if let descriptor = item as? DescriptorSource, isOwned { forgetToken(descriptor) }
    if isOwned { item.release() }
  }

  /// Takes an item out of everything, at its end.
  package func leaveAllModes(_ item: Item) {
    forgetCommon(item)
    for index in indices(of: item) { leave(item, modes[index]) }
    releaseIfNowhere(item)
    (item as? Observer)?.loop = nil
    if !item.isValid { item.letGo() }
  }

  // MARK: Joining and leaving a mode

  package func join(_ item: Item, _ mode: Mode) throws(LoopError) {
    if isMember(item, mode) { return }
    if let descriptor = item as? DescriptorSource { try watch(descriptor, in: mode) }
    noteMember(item, mode)
    if item.holds && !(item is Observer) { mode.holders += 1 }
    switch item {
    case let observer as Observer: mode.insert(observer)
    case let source as Source:
      mode.sources.append(source)
      if source.isSignalled && !isNoted(source) { noteSignalled(source) }  // R41
      if isApplyingPosts { wakeUp() }  // R50
      if let schedule = source.schedule { callOut { schedule(source, self, mode.name) } }
    case let port as Port:
      mode.ports.append(port)
      if port.waiting > 0 && !mode.containsReady(ReadyItem(port)) {
        mode.appendReady(ReadyItem(port))
      }
    case let descriptor as DescriptorSource:
      mode.insert(descriptor)
      if descriptor.hasReadAhead { ringReadAhead(descriptor) }
    default: break
    }
  }

  package func leave(_ item: Item, _ mode: Mode) {
    if !isMember(item, mode) { return }
    forgetMember(item, mode)
    if item.holds && !(item is Observer) { mode.holders -= 1 }
    switch item {
    case let observer as Observer: mode.remove(observer)
    case let source as Source:
      mode.sources.removeAll { $0 === source }
      // In no mode it gives up its place among equal orders; the mark stays (R41).
      if source.isOwned(by: self) && source.modes.isEmpty { source.signalNumber = 0 }
      if let cancel = source.cancel { callOut { cancel(source, self, mode.name) } }
    case let port as Port:
      mode.ports.removeAll { $0 === port }
      mode.forgetReady(port)
    case let descriptor as DescriptorSource: unwatch(descriptor, in: mode)
    default: break
    }
  }

  /// Whether an item holds a run open; set to false and a run ends when nothing else is left.
  /// - Note: Loop thread only.
  public func setKeepsAlive(_ item: Item, _ holds: Bool) {
    requireThread("setKeepsAlive")
    if let timer = item as? Timer {
      timer.keepsLoopAlive = holds
      return
    }
    guard item.holds != holds else { return }
    item.holds = holds
    if item is Observer { return }
    let change = holds ? 1 : -1
    if item.isOwned(by: self) {
      item.forEachMode { modes[$0].holders += change }
    } else {
      for index in indices(of: item) { modes[index].holders += change }
    }
  }
}
