// Sending to ports in Lua, of this state and of others; requests and their replies (R58, R59).

internal import LuaEmbed
internal import MoonloopCore

/// The target of a handle: a port of this state, or one that another state serves.
struct PortTarget {
  let port: Loop.Port
  /// The port, if this state serves it, as it must while it waits for the reply itself.
  let isOwn: Bool
  /// Whether it is a port of another process.
  var isForeign = false
  /// Whether frozen tables stay frozen there.
  var keepsFrozen = true

  /// Whether it is no longer served.
  var hasEnded: Bool { isOwn ? !port.isValid : Intake.seldom(!port.isValid) }

  /// What comes from another process is on its way from outside: no clock jumps meanwhile, in runs
  /// that serve it.
  func hold(_ loop: Loop, while isServed: @escaping () -> Bool) -> Hold? {
    isForeign
      ? loop.kernel.clock.holds.open("an answer of \(port.label)", while: isServed) : nil
  }
}

extension PortTarget {
  fileprivate init(_ right: PortRight) {
    self.init(
      port: right.port, isOwn: false, isForeign: right.isForeign, keepsFrozen: right.keepsFrozen)
  }
}

extension HostCall {
  /// What the first argument, a port of this state or of another, sends to.
  func selfTarget() throws -> PortTarget {
    if let handle = kinds.port.handle(stack.L, 1) {
      let port = handle.item(as: Loop.Port.self)
      guard port.isValid else { throw OperatingFailure(told(invalid(handle)), "EPIPE") }
      guard let peer = PortShape.of(port)?.peer else { return PortTarget(port: port, isOwn: true) }
      return PortTarget(peer)
    }
    if let handle = kinds.remotePort.handle(stack.L, 1) {
      guard let right = remoteRight(handle) else {
        throw OperatingFailure("\(name): this way to the port was invalidated", "EPIPE")
      }
      return PortTarget(right)
    }
    throw notSelf("port")
  }

  /// The target of a message, that of the first argument, as text: "port 'jobs'".
  func label(of target: PortTarget) -> String {
    // The port that the handle stands for; another one if the handle sends to its peer.
    kinds.port.handle(stack.L, 1).map { runtime.label(of: .item($0.item)) } ?? target.port.label
  }

  /// The approximate overhead of a message: its place in a queue, and bookkeeping.
  private static var messageOverhead: Int { 256 }

  /// The value at an index as a message; nil if nothing is there.
  /// - Parameter leaves: Another thread may receive it.
  func clone(_ index: Int32, leaves: Bool = true) throws(ScriptMistake) -> StructuredClone {
    if count < index { stack.setCount(index) }
    runtime.granted.tally?.messages += 1
    do throws(StructuredClone.Obstacle) {
      var value = try StructuredClone(stack, index, most: runtime.largestCopy) {
        runtime.attachment($0, $1)
      }
      if leaves { state.noteReturns() }
      value.charge = state.charge(value.size + Self.messageOverhead, leaves: leaves)
      return value
    } catch {
      if error.isTooLarge {
        throw mistake("the message is larger than \(runtime.largestCopy) bytes")
      }
      throw mistake("\(error.path) is \(error.what), which cannot be sent")
    }
  }

  /// The same for a port: what leaves the process has copies of frozen tables.
  fileprivate func clone(
    _ index: Int32, for target: PortTarget
  ) throws(ScriptMistake) -> StructuredClone {
    let value = try clone(index, leaves: !target.isOwn)
    if !target.isForeign { return value }
    let thawed = value.thawed
    if thawed.size <= StructuredClone.sizeLimit { return target.keepsFrozen ? value : thawed }
    throw mistake("the message is larger than \(StructuredClone.sizeLimit) bytes")
  }

  /// A refusal as a value (R57, R59).
  fileprivate func refused(_ error: LoopError, _ target: PortTarget) -> OperatingFailure {
    if case .portFull(_, let capacity) = error {
      return OperatingFailure(
        "\(name): \(target.port.label) is full: \(capacity) messages wait in it", "EAGAIN")
    }
    return OperatingFailure("\(name): \(label(of: target)) has ended", "EPIPE")
  }

  /// Whether the argument is missing or nil.
  func isAbsent(_ index: Int32) -> Bool {
    let type = stack.type(index)
    return type == .none || type == .nil
  }

  /// The running code, if it can wait as a task; otherwise nil.
  func waitingCoroutine() throws -> LuaCoroutine? {
    guard state.waitObstacle(stack.L) == nil, state.currentTask(stack.L) != nil else { return nil }
    return try requireWaiting()
  }
}

