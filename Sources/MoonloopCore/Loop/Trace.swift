// What a loop tells about its own doings: for `--trace`, for tests and for measurements.

/// One thing that a loop did.
public enum TraceEvent: Sendable {
  /// A run began or ended; depth 1 is the outermost.
  case run(begins: Bool, mode: ModeName, depth: Int)
  /// Observers are told of an activity, also if there are none.
  case activity(Activity, mode: ModeName)
  /// User code is about to be called: so many nanoseconds after the date of its timer, which missed
  /// so many; both are 0 for what is no timer. `subject` tells what is called from all others that
  /// live now: a timer by its ID, an item by its address; 0 for blocks. `at` is the loop's time.
  case calloutBegins(
    CalloutKind, name: String, mode: ModeName, lateness: Int64 = 0, missed: Int64 = 0,
    subject: UInt64 = 0, at: Int64 = 0)
  /// User code was called and has returned.
  case callout(CalloutKind, name: String, mode: ModeName, nanoseconds: Int64)
}

/// The kinds of user code that a loop calls.
public enum CalloutKind: String, Sendable, CaseIterable {
  case timer, source, port, descriptor, observer, block
  case mainQueue = "main queue"
}

/// Told of what a loop does, on its thread.
public typealias Tracer = (TraceEvent) -> Void

/// One of several who are told of what a loop does. Loop thread only.
package final class TraceWatcher {
  /// Whether it looks at the names of what is called; making them is most of the cost.
  fileprivate let wantsNames: Bool
  /// Whether it is no part of what scripts do: then it may be there in a replay alone.
  fileprivate let looksOn: Bool
  fileprivate let body: Tracer

  package init(wantsNames: Bool, looksOn: Bool = false, _ body: @escaping Tracer) {
    self.wantsNames = wantsNames
    self.looksOn = looksOn
    self.body = body
  }
}

extension Loop {
  /// Has somebody told of every stage and call-out, beside `tracer` and others. Loop thread only.
  package func add(watcher: TraceWatcher) {
    watchers.append(watcher)
    lookWhoTraces()
  }

  package func remove(watcher: TraceWatcher) {
    watchers.removeAll { $0 === watcher }
    lookWhoTraces()
  }

  func lookWhoTraces() {
    isTraced = tracer != nil || !watchers.isEmpty
    tracesNames = tracer != nil || watchers.contains(where: \.wantsNames)
    isOnlyLookedOn = tracer == nil && watchers.allSatisfy(\.looksOn)
  }

  @inline(never)
  func tell(_ event: TraceEvent) {
    tracer?(event)
    for watcher in watchers { watcher.body(event) }
  }

  func traceRun(begins: Bool, _ frame: RunFrame) {
    if isTraced { tell(.run(begins: begins, mode: frame.mode.name, depth: frames.count)) }
  }

  /// The time, for the tracers: beside the intake if they are no part of it.
  private var tracedTime: Int64 { isOnlyLookedOn ? Intake.aside { clock.now() } : clock.now() }

  /// Calls the code of an item and tells of it.
  func traced(_ kind: CalloutKind, _ mode: Mode, _ item: Item, _ body: () -> Void) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(item).toOpaque())
    traced(kind, mode, name: item.name, subject: UInt64(address), body)
  }

  /// Calls user code and tells of it, and how long it took.
  @inline(never)
  func traced(
    _ kind: CalloutKind, _ mode: Mode, name: @autoclosure () -> String, subject: UInt64 = 0,
    due date: Int64? = nil, missed: Int64 = 0, _ body: () -> Void
  ) {
    let name = tracesNames ? name() : ""
    let begin = tracedTime
    tell(
      .calloutBegins(
        kind, name: name, mode: mode.name, lateness: date.map { max(0, begin - $0) } ?? 0,
        missed: missed, subject: subject, at: begin))
    body()
    tell(.callout(kind, name: name, mode: mode.name, nanoseconds: tracedTime - begin))
  }
}
