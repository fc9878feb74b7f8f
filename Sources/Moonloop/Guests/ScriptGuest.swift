// A guest as its host sees it: an item, handlers that decide about it, and calls under way.
//
// Where it runs depends on its class: on a loop of this thread (`LocalGuest`), or in its own
// process (`IsolatedGuest`).

internal import LuaEmbed
internal import MoonloopCore

/// What a guest may use, besides the limits of its state.
struct GuestLimits {
  var state = LuaLimits().orUsual
  /// The share of the host's time that it may take, from 0 to 1.
  var share = 1.0
  /// What it may do in a second; `.max`: as much as it likes.
  var rates = GuestAmounts(all: .max)
  /// How many bytes it may write per second.
  var output = 1 << 20
  /// The maximum size of a value sent to a guest in its own process, or back.
  var message: Int { min(StructuredClone.sizeLimit, max(1 << 20, (state.memory ?? .max) / 8)) }
}

/// One guest. Thread of the host's loop only.
class ScriptGuest {
  unowned(unsafe) final let host: Runtime  // it ends all its items before it goes
  unowned(unsafe) private(set) final var source: Loop.Source! = nil  // holds this
  final let limits: GuestLimits
  /// The host's functions, under the names that the guest uses.
  final let functions: [ExactText: LuaReference]
  /// Which handlers the host has for it.
  final var hearsOutput = false
  final var hearsLimits = false
  /// Whether it may keep a run of the host going.
  final var mayHold = true { didSet { settle() } }
  /// The modes it was in when it was suspended; nil: it is not suspended.
  private final var modesBefore: [ModeName]?
  /// Ends a suspension that a limit began.
  private final var resumption: Loop.Timer? { didSet { oldValue?.invalidate() } }
  /// The calls under way: they fail when it ends, started or not.
  private final var calls: [ObjectIdentifier: CrossingWait] = [:]
  private final var events: ArraySlice<GuestEvent> = []

  static func of(_ source: Loop.Source) -> ScriptGuest? { source.state(as: ScriptGuest.self) }

  required init(_ host: Runtime, _ limits: GuestLimits, _ functions: [ExactText: LuaReference]) {
    (self.host, self.limits, self.functions) = (host, limits, functions)
  }

  final var isSuspended: Bool { modesBefore != nil }
  final var status: StaticString {
    hasEnded ? "ended" : isSuspended ? "suspended" : isBusy ? "running" : "idle"
  }

  /// Makes the item. It is in no mode yet.
  final func makeSource(_ name: String) -> Loop.Source {
    // Unowned: the source holds it.
    let source = Loop.Source(
      order: 0, name: name,
      schedule: { [unowned self] _, _, mode in join(mode) },
      cancel: { [unowned self] _, _, mode in leave(mode) }, isConfined: true, perform: { _ in })
    self.source = source
    return source
  }

  // MARK: What each class does

  var hasEnded: Bool { true }
  /// Whether it has something left to wait for.
  var isBusy: Bool { false }
  /// Whether an item of the host's loop serves it.
  func isServed(by item: Loop.Item) -> Bool { false }
  /// It starts or stops being served in a mode.
  func join(_ mode: ModeName) {}
  func leave(_ mode: ModeName) {}
  /// Makes it be served when it next has something to do.
  func settle() {}
  /// It was suspended, or resumed.
  func suspensionChanged() {}
  /// Calls one of its global functions; the wait gets the outcome.
  func begin(_ call: GuestCall, _ wait: CrossingWait) {}
  /// Makes its events be delivered soon.
  func tellSoon() {}
  /// What it has used so far.
  var usage: GuestUsage { GuestUsage() }
  /// Ends everything it has, now or when its turn is over.
  func close() {}

  // MARK: Modes

  /// Removes it from all modes: none of its code runs until `resume`.
  final func suspend() {
    resumption = nil
    guard !hasEnded, !isSuspended else { return }
    let isCommon = host.loop.contains(source, mode: .common)
    let modes = host.loop.modes(of: source)
    modesBefore =
      isCommon ? [.common] + modes.filter { !host.loop.isCommonMode($0) } : modes
    host.loop.remove(source, modes: modesBefore!)
    suspensionChanged()
  }

