// Version-0 sources and perform requests: performs what was signalled (R39 to R49, R111).

extension Loop {
  /// Performs all signalled sources of a mode, or one, and the perform requests that wait for it.
  /// - Returns: Whether anything was performed (R52).
  @inline(__always)
  package func performSources(_ mode: Mode, onlyOne: Bool) -> Bool {
    drainInbox()
    let hasSignals = !mode.signals.isEmpty || signals.hasKept
    if !pending.hasRequests && !hasSignals { return false }
    return performWaiting(mode, hasSignals: hasSignals, onlyOne: onlyOne)
  }

  /// Requests, then sources; what a request signals waits for the next pass (R43, R44).
  private func performWaiting(_ mode: Mode, hasSignals: Bool, onlyOne: Bool) -> Bool {
    let batch = hasSignals ? takeBatch(mode, onlyOne: onlyOne) : 0..<0
    var any = false
    if pending.hasRequests { any = performTaken(pending.takeRequests(for: mode), mode, .requests) }
    if !batch.isEmpty && yields(before: .sources) {
      endBatch(batch)
      return any
    }
    let mustYield = hooks.mustYield
    for index in batch {
      if any && onlyOne || mustYield?() == true { break }  // The others stay marked (R43).
      let done = signals.batches[index].signal.withSource { source in
        guard source.isValid, source.takeMark() else { return false }  // R45, R48
        forgetSignal(of: source)
        callOut(to: source, mode)
        return true
      }
      any = any || done
    }
    if hasSignals { endBatch(batch) }
    return any
  }

  /// Finds the signalled sources that are performed now: the set is fixed (R44), and equal orders
  /// are in order of their signals (R42).
  /// - Returns: Where in `batches` they are.
  private func takeBatch(_ mode: Mode, onlyOne: Bool) -> Range<Int> {
    if signals.hasKept { giveBackBatches() }
    let start = signals.batches.count
    var held: [SignalledSource] = []
    if onlyOne && hooks.eventOrder == nil {
      while signals.batches.count == start, let signal = takeFirstSignal(mode) {
        take(signal, mode, &held)
      }
    } else {
      takeAllSignals(mode, &held)
    }
    for signal in held { signal.withSource { noteSignalled($0, signal.number, mode) } }
    if hooks.eventOrder != nil { drawOrder(of: start..<signals.batches.count) }
    return start..<signals.batches.count
  }

  private func takeAllSignals(_ mode: Mode, _ held: inout [SignalledSource]) {
    let start = signals.batches.count
    var isSorted = true
    for index in 0..<mode.signals.count {
      let signal = mode.signals[index]
      setMark(of: signal, mode, 0)
      if signals.batches.count > start,
        signal.precedes(signals.batches[signals.batches.count - 1].signal)
      {
        isSorted = false
      }
      take(signal, mode, &held)
    }
    mode.signals.removeAll()
    if isSorted { return }
    let batch = (start..<signals.batches.count).map { signals.batches[$0] }
    for (index, one) in batch.sorted(by: { $0.signal.precedes($1.signal) }).enumerated() {
      signals.batches[start + index] = one
    }
  }

  /// Puts a signal that was removed from the mode's heap into the batch, if it can be answered now.
  ///
  /// A source of this loop that is suspended comes back when it is resumed, so that no pass looks
  /// at it. One that belongs to another loop is reported to that loop alone, and waits here.
  @inline(__always)
  private func take(
    _ signal: SignalledSource, _ mode: Mode, _ held: inout [SignalledSource]
  ) {
    signal.withSource { source in
      guard source.isSignalled, source.isValid else { return }
      if source.isSuspended {
        if !source.isOwned(by: self) { held.append(signal) }
      } else {
        signals.batches.append(BatchedSource(retaining: signal, mode: mode.index))
      }
    }
  }

  /// A nested run performs what an outer batch has not come to yet: it waits in its modes again.
  @inline(never)
  func giveBackBatches() {
    for index in signals.givenBack..<signals.batches.count { giveBack(signals.batches[index]) }
    signals.givenBack = signals.batches.count
  }

  @inline(__always)
  private func giveBack(_ one: BatchedSource) {
    one.signal.withSource { source in
      guard source.isSignalled, signalNumber(of: source) == one.signal.number else { return }
      noteSignalled(source, one.signal.number, modes[one.mode])
    }
  }

  /// Releases a batch; unanswered signals wait again. A deinit may signal another source.
  private func endBatch(_ batch: Range<Int>) {
    while signals.batches.count > batch.lowerBound {
      let one = signals.batches[signals.batches.count - 1]
      signals.batches.removeLast()
      signals.givenBack = min(signals.givenBack, signals.batches.count)
      giveBack(one)
      one.release()
    }
  }

  /// Releases all batches, at the end of the loop.
  func forgetSignalled() { endBatch(0..<signals.batches.count) }

  /// Permutes what is signalled at once among sources of the same order.
  @inline(never)
  private func drawOrder(of batch: Range<Int>) {
    let order = { [signals] (index: Int) in
      signals.batches[index].signal.withSource { $0.order }
    }
    var start = batch.lowerBound
    while start < batch.upperBound {
      var end = start + 1
      while end < batch.upperBound, order(end) == order(start) { end += 1 }
      while end - start > 1 {
        let drawn = start + (hooks.eventOrder?.draw(below: end - start) ?? 0)
        (signals.batches[start], signals.batches[drawn]) = (
          signals.batches[drawn], signals.batches[start]
        )
        start += 1
      }
      start += 1
    }
  }
}
