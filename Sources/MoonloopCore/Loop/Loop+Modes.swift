// Modes, common modes, and which items are in which (R87 to R95).

/// How much of each kind a mode has.
package struct ModeContents: Sendable, Equatable {
  package var isCommon = false
  package var timers = 0
  package var sources = 0
  package var descriptors = 0
  package var ports = 0
  package var observers = 0
  /// Blocks and requests that wait for it.
  package var blocks = 0
  /// Nothing in it keeps a run going.
  package var isEmpty = true
}

extension Loop {
  /// When the pass under way has begun, or a later moment of it. Loop thread only.
  package var passBegan: Int64 { time.now }

  /// Whether a stop is remembered for the next run. Loop thread only.
  package var hasPendingStop: Bool { stops.pending != nil }

  /// The names of the modes that have been used so far. Loop thread only.
  /// - Complexity: O(n) in the modes.
  public var modeNames: [ModeName] {
    requireThread("modeNames")
    return modes.map(\.name)
  }

  /// Whether a mode is one of the common modes. Loop thread only.
  public func isCommonMode(_ name: ModeName) -> Bool {
    requireThread("isCommonMode")
    return findMode(name)?.isCommon ?? false
  }

  /// Makes a mode a common mode, for good; it gets all common items (R90, R92).
  ///
  /// No effect if it is one already, or for the pseudo-mode itself.
  /// - Complexity: O(n log n) in the common items.
  /// - Note: Loop thread only.
  /// - SeeAlso: counterpart `CFRunLoopAddCommonMode`.
  @discardableResult
  public func addCommonMode(_ name: ModeName) -> [LoopError] {
    requireThread("addCommonMode")
    guard name != .common else { return [] }
    let mode = mode(name)
    guard !mode.isCommon else { return [] }
    modes.noteCommon(mode)
    var failures: [LoopError] = []
    for item in items.common where item.isValid {
      do throws(LoopError) { try join(item, mode) } catch { failures.append(error) }
    }
    for slot in timerState.common.sorted() where timers.records[Int(slot)].flags.contains(.valid) {
      join(timerInSlot: Int(slot), mode)
    }
    for turn in defaultMode.turns.elements where turn.isCommon { joinTurn(turn.number, mode) }
    return failures
  }

  /// The earliest date of the timers of a mode; nil if it has none, or is unknown (R84).
  ///
  /// Inside a timer's handler its date is the one that is served, until it is given another (R133).
  /// Timers that wait for an outer run count too (R135).
  /// - Note: Loop thread only.
  public func nextTimerDate(mode name: ModeName) -> LoopTime? {
    requireThread("nextTimerDate")
    guard let mode = findMode(name), mode.hasTimers else { return nil }
    let date = min(earliestServed(mode), earliestUnserved(mode))
    return date == .max ? nil : LoopTime(nanoseconds: date)
  }

  /// The earliest date of the timers of a mode that is still to be served. Loop thread only.
  package func nextUnservedDate(mode name: ModeName) -> LoopTime? {
    guard let mode = findMode(name), mode.hasTimers else { return nil }
    let date = earliestUnserved(mode)
    return date == .max ? nil : LoopTime(nanoseconds: date)
  }

  private func earliestUnserved(_ mode: Mode) -> Int64 {
    min(mode.timers.firstDate, mode.turns.first?.place.date ?? .max, earliestKept(mode))
  }

  /// The modes of the runs around the innermost one, from the inside. Loop thread only.
  package var outerModes: [ModeName] { runs.frames.dropLast().reversed().map(\.mode.name) }

  // MARK: Finding

  @inline(__always)
  package func findMode(_ name: ModeName) -> Mode? {
    if name == .default { return defaultMode }
    return modes.find(name)
  }

  /// A mode, made if it was never used (R89).
  package func mode(_ name: ModeName) -> Mode { findMode(name) ?? makeMode(name) }

  func makeMode(_ name: ModeName) -> Mode {
    let mode = modes.make(name)
    for hook in hooks.whenModeIsMade { hook.body(mode) }
    return mode
  }

  /// The modes that a name stands for now: itself, or all common ones.
  func modes(for name: ModeName) -> [Mode] {
    name == .common ? modes.common : [mode(name)]
  }

  // MARK: Emptiness

  /// Whether a mode contains nothing that could happen and keeps a run going (R8).
  package func isEmpty(_ mode: Mode) -> Bool {
    if mode.holders > 0 { return false }
    if mode.isCommon && mainQueue.holds && !mainQueue.isServed && !mainQueue.isElsewhere
      && kernel.mainQueueDescriptor != nil
    {
      return false
    }
    return !pending.holds(mode)
  }

  /// Whether any mode has something that could happen.
  package var hasItems: Bool { modes.contains { !isEmpty($0) } }

  /// The contents of a mode now; nil if it was never used. Loop thread only.
  package func contents(of name: ModeName) -> ModeContents? {
    guard let mode = findMode(name) else { return nil }
    return ModeContents(
      isCommon: mode.isCommon, timers: mode.timers.count + mode.turns.count,
      sources: mode.sources.count, descriptors: mode.descriptors.count + mode.files.count,
      ports: mode.ports.count, observers: mode.observers.count,
      blocks: pending.live(for: mode).count,
      isEmpty: isEmpty(mode))
  }
}
