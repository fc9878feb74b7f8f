// A channel: values that tasks pass to one another, with a bounded number in the buffer.

internal import LuaEmbed
internal import MoonloopCore

/// What a channel knows apart from the buffered values; those are in a table, the user value of its
/// handle, so that a value may refer to the channel. Loop thread only.
///
/// No task waits to receive while there is a value, and none waits to send while there is room:
/// a new caller serves the task that has waited longest.
final class ScriptChannel {
  private struct Sender {
    let wait: ListedWait
    let value: LuaReference
  }

  private let handleName: HandleName
  var name: String { handleName.text }
  let capacity: Int
  let madeAt: LuaPosition
  /// The numbers of the buffered values in the table.
  private var resting: Range<Int64> = 1..<1
  private var senders = Queue<Sender>()
  private var receivers = Queue<ListedWait>()
  private(set) var isClosed = false
  private let place: HandleTally.Place

  init(
    name: HandleName, capacity: Int,
    madeAt position: LuaPosition,
    _ place: consuming HandleTally.Place
  ) {
    self.place = place
    handleName = name
    self.capacity = capacity
    madeAt = position
  }

  /// How many values are buffered.
  var count: Int { resting.count }
  /// How many tasks are waiting, on either side.
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

  /// A wait until the value on top of the stack is taken. [-1, +0, raises: -]
  func waitToSend(_ call: HostCall) -> ListedWait {
    var number: UInt64 = 0
    // Unowned: the runtime ends all waits before it goes.
    let wait = ListedWait(
      { [unowned runtime = call.runtime] in "to send into \(self.label(runtime))" },
      leave: { self.senders.remove(number) })
    number = senders.append(Sender(wait: wait, value: LuaReference(popping: call.stack)))
    return wait
  }

  /// Puts the value on top of the stack into the buffer. [-1, +0, raises: -]
  private func rest(_ call: HostCall) {
    call.stack.pushSlot(1, of: 1)
    call.stack.rotate(-2, 1)
    call.stack.rawSet(-2, item: resting.upperBound)
    call.stack.pop()
    resting = resting.lowerBound..<resting.upperBound + 1
  }

  // MARK: Receiving

  enum Receiving { case received, empty, ended }

  /// Pushes the next value, if there is one. [-0, +(0|1), raises: -]
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

  /// A wait until there is a value.
  func waitToReceive(_ call: HostCall) -> ListedWait {
    var number: UInt64 = 0
    // Unowned: the runtime ends all waits before it goes.
    let wait = ListedWait(
      { [unowned runtime = call.runtime] in "to receive from \(self.label(runtime))" },
      leave: { self.receivers.remove(number) })
    number = receivers.append(wait)
    return wait
  }

  /// Pushes the oldest buffered value, and removes it. [-0, +1, raises: -]
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

  /// Nothing can be sent any more: tasks waiting to send get an error, and those waiting to receive
  /// get the end. Buffered values can still be received.
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

  /// Drops the buffered values of a closed channel.
  func clear(_ call: HostCall) {
    resting = 1..<1
    call.stack.newTable()
    call.stack.popSlot(1, of: 1)
  }

  /// As text: "channel 'jobs' (made at app.lua:12)".
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
