// A guest on its host's thread: a state on its own loop, which the host's loop pumps.
//
// So the guest's modes, runs, items and figures are its own, and they all end with its loop. It
// is served where its item is, and so are the timer and the descriptor for its next event.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// A guest's state and loop.
private struct GuestPlace {
  let loop: Loop
  let lua: LuaState
  let descriptor: Loop.DescriptorSource
}

/// One guest on its host's thread. That thread only.
final class LocalGuest: ScriptGuest {
  private var place: GuestPlace?
  private var timer: Loop.Timer?
  private var start: ((Runtime) -> Void)?
  /// Called when its script has started.
  private var callsBefore: [(Runtime) -> Void] = []
  private var isServing = false
  private var isSettling = false
  /// Counts what it uses as memory of the host's scripts.
  private var memory: MemoryCharge?
  /// Approximate bytes of a guest, besides what its state counts.
  private static let footprint = 48 << 10
  /// The size of what is kept for its start.
  private var keptForStart = 0
  /// When it may next be served, on the host's clock.
  private var notBefore: Int64 = 0
  /// It is not served before `notBefore`, whatever becomes ready.
  private var isResting = false {
    didSet {
      guard isResting != oldValue, let place else { return }
      if isResting { place.descriptor.disable(.read) } else { place.descriptor.enable(.read) }
    }
  }
  private(set) var account = GuestAccount()
  /// How many functions of the host run for it.
  var hostCalls = 0
  let tally = GuestTally()

  /// Its runtime; nil once it has ended.
  var runtime: Runtime? { place?.lua.runtime }
  override var hasEnded: Bool { place == nil }
  override var isBusy: Bool { start != nil || (place?.loop.hasItems ?? false) }

  // MARK: The begin