  /// Puts it back.
  final func resume() {
    resumption = nil
    guard !hasEnded, let modes = modesBefore else { return }
    modesBefore = nil
    try? host.loop.add(source, modes: modes)
    suspensionChanged()
    settle()
  }

  // MARK: Calls of the host

  final func add(_ wait: CrossingWait) {
    let id = ObjectIdentifier(wait)
    calls[id] = wait
    wait.whenOver = { [weak self] in self?.calls[id] = nil }
  }

  final var hasCalls: Bool { !calls.isEmpty }

  final func failCalls() {
    resumption = nil
    for wait in calls.values { wait.finish(.failure(.ended)) }
  }

  // MARK: Effects on the host

  final func note(_ event: GuestEvent) {
    events.append(event)
    tellSoon()
  }

  /// How many events may wait before further output is joined to the last, and up to which size: a
  /// guest may write a byte at a time.
  private static let apart = 64
  private static let joined = 1 << 16

  /// Something was written.
  /// - Parameter state: The state whose memory it counts as; nil: none.
  final func note(
    output stream: Int32, _ bytes: UnsafeRawBufferPointer, chargedTo state: LuaState? = nil
  ) {
    var piece: [UInt8] = []
    var charge: MemoryCharge?
    if events.count >= Self.apart, case .output(stream, let last, _)? = events.last,
      last.count < Self.joined, case .output(_, let taken, let held)? = events.popLast()
    {
      (piece, charge) = (taken, held)
    }
    piece += bytes
    state?.charge(piece.count, to: &charge)
    note(.output(stream, piece, charge))
  }

  final func tellEvents() {
    while !hasEnded, let event = events.popFirst() {
      switch event {
      case .output(let stream, let bytes, _):
        if stream != 1 || !host.tell(self, output: bytes) {
          host.write(WorkerOutput(stream: stream, bytes: bytes))
        }
      case .error(let failure): host.report(host.error(of: failure), .item(source), isOwn: false)
      case .limit(let what): obey(host.ask(self, limit: what), what)
      case .over: host.end(source)
      }
    }
  }

  /// Decides what happens to it now that it is over a limit.
  /// - Parameter verdict: nil: its host has not decided.
  func obey(_ verdict: GuestVerdict?, _ what: String) {
    switch verdict ?? (what == "stops" ? .end : .warn) {
    case .warn: break
    case .end: host.end(source)
    case .suspend(let seconds):
      suspend()
      guard let seconds, !hasEnded else { return }
      let timer = Loop.Timer(after: .nanoseconds(seconds)) { [weak self] _ in self?.resume() }
      resumption = timer
      let modes = modesBefore ?? []
      try? host.loop.add(timer, modes: modes.isEmpty ? [.default] : modes)
    }
  }

  /// Its output and errors while ending.
  final func tellLast() {
    let last = events
    events = []
    for event in last {
      switch event {
      // Its handler has gone with it: what is meant for that goes nowhere else.
      case .output(let stream, let bytes, _) where stream != 1 || !hearsOutput:
        host.write(WorkerOutput(stream: stream, bytes: bytes))
      case .error(let failure):
        if host.isClosing { continue }
        host.report(host.error(of: failure), .item(source), isOwn: false)
      case .output, .limit, .over: break
      }
    }
  }

  /// Ends it once none of its code is running.
  func closeLater() { close() }
}

/// What a guest did that is reported to its host.
enum GuestEvent {
  case output(Int32, [UInt8], MemoryCharge?)
  case error(WorkerFailure)
  case limit(String)
  /// It has ended by itself.
  case over
}

/// What happens to a guest that is over a limit.
enum GuestVerdict {
  case end, warn
  /// For this many nanoseconds; nil: until it is resumed.
  case suspend(Int64?)
}
