// Version-0 sources and perform requests: what was signalled is performed (R39 to R49, R111).

extension Loop {
  /// A source was marked: it is looked at in the next source step. Loop thread only.
  @inline(__always)
  package func noteSignalled(_ source: Source) {
    signals.last &+= 1
    if source.isOwned(by: self) { source.signalNumber = signals.last }
    signals.entries.append(SignalledSource(retaining: source, number: signals.last))
  }

  /// Whether a signal of the source waits in the list.
  package func isNoted(_ source: Source) -> Bool {
    if source.isOwned(by: self) { return source.signalNumber > 0 }
    return (0..<signals.entries.count).contains {
      signals.entries[$0].isOf(source) && isLive(signals.entries[$0])
    }
  }

  /// Performs all signalled sources of a mode, or one, and the perform requests that wait for it.
  /// - Returns: Whether anything was performed (R52).
  @inline(__always)
  package func performSources(_ mode: Mode, onlyOne: Bool) -> Bool {
    drainInbox()
    var any = false
    if !requests.isEmpty { any = performTaken(requests.take(for: mode), mode) }
    if signals.entries.isEmpty || (any && onlyOne) { return any }
    return performSignalled(mode, onlyOne: onlyOne) || any
  }

  private func performSignalled(_ mode: Mode, onlyOne: Bool) -> Bool {
    let outer = signals.inBatches
    let batch = takeBatch(mode)
    signals.inBatches = signals.entries.count
    var any = false
    for index in batch {
      if any && onlyOne { break }  // The others stay marked (R43).
      let done = signals.entries[signals.batches[index]].withSource { source in
        guard source.isValid, source.takeMark() else { return false }  // R45, R48
        callOut(to: source, mode)
        return true
      }
      any = any || done
    }
    while signals.batches.count > batch.lowerBound { signals.batches.removeLast() }
    signals.inBatches = outer
    forgetAnswered()
    return any
  }

  /// Finds the signalled sources that are performed now: the set is fixed (R44), and equal orders
  /// are in order of their signals (R42).
  /// - Returns: Where in `batches` their places are.
  private func takeBatch(_ mode: Mode) -> Range<Int> {
    let start = signals.batches.count
    var isSorted = true
    for place in 0..<signals.entries.count {
      let entry = signals.entries[place]
      guard isPerformed(entry, in: mode) else { continue }
      if signals.batches.count > start,
        entry.precedes(signals.entries[signals.batches[signals.batches.count - 1]])
      {
        isSorted = false
      }
      signals.batches.append(place)
    }
    if !isSorted {
      let places = (start..<signals.batches.count).map { signals.batches[$0] }
        .sorted { signals.entries[$0].precedes(signals.entries[$1]) }
      for (index, place) in places.enumerated() { signals.batches[start + index] = place }
    }
    if eventOrder != nil { drawOrder(of: start..<signals.batches.count) }
    return start..<signals.batches.count
  }

  /// Permutes what is signalled at once among sources of the same order.
  @inline(never)
  private func drawOrder(of batch: Range<Int>) {
    let order = { [signals] (index: Int) in
      signals.entries[signals.batches[index]].withSource { $0.order }
    }
    var start = batch.lowerBound
    while start < batch.upperBound {
      var end = start + 1
      while end < batch.upperBound, order(end) == order(start) { end += 1 }
      while end - start > 1 {
        let drawn = start + (eventOrder?.draw(below: end - start) ?? 0)
        (signals.batches[start], signals.batches[drawn]) = (
          signals.batches[drawn], signals.batches[start]
        )
        start += 1
      }
      start += 1
    }
  }

  /// Forgets the signals that were answered, or whose sources are gone, but for those that an outer
  /// batch may come to. What nobody else holds is let go afterwards, for a deinit may signal
  /// another source.
  private func forgetAnswered() {
    var kept = signals.inBatches
    let first = signals.answered.count
    for place in kept..<signals.entries.count {
      let entry = signals.entries[place]
      if isLive(entry) {
        signals.entries[kept] = entry
        kept += 1
      } else {
        signals.answered.append(entry)
      }
    }
    while signals.entries.count > kept { signals.entries.removeLast() }
    while signals.answered.count > first {
      let entry = signals.answered[signals.answered.count - 1]
      signals.answered.removeLast()
      entry.withSource { source in
        if source.isOwned(by: self) && source.signalNumber == entry.number {
          source.signalNumber = 0
        }
      }
      entry.release()
    }
  }

  /// Lets go of all signals, at the end of the loop.
  func forgetSignalled() {
    while signals.entries.count > 0 {
      let entry = signals.entries[signals.entries.count - 1]
      signals.entries.removeLast()
      entry.release()
    }
  }

  /// Whether the signal was not answered since, here or elsewhere, and the source is still here.
  private func isLive(_ entry: SignalledSource) -> Bool {
    entry.withSource { source in
      guard source.isSignalled, source.isValid else { return false }
      if source.isOwned(by: self) {
        return source.signalNumber == entry.number && !source.places.isEmpty
      }
      return !places(of: source).isEmpty
    }
  }

  private func isPerformed(_ entry: SignalledSource, in mode: Mode) -> Bool {
    entry.withSource { source in
      guard source.isSignalled, source.isValid, !source.isSuspended else { return false }
      if source.isOwned(by: self) {
        return source.signalNumber == entry.number && source.places.contains(mode.index)
      }
      return places(of: source).contains(mode.index)
    }
  }
}