// MARK: Sending

/// `port:send(message, { timeout })`: true; or nil, message, code: "EAGAIN" if it is full,
/// "ETIMEDOUT" if it stays so, "EPIPE" if it has ended.
func portSend(_ call: HostCall) throws -> Int32 {
  let target = try call.selfTarget()
  let timeout = call.isAbsent(3) ? nil : try call.timeoutOption(3)
  return try call.send(try call.clone(2, for: target), to: target, timeout: timeout)
}

extension HostCall {
  fileprivate func send(
    _ value: StructuredClone, to target: PortTarget, timeout: Int64?
  ) throws -> Int32 {
    let message = PortMessage(value: value)
    do throws(LoopError) {
      try target.port.post(parcel: message)
      stack.push(true)
      return 1
    } catch {
      guard case .portFull = error, let timeout, timeout > 0 else { throw refused(error, target) }
    }
    guard let coroutine = try waitingCoroutine() else {
      let mode = ModeName("moonloop.request.\(loop.depth + 1)")
      try inMode(mode, serving: target) { try postNested(message, to: target, mode, timeout) }
      stack.push(true)
      return 1
    }
    let wait = PortWait(
      runtime, target, label(of: target), expectsReply: false, timeout: nil, sendTimeout: timeout)
    let isSent: Bool
    do throws(LoopError) { isSent = try wait.send(message) } catch {
      wait.abandon()
      throw refused(error, target)
    }
    if isSent {
      stack.push(true)
      return 1
    }
    return try self.wait(wait, coroutine, timeout)
  }

  /// Suspends the running code until a wait for a port is over, or its time is up.
  func wait(
    _ wait: OtherWait, _ coroutine: LuaCoroutine, _ time: Int64?, isQuiet: Bool = false
  ) throws(ScriptMistake) -> Int32 {
    let timer: TimerID
    // Even without a limit: the timer keeps the run going while a task waits.
    do throws(ScriptMistake) { timer = try deadline(after: time ?? .max, coroutine) } catch {
      wait.abandon()
      throw error
    }
    var pending = Wait(.other(wait), timer: timer)
    pending.isQuiet = isQuiet
    return suspend(pending, coroutine)
  }
}

// MARK: Requests

private let requestOptions: [StaticString] = ["timeout", "send_timeout", "mode"]

private struct RequestOptions {
  var timeout: Int64?
  var sendTimeout: Int64?
  var mode: ModeName?
}

/// `port:request(message, { timeout, send_timeout, mode })`: the reply; or nil, message, code.
///
/// Suspends the task; where that is impossible, or with `mode`, it runs the loop in a mode.
func portRequest(_ call: HostCall) throws -> Int32 {
  let target = try call.selfTarget()
  let value = try call.clone(2, for: target)
  var wanted = RequestOptions()
  if !call.isAbsent(3) {
    let options = try call.options(3, requestOptions, example: "{ timeout = 2 }")
    wanted.timeout = try options.seconds("timeout", .notNegative)
    wanted.sendTimeout = try options.seconds("send_timeout", .notNegative)
    wanted.mode = try options.mode()
  }
  if wanted.mode == .common {
    throw call.mistake("'common' is a set of modes; name one mode, such as 'default'")
  }
  if wanted.mode == nil, !call.isHandler(of: target), let coroutine = try call.waitingCoroutine() {
    return try call.requestAsTask(value, target, wanted, coroutine)
  }
  try call.requireNesting()
  return try call.requestNested(value, target, wanted)
}

extension HostCall {
  /// Whether the running code is a handler of the port: if it waited, the port would serve nothing.
  fileprivate func isHandler(of target: PortTarget) -> Bool {
    var subject = runtime.current
    if case .task(let task) = subject { subject = task.subject }
    if case .item(let item) = subject { return item === target.port }
    return false
  }

  fileprivate func requestAsTask(
    _ value: StructuredClone, _ target: PortTarget, _ wanted: RequestOptions,
    _ coroutine: LuaCoroutine
  ) throws -> Int32 {
    let wait = PortWait(
      runtime, target, label(of: target), expectsReply: true, timeout: wanted.timeout,
      sendTimeout: wanted.sendTimeout)
    let box = wait.box
    let message = PortMessage(value: value, reply: ReplyTicket { box.answer($0) })
    let isSent: Bool
    do throws(LoopError) { isSent = try wait.send(message) } catch {
      wait.abandon()
      throw refused(error, target)
    }
    return try self.wait(wait, coroutine, isSent ? wanted.timeout : wanted.sendTimeout)
  }

