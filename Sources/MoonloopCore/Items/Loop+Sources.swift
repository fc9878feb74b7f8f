// Version-0 sources and perform requests: what was signalled is performed (R39 to R49, R111).

extension Loop {
  /// A source was marked: it is looked at in the next source step. Loop thread only.
  @inline(__always)
  package func noteSignalled(_ source: Source) {
    lastSignal &+= 1
    if source.isOwned(by: self) { source.signalNumber = lastSignal }
    signalled.append(SignalledSource(retaining: source, number: lastSignal))
  }

  /// Whether a signal of the source waits in the list.
  package func isNoted(_ source: Source) -> Bool {
    if source.isOwned(by: self) && source.signalNumber == 0 { return false }
    return (0..<signalled.count).contains {
      signalled[$0].isOf(source) && isLive(signalled[$0])
    }
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
    let outer = signalledInBatches
    let batch = takeBatch(mode)
    signalledInBatches = signalled.count
    var any = false
    for index in batch {
      if any && onlyOne { break }  // The others stay marked (R43).
      let done = signalled[batches[index]].withSource { source in
        guard source.isValid, source.takeMark() else { return false }  // R45, R48
        callOut(to: source, mode)
        return true
      }
      any = any || done
    }
    while batches.count > batch.lowerBound { batches.removeLast() }
    signalledInBatches = outer
    forgetAnswered()
    return any
  }

  /// Finds the signalled sources that are performed now: the set is fixed (R44), and equal orders
  /// are in order of their signals (R42).
  /// - Returns: Where in `batches` their places are.
  private func takeBatch(_ mode: Mode) -> Range<Int> {
    let start = batches.count
    var isSorted = true
    for place in 0..<signalled.count {
      let entry = signalled[place]
      guard isPerformed(entry, in: mode) else { continue }
      if batches.count > start, entry.precedes(signalled[batches[batches.count - 1]]) {
        isSorted = false
      }
      batches.append(place)
    }
    if !isSorted {
      let places = (start..<batches.count).map { batches[$0] }
        .sorted { signalled[$0].precedes(signalled[$1]) }
      for (index, place) in places.enumerated() { batches[start + index] = place }
    }
    if eventOrder != nil { drawOrder(of: start..<batches.count) }
    return start..<batches.count
  }

  /// Permutes what is signalled at once among sources of the same order.
  @inline(never)
  private func drawOrder(of batch: Range<Int>) {
    let order = { [signalled, batches] (index: Int) in
      signalled[batches[index]].withSource { $0.order }
    }
    var start = batch.lowerBound
    while start < batch.upperBound {
      var end = start + 1
      while end < batch.upperBound, order(end) == order(start) { end += 1 }
      while end - start > 1 {
        let drawn = start + (eventOrder?.draw(below: end - start) ?? 0)
        (batches[start], batches[drawn]) = (batches[drawn], batches[start])
        start += 1
      }
      start += 1
    }
  }

  /// Forgets the signals that were answered, or whose sources are gone, but for those that an outer
  /// batch may come to. What nobody else holds is let go afterwards, for a deinit may signal
  /// another source.
  private func forgetAnswered() {
    var kept = signalledInBatches
    let first = answered.count
    for place in kept..<signalled.count {
      let entry = signalled[place]
      if isLive(entry) {
        signalled[kept] = entry
        kept += 1
      } else {
        answered.append(entry)
      }
    }
    while signalled.count > kept { signalled.removeLast() }
    while answered.count > first {
      let entry = answered[answered.count - 1]
      answered.removeLast()
      entry.release()
    }
  }

  /// Lets go of all signals, at the end of the loop.
  func forgetSignalled() {
    while signalled.count > 0 {
      let entry = signalled[signalled.count - 1]
      signalled.removeLast()
      entry.release()
    }
  }

  /// Whether the signal was not answered since, here or elsewhere, and the source is still here.
  private func isLive(_ entry: SignalledSource) -> Bool {
    entry.withSource { source in
      guard source.isSignalled, source.isValid else { return false }
      if source.isOwned(by: self) {
        return source.signalNumber == entry.number && !source.modes.isEmpty
      }
      return guestModes[ObjectIdentifier(source)] != nil
    }
  }

  private func isPerformed(_ entry: SignalledSource, in mode: Mode) -> Bool {
    entry.withSource { source in
      guard source.isSignalled, source.isValid, !source.isSuspended else { return false }
      if source.isOwned(by: self) {
        return source.signalNumber == entry.number && source.isIn(mode.index)
      }
      return guestModes[ObjectIdentifier(source)]?.contains(mode.index) == true
    }
  }
}

/// A source that was signalled, and the number of that signal in its loop: plain words, so that the
/// list of them is a table. The list holds the source, by hand.
package struct SignalledSource: BitwiseCopyable {
  private let source: Unmanaged<Loop.Source>
  let number: UInt64

  @inline(__always)
  init(retaining source: Loop.Source, number: UInt64) {
    self.source = .passRetained(source)
    self.number = number
  }

  /// Ends the hold of the list. It may be the last: then a deinit runs, which may do anything.
  func release() { source.release() }

  @inline(__always)
  func withSource<Result>(_ body: (Loop.Source) -> Result) -> Result {
    source._withUnsafeGuaranteedRef(body)
  }

  func isOf(_ other: Loop.Source) -> Bool { withSource { $0 === other } }

  func precedes(_ other: SignalledSource) -> Bool {
    let (mine, others) = (withSource { $0.order }, other.withSource { $0.order })
    return mine != others ? mine < others : number < other.number
  }
}
