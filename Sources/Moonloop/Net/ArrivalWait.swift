// A wait of one task for what arrives at an item: a connection at a server, a datagram at a socket.

internal import LuaEmbed
internal import MoonloopCore

/// A task that waits for the next arrival. Its answer may come after the item's end.
class ArrivalWait: OtherWait {
  unowned(unsafe) let runtime: Runtime  // the state holds it, and ends all waits first
  fileprivate unowned(unsafe) let source: Loop.DescriptorSource  // not used once `isClosed`
  final let label: String
  final private(set) var isActive = true
  final private(set) var isClosed = false

  init(_ runtime: Runtime, _ source: Loop.DescriptorSource, _ label: String) {
    (self.runtime, self.source, self.label) = (runtime, source, label)
    super.init()
  }

  /// It becomes the wait of the item.
  func enterItem() {}

  /// It is no more the wait of the item.
  func leaveItem() {}

  /// What the item watches for may have changed.
  func settleItem() {}

  /// Pushes what has arrived. [-0, +n]
  func pushArrival(on stack: LuaStack) -> Int { 0 }

  override func abandon() {
    end()
    if !isClosed { settleItem() }
  }

  private func end() {
    isActive = false
    waiter = nil
    leaveItem()
  }

  override final func join(_ mode: ModeName, _ loop: Loop) {
    if !isClosed { try? loop.add(source, modes: [mode]) }
  }

  override final func leave(_ mode: ModeName, _ loop: Loop) {
    if !isClosed { loop.remove(source, modes: [mode]) }
  }

  /// Something has arrived, or nothing will: the task goes on, now or in its next pass.
  final func goOn() {
    isActive = false
    runtime.tasks.answerNow(self)
  }

  /// The item has ended.
  /// - Returns: Whether the task waited.
  final func close() -> Bool {
    isClosed = true
    defer { isActive = false }
    return isActive
  }

  override final func push(on stack: LuaStack) -> Int {
    end()
    if isClosed { return stack.pushFailure("\(label) was closed meanwhile", "ECANCELED") }
    return pushArrival(on: stack)
  }
}

extension HostCall {
  /// Suspends the running code until something arrives, or its time is up.
  func wait(
    _ wait: ArrivalWait, _ coroutine: LuaCoroutine, _ timeout: Int64?
  ) throws -> Int32 {
    var pending = Wait(.other(wait))
    if let timeout, timeout != .max {
      pending.timer = try deadline(after: timeout, coroutine)
    }
    wait.enterItem()
    wait.settleItem()
    try serveHere(wait.source)
    return suspend(pending, coroutine)
  }
}
