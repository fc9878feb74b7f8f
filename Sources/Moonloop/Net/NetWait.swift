// Waits for the network without a stream: a name, a connection.

internal import LuaEmbed
internal import MoonloopCore

/// A wait that uses items of its own, which are in the modes of the waiting task.
///
/// While it lasts the clock is held, because what it waits for comes from outside (see `Holds`).
class NetWait: OtherWait {
  unowned(unsafe) let runtime: Runtime  // the state holds it, and ends all waits first
  private let subject: String
  /// Where its items are served.
  final private(set) var modes: [ModeName]
  /// The items that can end it.
  final private var items: [Loop.Item] = []
  private var hold: Hold?
  /// The maximum time to wait.
  private var limit: Int64?
  /// Its end has come, one way or another.
  final private(set) var isOver = false

  /// - Parameter subject: As text: "the address of 'example.org'".
  init(_ runtime: Runtime, _ subject: String) {
    self.runtime = runtime
    self.subject = subject
    modes = runtime.loopContext.servingModes(of: runtime.current)
    super.init()
    hold = openHold()
  }

  private func openHold() -> Hold {
    let loop = runtime.loop
    return loop.kernel.clock.holds.open(subject) { [weak self, weak loop] in
      guard let self, let loop, loop.currentMode != nil else { return true }
      return loop.isRunning(inOneOf: modes)
    }
  }

  override final var what: String { subject }

  /// The maximum time to wait, on either clock.
  final func limitHold(_ timeout: Int64) {
    limit = timeout
    hold?.release(after: timeout, on: runtime.loop)
  }

  /// What is on its way may never arrive: after this long, the wait counts as one for time.
  final func holdClock(atMost nanoseconds: Int64) {
    hold?.release(after: nanoseconds, on: runtime.loop)
  }

  /// Something else is on its way.
  final func holdClock() {
    guard !isOver else { return }
    hold = openHold()
    hold?.release(after: limit, on: runtime.loop)
  }

  /// Nothing is on its way: the wait is for time.
  final func letClockGo() {
    hold?.release()
    hold = nil
  }

  // MARK: Items

  /// Adds an item to the modes of the wait.
  final func add(_ item: Loop.Item) throws(LoopError) {
    try runtime.loop.add(item, modes: modes)
    items.append(item)
  }

  final func remove(_ item: Loop.Item) {
    items.removeAll { $0 === item }
    item.invalidate()
  }

  override final func join(_ mode: ModeName, _ loop: Loop) {
    modes.append(mode)
    for item in items { try? loop.add(item, modes: [mode]) }
  }

  override final func leave(_ mode: ModeName, _ loop: Loop) {
    modes.removeAll { $0 == mode }
    for item in items where item.isValid { loop.remove(item, modes: [mode]) }
  }

  // MARK: The end

  /// Ends the wait.
  final func end() {
    isOver = true
    hold?.release()
    hold = nil
    let items = items
    self.items = []
    for item in items { item.invalidate() }
    ended()
  }

  /// Releases what only this wait needs.
  func ended() {}

  /// What was waited for has arrived or failed.
  final func finish() {
    guard !isOver else { return }
    end()
    runtime.tasks.answerNow(self)
  }

  override func abandon() { end() }
}

extension HostCall {
  /// Makes an item also be served where the running code waits for it (D62).
  func serveHere(_ item: Loop.Item) throws(LoopError) {
    let modes = runtime.loopContext.servingModes(of: runtime.current)
    for mode in modes where !loop.contains(item, mode: mode) { try loop.add(item, modes: [mode]) }
  }

  /// Suspends the running code until a wait is over; returns its answer at once if it is already
  /// over.
  func wait(_ wait: NetWait, _ coroutine: LuaCoroutine, _ timeout: Int64?) throws -> Int32 {
    if wait.isOver { return Int32(wait.push(on: stack)) }
    var pending = Wait(.other(wait))
    if let timeout, timeout != .max {
      wait.limitHold(timeout)
      do { pending.timer = try deadline(after: timeout, coroutine) } catch {
        wait.end()
        throw error
      }
    }
    return suspend(pending, coroutine)
  }
}
