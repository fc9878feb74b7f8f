// A guest as its host sees it: a state on a loop of its own, which the host's loop pumps.
//
// So the guest's modes, runs, items and figures are its own, and all of it goes with its loop. It
// is served where its item is: the timer and the descriptor that tell of it follow that.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// What a guest may use, beside the limits of its state.
struct GuestLimits {
  var state = LuaLimits().orUsual
  /// How much of the host's time it may take, from 0 to 1.
  var share = 1.0
  /// How many bytes it may write in a second.
  var output = 1 << 20
}

/// Where a guest is: a state and its loop.
private struct GuestPlace {
  let loop: Loop
  let lua: LuaState
  let descriptor: Loop.DescriptorSource
}

/// One guest. Thread of the host's loop only.
final class ScriptGuest {
  unowned(unsafe) let host: Runtime  // It ends all its items before it goes.
  unowned(unsafe) private(set) var source: Loop.Source! = nil  // Holds this.
  let limits: GuestLimits
  /// The host's functions, by the names that the guest calls them by.
  let functions: [String: LuaReference]
  private var place: GuestPlace?
  private var timer: Loop.Timer?
  private var start: ((Runtime) -> Void)?
  /// What is called when its script has begun.
  private var callsBefore: [(Runtime) -> Void] = []
  private var events: [GuestEvent] = []
  private var isServing = false
  private var isSettling = false
  /// In which modes it was when it was suspended; nil: it is not.
  private var modesBefore: [ModeName]?
  /// When it may be served again, on the host's clock.
  private var notBefore: Int64 = 0
  private(set) var account = GuestAccount()
  /// Which handlers the host has for it.
  var hearsOutput = false
  var hearsLimits = false

  static func of(_ source: Loop.Source) -> ScriptGuest? { source.state(as: ScriptGuest.self) }

  init(_ host: Runtime, _ limits: GuestLimits, _ functions: [String: LuaReference]) {
    (self.host, self.limits, self.functions) = (host, limits, functions)
  }

  /// Its runtime; nil once it has ended.
  var runtime: Runtime? { place?.lua.runtime }
  var isSuspended: Bool { modesBefore != nil }
  var status: StaticString {
    place == nil ? "ended" : isSuspended ? "suspended" : isBusy ? "running" : "idle"
  }

  private var isBusy: Bool { start != nil || (place?.loop.hasItems ?? false) }

  // MARK: The begin

  /// Makes the item. It is in no mode yet.
  func makeSource(_ name: String) -> Loop.Source {
    let source = Loop.Source(
      order: 0, name: name,
      schedule: { [unowned self] _, _, mode in join(mode) },
      cancel: { [unowned self] _, _, mode in leave(mode) }, isConfined: true, perform: { _ in })
    self.source = source
    return source
  }

  /// Opens its state on a loop of its own.
  /// - Parameter start: Called once, when it is first served.
  func open(
    _ name: String, _ grants: GuestGrants, start: @escaping (Runtime) -> Void
  ) throws {
    let loop = try host.loop.makeLodger(name) { [unowned self] in settle() }
    do {
      let lua = try LuaState(on: loop, limits: limits.state, guest: grants)
      let descriptor = Loop.DescriptorSource(
        try loop.pollDescriptor(), closesDescriptor: false, name: name
      ) { [unowned self] _, _ in serve() }
      place = GuestPlace(loop: loop, lua: lua, descriptor: descriptor)
    } catch {
      loop.end()
      throw error
    }
    self.start = start
    host.loop.setKeepsAlive(place!.descriptor, false)
    let timer = Loop.Timer(at: .distantFuture, every: .seconds(1 << 33), name: name) {
      [unowned self] _ in
      serve()
    }
    timer.keepsLoopAlive = false
    self.timer = timer
    setUp(place!.lua.runtime!)
  }

  private func setUp(_ runtime: Runtime) {
    runtime.errors.isHosted = true
    runtime.errors.expectsInterrupts = { [unowned self] in place == nil || Ending.isQuiet }
    runtime.errors.forward = { [unowned self, unowned runtime] error in
      note(.error(runtime.crossing(error)))
      if error.isStop { note(.limit(error.kind == .memoryLimit ? "memory" : "callout")) }
      return true
    }
    runtime.errors.write = { [unowned self] text in
      note(.error(WorkerFailure(LuaError(message: text))))
    }
    runtime.errors.onCondemned = { [unowned self] in note(.limit("stops")) }
    _ = runtime.state.divertOutput { [unowned self] stream, bytes in write(stream, bytes) }
    for name in functions.keys.sorted() { putFunction(name, runtime) }
  }

  // MARK: Modes

  private func join(_ mode: ModeName) {
    guard let place, let timer else { return }
    try? host.loop.add(place.descriptor, modes: [mode])
    try? host.loop.add(timer, modes: [mode])
  }

  private func leave(_ mode: ModeName) {
    guard let place, let timer, place.descriptor.isValid else { return }
    host.loop.remove(place.descriptor, modes: [mode])
    host.loop.remove(timer, modes: [mode])
  }

