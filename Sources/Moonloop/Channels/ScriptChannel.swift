// A channel: values that tasks hand to one another, a bounded number of them at rest.

internal import LuaEmbed
internal import MoonloopCore

/// What a channel knows besides the values at rest; those lie in a table, the user value of its
/// handle, so that a value may hold the channel. Loop thread only.
///
/// No task waits to receive while there is a value, and none waits to send while there is room:
/// a new caller serves the task that has waited longest.
final class ScriptChannel {
  private struct Sender {
    let wait: ListedWait
    let value: LuaReference
  }

  let name: String
  let capacity: Int
  let madeAt: LuaPosition
  /// The numbers of the values at rest in the table.
  private var resting: Range<Int64> = 1..<1
  private var senders = Queue<Sender>()
  private var receivers = Queue<ListedWait>()
  private(set) var isClosed = false
  private let place: HandleTally.Place

  init(
    name: String, capacity: Int, madeAt position: LuaPosition, _ place: consuming HandleTally.Place
  ) {
    self.place = place
    self.name = name
    self.capacity = capacity
    madeAt = position
  }

  /// How many values are at rest.
  var count: Int { resting.count }
  /// How many tasks wait, at either side.
  var sendersWaiting: Int { senders.count }
  var receiversWaiting: Int { receivers.count }

  // MARK: Sending

  enum Sending { case sent, full, closed }

  /// Takes the value on top of the stack, if a task waits for it or there is room.
  /// [-(0|1), +0, raises: -]
  func send(_ call: HostCall) -> Sending {
    if isClosed { return .closed }
    if let receiver = receivers.takeFirst() {
      call.runtime.tasks.answer(receiver, TaskValues(popping: 1, of: call.stack))
      return .sent
    }
    if resting.count >= capacity { return .full }
    rest(call)
    return .sent
  }

  /// What waits until the value on top of the stack is taken. [-1, +0, raises: -]
  func waitToSend(_ call: HostCall) -> ListedWait {
    var number: UInt64 = 0
    let wait = ListedWait(
      { [unowned runtime = call.runtime] in "to send into \(self.label(runtime))" },
      leave: { self.senders.remove(number) })
    number = senders.append(Sender(wait: wait, value: LuaReference(popping: call.stack)))
    return wait
  }

  /// Puts the value on top of the stack to rest. [-1, +0, raises: -]
  private func rest(_ call: HostCall) {
    call.stack.pushSlot(1, of: 1)
    call.stack.rotate(-2, 1)
    call.stack.rawSet(-2, item: resting.upperBound)
    call.stack.pop()
    resting = resting.lowerBound..<resting.upperBound + 1
  }

  // MARK: Receiving

  enum Receiving { case received, empty, ended }

  /// Pushes the value that is next, if there is one. [-0, +(0|1), raises: -]
  func receive(_ call: HostCall) -> Receiving {
    if resting.isEmpty {
      guard let sender = senders.takeFirst() else { return isClosed ? .ended : .empty }
      call.stack.push(sender.value)
      call.runtime.tasks.answer(sender.wait, call.runtime.values.isTrue)
      return .received
    }
    takeRested(call)
    if let sender = senders.takeFirst() {
      call.stack.push(sender.value)
      rest(call)
      call.runtime.tasks.answer(sender.wait, call.runtime.values.isTrue)
    }
    return .received
  }

  /// What waits until there is a value.
  func waitToReceive(_ call: HostCall) -> ListedWait {
    var number: UInt64 = 0
    let wait = ListedWait(
      { [unowned runtime = call.runtime] in "to receive from \(self.label(runtime))" },
      leave: { self.receivers.remove(number) })
    number = receivers.append(wait)
    return wait
  }

  /// Pushes the value that rests longest, and lets go of it. [-0, +1, raises: -]
  private func takeRested(_ call: HostCall) {
    let stack = call.stack
    stack.pushSlot(1, of: 1)
    _ = stack.rawGet(-1, item: resting.lowerBound)
    stack.pushNil()
    stack.rawSet(-3, item: resting.lowerBound)
    stack.rotate(-2, 1)
    stack.pop()
    resting = resting.lowerBound + 1..<resting.upperBound
  }

  // MARK: The end

  /// Nothing is sent any more: tasks that wait to send get an error, and those that wait to receive
  /// learn that this is the end. What rests can still be received.
  func close(_ runtime: Runtime) {
    if isClosed { return }
    isClosed = true
    let stack = runtime.state.stack
    while let receiver = receivers.takeFirst() {
      stack.pushNil()
      runtime.tasks.answer(receiver, TaskValues(popping: 1, of: stack))
    }
    while let sender = senders.takeFirst() {
      stack.pushClosed()
      runtime.tasks.answer(sender.wait, TaskValues(popping: 3, of: stack))
    }
  }

  /// Lets go of what rests in a channel that is closed.
  func clear(_ call: HostCall) {
    resting = 1..<1
    call.stack.newTable()
    call.stack.popSlot(1, of: 1)
  }

  /// In words: "channel 'jobs' (made at app.lua:12)".
  func label(_ runtime: Runtime) -> String {
    "channel \(name.isEmpty ? "" : "'\(name)' ")(made at \(runtime.state.text(of: madeAt)))"
  }
}

extension LuaStack {
  /// Pushes the result of a call on a closed channel or semaphore.
  /// [-0, +3, raises: -]
  func pushClosed() {
    pushNil()
    push("closed" as StaticString)
    push("EPIPE" as StaticString)
  }
}
