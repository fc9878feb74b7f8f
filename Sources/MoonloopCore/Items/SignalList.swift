// The signals of a loop's version-0 sources that were not answered yet.

/// The signals that wait, and the batches of them that are being performed. Loop thread only.
struct SignalList {
  /// In order of the signals; some may be answered already.
  let entries = Table<SignalledSource>()
  /// How many of the first entries belong to batches under way, and must stay where they are.
  var inBatches = 0
  /// The places in `entries` of the batches under way, the innermost last.
  let batches = Table<Int>()
  /// Signals that were answered, and are released one by one.
  let answered = Table<SignalledSource>()
  /// The number of the last signal.
  var last: UInt64 = 0

  func deallocate() {
    entries.deallocate()
    batches.deallocate()
    answered.deallocate()
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
