// The signalled sources of a mode: a heap by order and number of the signal, so that the first is
// found at once, and one that leaves the mode leaves the heap. A source's mark in `Mode.sources` is
// its place in the heap, plus one; 0: it does not wait there.

extension Loop {
  /// A source was marked: it is looked at in the next source step of a mode that it is in. Loop
  /// thread only.
  @inline(__always)
  func noteSignalled(_ source: Source) {
    signals.last &+= 1
    setSignalNumber(of: source, signals.last)
    forEachMode(of: source) { noteSignalled(source, signals.last, $0) }
  }

  /// A signalled source has joined a mode: its signal keeps its number, if it has one here (R41).
  func noteSignalled(_ source: Source, joining mode: Mode) {
    let number = signalNumber(of: source)
    if number == 0 { noteSignalled(source) } else { noteSignalled(source, number, mode) }
  }

  /// A source delivers again: a signal that was held back takes its place.
  func noteHeldSignal(_ source: Source) {
    let number = signalNumber(of: source)
    guard number > 0, source.isSignalled, !source.isSuspended else { return }
    forEachMode(of: source) { noteSignalled(source, number, $0) }
  }

  /// The number of the signal that waits in this loop; 0: none.
  @inline(__always)
  func signalNumber(of source: Source) -> UInt64 {
    source.isOwned(by: self)
      ? source.signalNumber : items.guests[ObjectIdentifier(source)]?.signalNumber ?? 0
  }

  /// The signal is answered: it waits in no mode any more.
  @inline(__always)
  func forgetSignal(of source: Source) {
    setSignalNumber(of: source, 0)
    forEachMode(of: source) { mode in
      if mode.signals.isEmpty { return }
      if let place = place(of: source, in: mode) { forgetSignal(at: place, mode) }
    }
  }

  @inline(__always)
  private func setSignalNumber(of source: Source, _ number: UInt64) {
    if source.isOwned(by: self) {
      source.signalNumber = number
    } else {
      items.guests[ObjectIdentifier(source)]?.signalNumber = number
    }
  }

  /// Removes the signal of the source at an index of a mode's list from the heap.
  @inline(__always)
  func forgetSignal(at place: Int, _ mode: Mode) {
    let mark = mode.sources.mark(at: place)
    if mark == 0 { return }
    mode.sources.setMark(at: place, 0)
    removeSignal(Int(mark) - 1, mode)
  }

  /// Removes the first signal of a mode from the heap; nil if there is none.
  func takeFirstSignal(_ mode: Mode) -> SignalledSource? {
    if mode.signals.isEmpty { return nil }
    let first = mode.signals[0]
    setMark(of: first, mode, 0)
    removeSignal(0, mode)
    return first
  }

  // MARK: The heap

  /// Has a signal wait in a mode, if its source is in that.
  @inline(__always)
  func noteSignalled(_ source: Source, _ number: UInt64, _ mode: Mode) {
    guard let place = place(of: source, in: mode) else { return }
    let mark = Int(mode.sources.mark(at: place))
    let signal = SignalledSource(source, number: number)
    if mark > 0 {
      siftDown(mark - 1, signal, mode)  // Numbers only grow.
    } else {
      mode.signals.append(signal)
      mode.sources.setMark(at: place, UInt64(mode.signals.count))
      if mode.signals.count > 1 { siftUp(mode.signals.count - 1, signal, mode) }
    }
  }

  private func removeSignal(_ index: Int, _ mode: Mode) {
    let last = mode.signals[mode.signals.count - 1]
    mode.signals.removeLast()
    if index == mode.signals.count { return }
    if index > 0 && last.precedes(mode.signals[(index - 1) / 2]) {
      siftUp(index, last, mode)
    } else {
      siftDown(index, last, mode)
    }
  }

  @inline(__always)
  private func siftUp(_ start: Int, _ signal: SignalledSource, _ mode: Mode) {
    var index = start
    while index > 0 {
      let parent = mode.signals[(index - 1) / 2]
      if !signal.precedes(parent) { break }
      put(parent, at: index, mode)
      index = (index - 1) / 2
    }
    put(signal, at: index, mode)
  }

  private func siftDown(_ start: Int, _ signal: SignalledSource, _ mode: Mode) {
    let count = mode.signals.count
    var index = start
    while 2 * index + 1 < count {
      var child = 2 * index + 1
      if child + 1 < count && mode.signals[child + 1].precedes(mode.signals[child]) { child += 1 }
      if !mode.signals[child].precedes(signal) { break }
      put(mode.signals[child], at: index, mode)
      index = child
    }
    put(signal, at: index, mode)
  }

  @inline(__always)
  private func put(_ signal: SignalledSource, at index: Int, _ mode: Mode) {
    mode.signals[index] = signal
    setMark(of: signal, mode, UInt64(index + 1))
  }

  @inline(__always)
  func setMark(of signal: SignalledSource, _ mode: Mode, _ mark: UInt64) {
    signal.withSource { source in
      if let place = place(of: source, in: mode) { mode.sources.setMark(at: place, mark) }
    }
  }
}
