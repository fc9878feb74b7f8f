// A semaphore: a number of permits, granted in the order of asking.

internal import LuaEmbed
internal import MoonloopCore

/// The permits of one semaphore. Loop thread only.
final class ScriptSemaphore {
  private let handleName: HandleName
  var name: String { handleName.text }
  let permits: Int
  let madeAt: LuaPosition
  private(set) var available: Int
  private var waiters = Queue<ListedWait>()
  private(set) var isClosed = false
  /// How many tasks are waiting for a permit.
  var waiting: Int { waiters.count }

  private let place: HandleTally.Place

  init(
    name: HandleName, permits: Int,
    madeAt position: LuaPosition,
    _ place: consuming HandleTally.Place
  ) {
    self.place = place
    handleName = name
    self.permits = permits
    madeAt = position
    available = permits
  }

  /// Takes a permit, if one is free: then no task is waiting for it.
  func take() -> Bool {
    if available == 0 { return false }
    available -= 1
    return true
  }

  /// Pushes the handle of a permit that was taken. [-0, +1, raises: -]
  func pushPermit(_ stack: LuaStack, _ runtime: Runtime) {
    let handle = runtime.kinds.permit.push(stack.L)
    handle.hold(self)
    handle.word = 1
  }

  /// A wait for a permit.
  func waitToAcquire(_ call: HostCall) -> ListedWait {
    var number: UInt64 = 0
    // Unowned: the runtime ends all waits before it goes.
    let wait = ListedWait(
      { [unowned runtime = call.runtime] in "to acquire \(self.label(runtime))" },
      leave: { self.waiters.remove(number) })
    number = waiters.append(wait)
    return wait
  }

  /// Releases a permit: the task that has waited longest gets it.
  /// - Returns: false if all permits are free already.
  func release(_ runtime: Runtime) -> Bool {
    if available == permits { return false }
    if let waiter = waiters.takeFirst() {
      let stack = runtime.state.stack
      pushPermit(stack, runtime)
      runtime.tasks.answer(waiter, TaskValues(popping: 1, of: stack))
    } else {
      available += 1
    }
    return true
  }

  /// No more permits are granted; waiting tasks get an error.
  func close(_ runtime: Runtime) {
    isClosed = true
    let stack = runtime.state.stack
    while let waiter = waiters.takeFirst() {
      stack.pushClosed()
      runtime.tasks.answer(waiter, TaskValues(popping: 3, of: stack))
    }
  }

  /// As text: "semaphore 'gate' (made at app.lua:12)".
  func label(_ runtime: Runtime) -> String {
    "semaphore \(name.isEmpty ? "" : "'\(name)' ")(made at \(runtime.state.text(of: madeAt)))"
  }
}
