// What a loop tells about its own doings: for `--trace`, for tests and for measurements.

/// One thing that a loop did.
public enum TraceEvent: Sendable {
  /// A run began or ended; depth 1 is the outermost.
  case run(begins: Bool, mode: ModeName, depth: Int)
  /// Observers are told of an activity, also if there are none.
  case activity(Activity, mode: ModeName)
  /// User code is about to be called: so many nanoseconds after the date of its timer, which missed
  /// so many; both are 0 for what is no timer.
  case calloutBegins(
    CalloutKind, name: String, mode: ModeName, lateness: Int64 = 0, missed: Int64 = 0)
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

extension Loop {
  func traceRun(begins: Bool, _ frame: RunFrame) {
    if isTraced { tracer?(.run(begins: begins, mode: frame.mode.name, depth: frames.count)) }
  }

  /// Calls user code and tells the tracer of it, and how long it took.
  @inline(never)
  func traced(
    _ kind: CalloutKind, _ mode: Mode, name: @autoclosure () -> String, due date: Int64? = nil,
    missed: Int64 = 0, _ body: () -> Void
  ) {
    let name = name()
    let begin = clock.now()
    tracer?(
      .calloutBegins(
        kind, name: name, mode: mode.name, lateness: date.map { max(0, begin - $0) } ?? 0,
        missed: missed))
    body()
    tracer?(.callout(kind, name: name, mode: mode.name, nanoseconds: clock.now() - begin))
  }
}