  /// Opens its state on its own loop.
  /// - Parameters:
  ///   - prepare: Called with its state, before that reaches anything of the host; returns the size
  ///     of what is kept for the start.
  ///   - start: Called once, when it is first served.
  func open(
    _ name: String, _ grants: GuestGrants, prepare: (LuaState) throws -> Int,
    start: @escaping (Runtime) -> Void
  ) throws {
    // Unowned, as below: `close` ends the loop, the source and the timer.
    let loop = try host.loop.makeLodger(name) { [unowned self] in settle() }
    do {
      let lua = try LuaState(on: loop, limits: limits.state, guest: grants)
      keptForStart = try prepare(lua)
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
    host.state.charge(memoryInUse, to: &memory)
  }

  private var memoryInUse: Int {
    Self.footprint + keptForStart + (place?.lua.bytesInUse ?? 0)
  }

  // Unowned: `close` closes the guest's state, and with it all that has these closures.
  private func setUp(_ runtime: Runtime) {
    runtime.granted.tally = tally
    runtime.crossingEnds = host.crossingEnds
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
    runtime.state.install(
      LuaProgramHooks(
        // `os.exit` does not exist, and nothing blocks
        exit: { _, _ in }, blocks: { _, _ in true },
        warns: { [unowned self] in write(warning: $0) }))
    runtime.errors.warn = { [unowned self] in write(warning: $0) }
    _ = runtime.state.divertOutput { [unowned self] stream, bytes in write(stream, bytes) }
    for name in functions.keys.map(\.text).sorted() { putFunction(name, runtime) }
  }

  // MARK: Modes

  override func join(_ mode: ModeName) {
    guard let place, let timer else { return }
    try? host.loop.add(place.descriptor, modes: [mode])
    try? host.loop.add(timer, modes: [mode])
  }

  override func leave(_ mode: ModeName) {
    guard let place, let timer, place.descriptor.isValid else { return }
    host.loop.remove(place.descriptor, modes: [mode])
    host.loop.remove(timer, modes: [mode])
  }

  override func isServed(by item: Loop.Item) -> Bool {
    item === place?.descriptor
  }

  // MARK: Serving

  /// How many passes it gets in one turn, and after how long that ends between two call-outs.
  private static let passes = 8
  private static let turnTime: Int64 = 1_000_000

  private func serve() {
    let clock = host.loop.clock
    let began = clock.now()
    guard let place, !isServing, !isSuspended, began >= notBefore else { return settle() }
    isServing = true
    isResting = false
    host.loopContext.nameCall(host.explanation.recorded(source))
    var turn = GuestTurn(began: began)
    let (processor, before) = (clock.processorTime(), counts(of: place.lua))
    let left = account.left(at: began, limits)
    if let room = hostRoom { place.lua.lowerLimit(to: place.lua.bytesInUse + room) }
    // Unowned: `close` ends the loop before both go.
    place.loop.hooks.mustYield = { [unowned self, unowned lua = place.lua] in
      if clock.now() >= began + Self.turnTime { return true }
      let now = counts(of: lua)
      return now[.callouts] - before[.callouts] >= left[.callouts]
        || now[.messages] - before[.messages] >= left[.messages]
        || now[.logLines] - before[.logLines] >= left[.logLines]
    }
    place.loop.inPlace {
      if let start {
        self.start = nil
        keptForStart = 0
        start(place.lua.runtime!)
        let calls = callsBefore
        callsBefore = []
        for call in calls { call(place.lua.runtime!) }
      }
      _ = place.loop.pump(limit: Self.passes)
      _ = place.lua.idleCollect()
    }
    let after = counts(of: place.lua)
    for rate in GuestRate.allCases { turn.used[rate] = after[rate] - before[rate] }
    turn.used[.processor] = clock.processorTime() - processor
    turn.used[.wakes] = 1
    rest(after: turn)
    isServing = false
    host.state.count(memoryInUse, in: &memory)
    tellEvents()
    settle()
  }

  /// What the limit of the host's scripts leaves for it; nil: they have none.
  private var hostRoom: Int? {
    host.state.limits.memory == nil ? nil : max(0, host.state.memoryLeft)
  }

  /// What is counted while it runs.
  private func counts(of lua: LuaState) -> GuestAmounts {
    var counts = GuestAmounts()
    counts[.callouts] = Int64(lua.inner.callouts)
    counts[.messages] = Int64(tally.messages)
    counts[.logLines] = Int64(tally.logLines)
    return counts
  }

  /// Notes a turn, and when the next one may be.
  private func rest(after turn: GuestTurn) {
    let now = host.loop.clock.now()
    account.note(turn: turn, at: now, limits)
    if limits.share < 1 {
      notBefore = now + Int64(Double(now - turn.began) * (1 / limits.share - 1))
    }
    if let (what, until) = account.exhausted(limits), until > now {
      notBefore = max(notBefore, until)
      note(.limit("\(what)"))
    }
    isResting = notBefore > now
  }

  /// Calls one of its functions once its script has started: now, or when it is first served.
  override func begin(_ call: GuestCall, _ wait: CrossingWait) {
    whenBegun { runtime in runtime.run(call, for: wait) }
  }

  private func whenBegun(_ body: @escaping (Runtime) -> Void) {
    if start != nil { return callsBefore.append(body) }
    if let runtime { body(runtime) }
    settle()
  }

  override func settle() {
    guard let place, let timer, !isServing, !isSettling else { return }
    isSettling = true
    defer { isSettling = false }
    let date =
      start == nil ? place.loop.nextDate()?.nanoseconds : host.loop.clock.now()
    host.loop.setKeepsAlive(source, mayHold && isBusy && !isSuspended)
    let next = isResting ? max(date ?? notBefore, notBefore) : date
    timer.nextFire = next.map { LoopTime(nanoseconds: $0) } ?? .distantFuture
  }

  // MARK: Effects on the host

  private func write(_ stream: Int32, _ bytes: UnsafeRawBufferPointer) {
    let second = host.loop.clock.now() / 1_000_000_000
    switch account.note(written: bytes.count, in: second, limit: limits.output) {
    case .fits:
      // It is charged: a call may write more than there is room for.
      note(output: stream, bytes, chargedTo: place?.lua)
    case .isFirstTooMany: note(.limit("output"))
    case .isTooMuch: break
    }
  }

  private func write(warning text: String) {
    let line = ErrorPolicy.indented("warning: \(text)\n")
    Array(line.utf8).withUnsafeBytes { write(2, $0) }
  }

  override var usage: GuestUsage { ownUsage }

  override func tellSoon() {
    if !isServing { timer?.nextFire = host.loop.now }
  }

  // MARK: The end

  override func close() {
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
    memory = nil
    failCalls()
    tellLast()
  }

  override func closeLater() {
    host.loop.callAfterPass { [self] in
      if isServing { closeLater() } else { close() }
    }
  }
}
