// A task that waits for a port: for room in it, for the reply to a request, or for a message.

internal import LuaEmbed
internal import MoonloopCore
internal import Synchronization

/// How other threads reach a wait, which may be over before they do. Any thread, except `wait`.
// Unchecked: `wait` belongs to the loop's thread, and `arrivals` is set by `init` alone.
final class PortWaitBox: @unchecked Sendable {
  fileprivate weak var wait: PortWait?
  private let loop: Loop
  /// An answer is on its way, or the wait is over.
  private let isOver = Atomic<Bool>(false)
  fileprivate let isOwn: Bool
  /// Where the other thread's answer arrives, if the loop is recorded.
  private var arrivals: Arrivals?

  /// - Parameter isOwn: Whether the port belongs to the loop's own thread.
  fileprivate init(_ loop: Loop, isOwn: Bool) {
    (self.loop, self.isOwn) = (loop, isOwn)
    if isOwn { return }
    arrivals = loop.makeArrivals { [weak self] message in
      if let answer = message as? ReplyAnswer {
        self?.hear(answer)
      } else {
        self?.wait?.sendAgain()
      }
    }
  }

  private func hear(_ answer: ReplyAnswer) { wait?.finish(.reply(answer)) }

  /// Delivers an answer.
  /// - Returns: false if the wait is over.
  func answer(_ answer: ReplyAnswer) -> Bool {
    if isOver.exchange(true, ordering: .acquiringAndReleasing) { return false }
    if let arrivals { return arrivals.post(answer.abroad) }
    return loop.post(.change { [self] _ in hear(answer) })
  }

  fileprivate func retryWhenRoom(in port: Loop.Port) {
    if let arrivals {
      // its thread reports it; a replay has recorded when
      if !Intake.isReplayed { port.whenRoom { arrivals.post(RoomNotice()) } }
      return
    }
    port.whenRoom { [self] in loop.post(.change { [self] _ in wait?.sendAgain() }) }
  }

  fileprivate func close() {
    isOver.store(true, ordering: .releasing)
    arrivals?.end()
  }
}

/// A task's wait to send while the port is full, and for a reply if it wants one.
final class PortWait: OtherWait {
  enum Outcome {
    case sent
    case reply(ReplyAnswer)
    case ended
  }

  private unowned let runtime: Runtime  // it ends all waits before it goes
  private let port: Loop.Port
  /// As text: "port 'jobs'".
  private let label: String
  let box: PortWaitBox
  /// The message that has not been sent yet.
  private var message: PortMessage?
  private let expectsReply: Bool
  private let timeout: Int64?
  private let sendTimeout: Int64?
  private var outcome = Outcome.ended
  /// The clock of the loop is held while another process has the request.
  private var hold: Hold?

  init(
    _ runtime: Runtime, _ target: PortTarget, _ label: String, expectsReply: Bool,
    timeout: Int64?, sendTimeout: Int64?
  ) {
    self.runtime = runtime
    port = target.port
    self.label = label
    self.expectsReply = expectsReply
    self.timeout = timeout
    self.sendTimeout = sendTimeout
    box = PortWaitBox(runtime.loop, isOwn: target.isOwn)
    super.init()
    box.wait = self
    hold = target.hold(runtime.loop) { [weak self] in self?.isServed ?? true }
    if !expectsReply || timeout != nil {
      hold?.release(after: (timeout ?? 0).addingSaturated(sendTimeout ?? 0), on: runtime.loop)
    }
  }

  /// Whether the task would go on in the present run.
  private var isServed: Bool {
    guard let waiter, runtime.loop.currentMode != nil else { return true }
    return runtime.loop.isRunning(inOneOf: waiter.servingModes)
  }

  /// Sends a message, now or when there is room.
  /// - Returns: Whether it was sent at once.
  func send(_ message: PortMessage) throws(LoopError) -> Bool {
    do throws(LoopError) {
      try port.post(parcel: message)
      return true
    } catch {
      guard case .portFull = error, let sendTimeout, sendTimeout > 0 else { throw error }
      self.message = message
      box.retryWhenRoom(in: port)
      return false
    }
  }