  /// Takes it out of all modes: none of its code runs until `resume`.
  func suspend() {
    guard place != nil, !isSuspended else { return }
    let isCommon = host.loop.contains(source, mode: .common)
    let modes = host.loop.modes(of: source)
    modesBefore =
      isCommon ? [.common] + modes.filter { !host.loop.isCommonMode($0) } : modes
    host.loop.remove(source, modes: modesBefore!)
  }

  /// Puts it back.
  func resume() {
    guard place != nil, let modes = modesBefore else { return }
    modesBefore = nil
    try? host.loop.add(source, modes: modes)
    settle()
  }

  // MARK: Calls of the host

  /// The calls under way: they fail when it ends, begun or not.
  private var calls: [ObjectIdentifier: CrossingWait] = [:]

  func add(_ wait: CrossingWait) {
    calls[ObjectIdentifier(wait)] = wait
    wait.whenOver = { [weak self, unowned wait] in self?.calls[ObjectIdentifier(wait)] = nil }
  }

  // MARK: Serving

  /// How many passes it gets in one turn.
  private static let passes = 8

  private func serve() {
    guard let place, !isServing, !isSuspended, host.loop.clock.now() >= notBefore else {
      return settle()
    }
    isServing = true
    let began = host.loop.clock.now()
    place.loop.inPlace {
      if let start {
        self.start = nil
        start(place.lua.runtime!)
        let calls = callsBefore
        callsBefore = []
        for call in calls { call(place.lua.runtime!) }
      }
      _ = place.loop.pump(limit: Self.passes)
      _ = place.lua.idleCollect()
    }
    let took = host.loop.clock.now() - began
    account.note(turn: took)
    if limits.share < 1 {
      notBefore = began + took + Int64(Double(took) * (1 / limits.share - 1))
    }
    isServing = false
    tellEvents()
    settle()
  }

  /// Has a body called once its script has begun: now, or when it is first served.
  func whenBegun(_ body: @escaping (Runtime) -> Void) {
    if start != nil { return callsBefore.append(body) }
    if let runtime { body(runtime) }
    settle()
  }

  /// Has it served when it next has something to do.
  func settle() {
    guard let place, let timer, !isServing, !isSettling else { return }
    isSettling = true
    defer { isSettling = false }
    let date =
      start == nil ? place.loop.nextDate()?.nanoseconds : host.loop.clock.now()
    host.loop.setKeepsAlive(source, isBusy && !isSuspended)
    timer.nextFire = date.map { LoopTime(nanoseconds: max($0, notBefore)) } ?? .distantFuture
  }

  // MARK: What it does to the host

  private func write(_ stream: Int32, _ bytes: UnsafeRawBufferPointer) {
    let second = host.loop.clock.now() / 1_000_000_000
    switch account.note(written: bytes.count, in: second, limit: limits.output) {
    case .fits: note(.output(stream, Array(bytes)))
    case .isFirstTooMany: note(.limit("output"))
    case .isTooMuch: break
    }
  }

  private func note(_ event: GuestEvent) {
    events.append(event)
    if !isServing { timer?.nextFire = host.loop.now }
  }

  private func tellEvents() {
    while !events.isEmpty, place != nil {
      let event = events.removeFirst()
      switch event {
      case .output(let stream, let bytes):
        if stream != 1 || !host.tell(self, output: bytes) {
          WorkerOutput(stream: stream, bytes: bytes).write()
        }
      case .error(let failure): host.report(host.error(of: failure), .item(source))
      case .limit(let what): obey(host.ask(self, limit: what), what)
      }
    }
  }

  private func obey(_ verdict: GuestVerdict?, _ what: String) {
    switch verdict ?? (what == "stops" ? .end : .warn) {
    case .warn: break
    case .end: host.end(source)
    case .suspend(let seconds):
      suspend()
      guard let seconds else { return }
      host.loop.schedule(after: .nanoseconds(seconds)) { [weak self] _ in self?.resume() }
    }
  }

  // MARK: The end

  /// Ends all that it has, now or when its turn is over.
  func close() {
    guard let place else { return }
    if isServing { return closeLater() }
    account.keepLast(place.lua)
    self.place = nil
    (start, callsBefore) = (nil, [])
    timer?.invalidate()
    timer = nil
    place.descriptor.invalidate()
    place.loop.inPlace {
      place.lua.shutDown()
      place.loop.end()
    }
    for wait in calls.values { wait.finish(.failure(.ended)) }
    tellLast()
  }

  /// The same when none of its code runs any more.
  func closeLater() {
    host.loop.callAfterPass { [self] in
      if isServing { closeLater() } else { close() }
    }
  }

  /// What it wrote or failed with in its end.
  private func tellLast() {
    let last = events
    events = []
    for event in last {
      switch event {
      case .output(let stream, let bytes): WorkerOutput(stream: stream, bytes: bytes).write()
      case .error(let failure):
        if !host.isClosing { host.report(host.error(of: failure), .item(source)) }
      case .limit: break
      }
    }
  }
}

/// What a guest has done that is reported to its host.
enum GuestEvent {
  case output(Int32, [UInt8])
  case error(WorkerFailure)
  case limit(String)
}

/// What becomes of a guest that is over a limit.
enum GuestVerdict {
  case end, warn
  /// For so many nanoseconds; nil: until it is resumed.
  case suspend(Int64?)
}
