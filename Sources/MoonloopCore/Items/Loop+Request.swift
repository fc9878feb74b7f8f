// Ports whose handlers answer, and requests to them (R58, R147).

internal import Synchronization

extension Loop.Port {
  /// Makes a port whose handler returns a reply, on no loop yet: the reply goes to the caller of
  /// `Loop.request`. A message that was posted needs no reply, and the result is dropped.
  /// - Parameters:
  ///   - name: Its name in reports.
  ///   - capacity: How many messages may wait, at least 1.
  ///   - answer: Called on the thread of a loop that it is in, once for each message.
  /// - SeeAlso: `Loop.makePort(answering:)`, for closures bound to one thread;
  ///   counterpart: `perform` of a version-1 `CFRunLoopSourceContext`.
  public convenience init(
    name: String = "", capacity: Int = 65_536,
    answering answer:
      @escaping @Sendable (_ port: Loop.Port, _ message: any Sendable) ->
      any Sendable
  ) {
    let plain: Loop.Port.Handler = { PortRequest.answer($0, $1, answer) }
    self.init(name: name, capacity: capacity, handler: plain)
  }
}

extension Loop {
  /// How a request ended.
  public enum RequestOutcome: Sendable {
    case reply(any Sendable)
    /// The time was over first, or the run was stopped.
    case timedOut
    /// There will be no answer: the port was invalid or full or has ended, or its handler gives no
    /// replies.
    case unanswered
  }

  /// Makes a port whose handler gives a reply, for loops of this thread; see the initialiser.
  /// - Note: Loop thread only.
  public func makePort(
    name: String = "", capacity: Int = 65_536,
    answering answer: @escaping (_ port: Port, _ message: any Sendable) -> any Sendable
  ) -> Port {
    makePort(name: name, capacity: capacity) { PortRequest.answer($0, $1, answer) }
  }

  /// Posts a message to a port and runs this loop until the reply has come (R58, R147).
  ///
  /// The run is in a private mode that holds only the reply, and the port if that is this loop's.
  /// - Parameters:
  ///   - port: One whose handler returns replies; any other gets the message, and answers nothing.
  ///   - message: What the handler gets.
  ///   - timeout: The maximum time to wait; nil: forever.
  /// - Note: Loop thread only.
  @available(*, noasync)
  public func request(
    _ port: Port, _ message: any Sendable, timeout: Duration? = nil
  ) -> RequestOutcome {
    requireThread("request")
    var answer: PortRequest.Answer?
    // Unowned: the port ends with this call.
    let replies = makePort(name: "reply of \(port.label)", capacity: 1) { [unowned self] in
      answer = $1 as? PortRequest.Answer
      stop()
    }
    let mode = ModeName("moonloop.request.\(depth + 1)")
    let isOurs = !modes(of: port).isEmpty
    defer {
      replies.invalidate()
      if isOurs { remove(port, modes: [mode]) }
    }
    do throws(LoopError) {
      try add(replies, modes: [mode])
      if isOurs { try add(port, modes: [mode]) }
      try port.post(PortRequest(message, to: replies))
    } catch { return .unanswered }
    run(mode: mode, for: timeout)
    switch answer {
    case .reply(let value): return .reply(value)
    case .dropped: return .unanswered
    case nil: return .timedOut
    }
  }
}

/// A message that wants a reply. When it is dropped, the requester gets an error.
private final class PortRequest: Sendable {
  enum Answer: Sendable {
    case reply(any Sendable)
    case dropped
  }

  let message: any Sendable
  private let replies: Loop.Port
  private let isAnswered = Atomic<Bool>(false)

  init(_ message: any Sendable, to replies: Loop.Port) {
    self.message = message
    self.replies = replies
  }

  deinit { post(.dropped) }

  private func post(_ answer: Answer) {
    if isAnswered.exchange(true, ordering: .acquiringAndReleasing) { return }
    try? replies.post(answer)  // If that fails, the wait is over.
  }

  static func answer(
    _ port: Loop.Port, _ message: any Sendable,
    _ body: (_ port: Loop.Port, _ message: any Sendable) -> any Sendable
  ) {
    guard let request = message as? PortRequest else {
      _ = body(port, message)
      return
    }
    request.post(.reply(body(port, request.message)))
  }
}