  fileprivate func sendAgain() {
    guard let message, let waiter else { return }
    do throws(LoopError) { try port.post(parcel: message) } catch {
      if case .portFull = error { return box.retryWhenRoom(in: port) }
      return finish(.ended)
    }
    self.message = nil
    if !expectsReply { return finish(.sent) }
    guard let coroutine = waiter.coroutine, let timer = waiter.wait?.timer else { return }
    // Now the time limit for the reply begins.
    if let next = runtime.tasks.sleepTimer(coroutine, timeout ?? .max, .task(waiter)) {
      runtime.loop.invalidate(timer)
      waiter.wait?.timer = next
    }
  }

  fileprivate func finish(_ outcome: Outcome) {
    self.outcome = outcome
    box.close()
    box.wait = nil
    hold = nil
    runtime.tasks.answer(self)
  }

  // MARK: For tasks

  override var what: String {
    message == nil ? "the reply of \(label)" : "room in \(label)"
  }

  override func abandon() {
    box.close()
    box.wait = nil
    hold = nil
    waiter = nil
  }

  override func push(on stack: LuaStack) -> Int {
    switch outcome {
    case .sent:
      stack.push(true)
      return 1
    case .reply(.value(let value)):
      value.push(on: stack, pushAttachment: runtime.push)
      return 1
    case .reply(.failed): return stack.pushFailure(failedText(label), "EPIPE")
    case .reply(.dropped):
      return stack.pushFailure(noReplyText(label, port, isOwn: box.isOwn), "EPIPE")
    case .ended: return stack.pushFailure("\(label) has ended", "EPIPE")
    }
  }

  override func pushLate(on stack: LuaStack, _ purpose: String) -> Int {
    // A port with little room does not report it, so this is the last chance.
    if !expectsReply, let message, (try? port.post(parcel: message)) != nil {
      stack.push(true)
      return 1
    }
    let text = message == nil ? noReplyText(within: timeout) : noRoomText(label, sendTimeout)
    return stack.pushFailure(text, "ETIMEDOUT")
  }
}

func failedText(_ label: String) -> String { "no reply: the handler of \(label) failed" }

/// Why a request has no reply, as far as that is known here: its port may be another thread's, or
/// another process's.
func noReplyText(_ label: String, _ port: Loop.Port, isOwn: Bool) -> String {
  if PortTarget(port: port, isOwn: isOwn).hasEnded { return "no reply: \(label) has ended" }
  if isOwn { return "no reply: \(label) has dropped the request" }
  return "no reply: the handler of \(label) failed, the port has ended, or the request was dropped"
}

func noReplyText(within timeout: Int64?) -> String {
  "no reply within \(LuaText.short(Double(timeout ?? 0) / 1e9)) s"
}

func noRoomText(_ label: String, _ timeout: Int64?) -> String {
  "\(label) was full for \(LuaText.short(Double(timeout ?? 0) / 1e9)) s"
}

/// The wait of a task that receives the next message of a port itself.
final class ReceiveWait: OtherWait {
  private unowned let runtime: Runtime  // it ends all waits before it goes
  private let port: Loop.Port
  private var message: PortMessage?
  /// Messages of other processes come from outside: no clock jumps during the wait.
  private var hold: Hold?

  init(_ runtime: Runtime, _ port: Loop.Port) {
    self.runtime = runtime
    self.port = port
    if PortShape.of(port)?.link != nil {
      hold = runtime.loop.holdClock("a message of \(port.label)", for: port)
    }
    super.init()
  }

  /// The maximum time to wait.
  func limit(_ timeout: Int64?) { hold?.release(after: timeout, on: runtime.loop) }

  /// A message has arrived; nil: the port has ended.
  func finish(_ message: PortMessage?) {
    self.message = message
    hold = nil
    runtime.tasks.answer(self)
  }

  override var what: String { "a message of \(runtime.label(of: .item(port)))" }
  /// A message that was taken must not get lost.
  override var isFinal: Bool { true }

  override func abandon() {
    hold = nil
    waiter = nil
    runtime.stopReceiving(port)
  }

  override func push(on stack: LuaStack) -> Int {
    guard let message else { return stack.pushFailure("the port has ended", "EPIPE") }
    return runtime.push(message, on: stack)
  }

  override func join(_ mode: ModeName, _ loop: Loop) { try? loop.add(port, modes: [mode]) }
  override func leave(_ mode: ModeName, _ loop: Loop) { loop.remove(port, modes: [mode]) }
}
