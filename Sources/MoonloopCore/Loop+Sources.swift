// Version-0 sources and perform requests: what was signalled is performed (R39 to R49, R111).

extension Loop {
  /// A source was marked: it is looked at in the next source step. Loop thread only.
  @inline(__always)
  package func noteSignalled(_ source: Source) {
    lastSignal &+= 1
    if source.isOwned(by: self) { source.signalNumber = lastSignal }
    signalled.append(SignalledSource(source: source, number: lastSignal))
  }

  /// Whether a signal of the source waits in the list.
  package func isNoted(_ source: Source) -> Bool {
    if source.isOwned(by: self) && source.signalNumber == 0 { return false }
    return signalled.contains { $0.source === source && isLive($0) }
  }

  /// Performs all signalled sources of a mode, or one, and the perform requests that wait for it.
  /// - Returns: Whether anything was performed (R52).
  @inline(__always)
  package func performSources(_ mode: Mode, onlyOne: Bool) -> Bool {
    drainInbox()
    var any = false
    if !requests.isEmpty { any = performTaken(requests.take(for: mode), mode) }
    if signalled.isEmpty || (any && onlyOne) { return any }
    return performSignalled(mode, onlyOne: onlyOne) || any
  }

  private func performSignalled(_ mode: Mode, onlyOne: Bool) -> Bool {
    var batch = signalled.filter { isLive($0) && isPerformed($0.source, in: mode) }
    // The set is fixed now (R44); stable sorting keeps equal orders in order of their signals (R42).
    if batch.count > 1 && zip(batch, batch.dropFirst()).contains(where: { $1.precedes($0) }) {
      batch.sort { $0.precedes($1) }
    }
    var any = false
    for entry in batch {
      if any && onlyOne { break }  // The others stay marked (R43).
      guard entry.source.isValid, entry.source.takeMark() else { continue }  // R45, R48
      any = true
      callOut(to: entry.source, mode)
    }
    forgetAnswered()
    return any
  }

  /// Forgets the signals that were answered, or whose sources are gone. What nobody else holds is
  /// let go afterwards, for a deinit may signal another source.
  private func forgetAnswered() {
    let gone = signalled.filter { !$0.source.isValid || indices(of: $0.source).isEmpty }
    withExtendedLifetime(gone) { signalled.removeAll { !isLive($0) } }
  }

  /// Whether the signal was not answered since, here or elsewhere, and the source is still here.
  private func isLive(_ entry: SignalledSource) -> Bool {
    let source = entry.source
    guard source.isSignalled, source.isValid else { return false }
    if source.isOwned(by: self) { return source.signalNumber == entry.number && source.isInAnyMode }
    return guestModes[ObjectIdentifier(source)] != nil
  }

  private func isPerformed(_ source: Source, in mode: Mode) -> Bool {
    if source.isSuspended { return false }
    return source.isOwned(by: self)
      ? source.isIn(mode.index) : guestModes[ObjectIdentifier(source)]?.contains(mode.index) == true
  }
}

/// A source that was signalled, and the number of that signal in its loop.
package struct SignalledSource {
  let source: Loop.Source
  let number: UInt64

  func precedes(_ other: SignalledSource) -> Bool {
    source.order != other.source.order
      ? source.order < other.source.order : number < other.number
  }
}
