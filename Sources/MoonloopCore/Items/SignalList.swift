// The signals of a loop's version-0 sources that were not answered yet.

/// The batches of signalled sources that are being performed. Loop thread only.
///
/// Signals that wait are in the modes of their sources: see `Mode.signals`.
struct SignalList {
  /// The batches under way, the innermost last; each holds its sources.
  let batches = Table<BatchedSource>()
  /// How many of those may be taken by nested runs too: they stand in their modes again.
  var givenBack = 0
  /// The number of the last signal.
  var last: UInt64 = 0

  @inline(__always) var hasKept: Bool { givenBack < batches.count }

  func deallocate() { batches.deallocate() }
}

/// A source that was signalled, and the number of that signal in its loop: plain words, so that the
/// lists are tables. They hold no references: a source waits in the modes that it is in.
struct SignalledSource: BitwiseCopyable {
  let source: Unmanaged<Loop.Source>
  let number: UInt64

  @inline(__always)
  init(_ source: Loop.Source, number: UInt64) {
    self.source = .passUnretained(source)
    self.number = number
  }

  @inline(__always)
  func withSource<Result>(_ body: (Loop.Source) -> Result) -> Result {
    source._withUnsafeGuaranteedRef(body)
  }

  @inline(__always)
  func precedes(_ other: SignalledSource) -> Bool {
    let (mine, others) = (withSource { $0.order }, other.withSource { $0.order })
    return mine != others ? mine < others : number < other.number
  }
}

/// One of a batch, and the index of the mode in which it is performed. The batch holds the source,
/// by hand.
struct BatchedSource: BitwiseCopyable {
  let signal: SignalledSource
  let mode: Int

  @inline(__always)
  init(retaining signal: SignalledSource, mode: Int) {
    _ = signal.source.retain()
    self.signal = signal
    self.mode = mode
  }

  /// Ends the hold of the batch. It may be the last: then a deinit runs, which may do anything.
  @inline(__always)
  func release() { signal.source.release() }
}