  /// Where the answer to a nested request arrives.
  private final class Answer {
    var answer: ReplyAnswer?
  }

  fileprivate func requestNested(
    _ value: StructuredClone, _ target: PortTarget, _ wanted: RequestOptions
  ) throws -> Int32 {
    let answer = Answer()
    let loop = loop
    let replyPort = Loop.Port(name: "reply", capacity: 1) { _, message in
      answer.answer = message as? ReplyAnswer
      loop.stop()
    }
    if !target.isOwn { replyPort.arrive(at: loop) }
    defer { replyPort.invalidate() }
    try requireGrant(of: .runs)
    let mode = wanted.mode ?? ModeName("moonloop.request.\(loop.depth + 1)")
    try loop.add(replyPort, modes: [mode])
    let isOwn = target.isOwn
    let ticket = ReplyTicket { replyPort.postFromAnywhere(isOwn ? $0 : $0.abroad) }
    let message = PortMessage(value: value, reply: ticket)
    let hold = target.hold(loop) { [weak loop] in loop?.currentMode == mode }
    defer { hold?.release() }
    if let timeout = wanted.timeout {
      hold?.release(after: timeout.addingSaturated(wanted.sendTimeout ?? 0), on: runtime.loop)
    }
    let result = try inMode(mode, serving: target) {
      try postNested(message, to: target, mode, wanted.sendTimeout)
      let time = wanted.timeout.flatMap { $0 == .max ? nil : Duration.nanoseconds($0) }
      return runtime.runs.runNested(mode, time)
    }
    switch answer.answer {
    case .value(let value):
      value.push(on: stack, pushAttachment: runtime.push)
      return 1
    case .failed: throw OperatingFailure(failedText(label(of: target)), "EPIPE")
    case .dropped:
      throw OperatingFailure(
        noReplyText(label(of: target), target.port, isOwn: isOwn), "EPIPE")
    case nil: throw noReply(result, target, wanted.timeout)
    }
  }

  /// Runs a body while a port of this loop is served in a mode: otherwise there would be no answer.
  fileprivate func inMode<Result>(
    _ mode: ModeName, serving target: PortTarget, _ body: () throws -> Result
  ) throws -> Result {
    let isGuest = target.isOwn && !loop.contains(target.port, mode: mode)
    if isGuest { try loop.add(target.port, modes: [mode]) }
    defer { if isGuest && target.port.isValid { loop.remove(target.port, modes: [mode]) } }
    return try body()
  }

  /// Posts, or runs the loop in the mode until there is room.
  fileprivate func postNested(
    _ message: PortMessage, to target: PortTarget, _ mode: ModeName, _ timeout: Int64?
  ) throws {
    let end = saturatingDate(loop.kernel.now(), after: timeout ?? 0)
    while true {
      do throws(LoopError) { return try target.port.post(parcel: message) } catch {
        guard case .portFull = error, let timeout, timeout > 0 else {
          throw refused(error, target)
        }
      }
      let left = end == .max ? .max : end - loop.kernel.now()
      let late = OperatingFailure(noRoomText(label(of: target), timeout), "ETIMEDOUT")
      if left <= 0 { throw late }
      let loop = loop
      let room = Loop.Port(name: "room", capacity: 1) { _, _ in loop.stop() }
      try loop.add(room, modes: [mode])
      if !target.isOwn { room.arrive(at: loop) }
      defer { room.invalidate() }
      if target.isOwn || !Intake.isReplayed {
        target.port.whenRoom { _ = room.postFromAnywhere(RoomNotice()) }
      }
      let result = runtime.runs.runNested(mode, left == .max ? nil : .nanoseconds(left))
      if result == .timedOut { throw late }
      if room.callouts == 0 { throw stopped }
    }
  }

  private var stopped: OperatingFailure {
    OperatingFailure("no reply: the run that waited for it was stopped", "ECANCELED")
  }

  private func noReply(
    _ result: RunResult, _ target: PortTarget, _ timeout: Int64?
  ) -> OperatingFailure {
    if target.hasEnded { return OperatingFailure("\(label(of: target)) has ended", "EPIPE") }
    if result == .timedOut { return OperatingFailure(noReplyText(within: timeout), "ETIMEDOUT") }
    return stopped
  }
}
