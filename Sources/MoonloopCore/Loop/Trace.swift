// What a loop reports about itself: for `--trace`, for tests and for measurements.

/// One thing that a loop did.
public enum TraceEvent: Sendable {
  /// A run began or ended; depth 1 is the outermost.
  case run(begins: Bool, mode: ModeName, depth: Int)
  /// An activity is announced to observers, also if there are none.
  case activity(Activity, mode: ModeName)
  /// User code is about to be called: this many nanoseconds after the date of its timer, which
  /// missed this many fires; both are 0 if there is no timer. `subject` distinguishes what is
  /// called from all others that are alive: a timer by its ID, an item by its address; 0 for
  /// blocks. `at` is the loop's time.
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

/// Receives what a loop does, on its thread.
public typealias Tracer = (TraceEvent) -> Void

/// One of several tracers of a loop. Loop thread only.
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

/// The tracer of a loop, and what it needs. Loop thread only.
struct Tracing {
  var tracer: Tracer? { didSet { look() } }
  var watchers: [TraceWatcher] = [] { didSet { look() } }
  /// Whether there is a tracer.
  private(set) var isOn = false
  /// Whether it wants the names of what is called.
  fileprivate private(set) var wantsNames = false
  /// Whether no part of what scripts do traces.
  fileprivate private(set) var onlyLooksOn = true

  private mutating func look() {
    isOn = tracer != nil || !watchers.isEmpty
    wantsNames = tracer != nil || watchers.contains(where: \.wantsNames)
    onlyLooksOn = tracer == nil && watchers.allSatisfy(\.looksOn)
  }
}

extension Loop {
  /// Called with every stage and call-out; nil costs nothing. Loop thread only.
  public var tracer: Tracer? {
    get {
      requireThread("tracer")
      return tracing.tracer
    }
    set {
      requireThread("tracer")
      changeTracing { $0.tracer = newValue }
    }
  }

  /// Ends all tracing.
  func endTracing() { changeTracing { $0 = Tracing() } }

  /// The previous tracer is released after the access: its end may trace or ask for the tracer.
  private func changeTracing(_ body: (inout Tracing) -> Void) {
    let old = tracing
    var new = old
    body(&new)
    tracing = new
    withExtendedLifetime(old) {}
  }

  /// Adds a tracer of every stage and call-out, beside `tracer` and others. Loop thread only.
  package func add(watcher: TraceWatcher) {
    changeTracing { $0.watchers.append(watcher) }
  }

  package func remove(watcher: TraceWatcher) {
    changeTracing { $0.watchers.removeAll { $0 === watcher } }
  }

  @inline(never)
  func tell(_ event: TraceEvent) {
    let tracing = tracing
    tracing.tracer?(event)
    for watcher in tracing.watchers { watcher.body(event) }
  }

  func traceRun(begins: Bool, _ frame: RunFrame) {
    if tracing.isOn { tell(.run(begins: begins, mode: frame.mode.name, depth: runs.frames.count)) }
  }

  /// The time, for the tracers: beside the intake if they are no part of it.
  private var tracedTime: Int64 { tracing.onlyLooksOn ? Intake.aside { clock.now() } : clock.now() }

  /// Calls the code of an item and reports the call.
  func traced(_ kind: CalloutKind, _ mode: Mode, _ item: Item, _ body: () -> Void) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(item).toOpaque())
    traced(kind, mode, name: item.name, subject: UInt64(address), body)
  }

  /// Calls user code and reports the call, and how long it took.
  @inline(never)
  func traced(
    _ kind: CalloutKind, _ mode: Mode, name: @autoclosure () -> String, subject: UInt64 = 0,
    due date: Int64? = nil, missed: Int64 = 0, _ body: () -> Void
  ) {
    let name = tracing.wantsNames ? name() : ""
    let begin = tracedTime
    tell(
      .calloutBegins(
        kind, name: name, mode: mode.name, lateness: date.map { max(0, begin - $0) } ?? 0,
        missed: missed, subject: subject, at: begin))
    body()
    tell(.callout(kind, name: name, mode: mode.name, nanoseconds: tracedTime - begin))
  }
}
