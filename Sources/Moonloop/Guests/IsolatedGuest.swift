// A guest in its own process, as its host sees it: a child that is killed with it, and a connection
// like those of named ports, whose messages are not trusted.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// The connection is over: arrives after the last message.
private struct GuestFarewell: Sendable {
  let end: PortEnd
}

/// One guest in its own process. Thread of the host's loop only.
final class IsolatedGuest: ScriptGuest {
  private var child: Child?
  private var connection: PortConnection?
  /// Messages from the process; served where the guest is, as is the process's end.
  private var incoming: Loop.Port?
  private var exit: Loop.DescriptorSource?
  private var connectionEnd: PortEnd?
  /// The process has said that its script has started.
  private var hasBegun = false
  private var isRunning = true
  private var waits: [UInt64: CrossingWait] = [:]
  private var lastCall: UInt64 = 0
  /// The host's functions that are running for it: what cancels each, and its arguments' size.
  private var hostCalls: [UInt64: (cancel: () -> Void, size: Int)] = [:]
  private var written = GuestAccount()
  /// As its process has reported it.
  private var reported = GuestUsage()
  /// How long a virtual clock waits for an answer.
  private static let patience: Int64 = 2_000_000_000
  /// Keeps a virtual clock from jumping while the process owes an answer.
  private var hold: Hold?

  override var hasEnded: Bool { child == nil }
  override var isBusy: Bool { !hasBegun || isRunning || hasCalls }

  // MARK: The begin

  /// Starts the process.
  /// - Parameter start: Pushes the order that starts it, a table.
  func open(
    _ name: String, _ grants: GuestGrants, _ script: WorkerText, start: (LuaStack) -> Void
  ) throws {
    let first = try order { stack in start(stack) }
    let hub = try PortHub.loop()
    let ends = try ChildDescriptors.sockets()
    do {
      child = try GuestProgram.start(grants, limits, script, socket: ends.theirs)
    } catch {
      ChildDescriptors.close(ends.ours)
      throw error
    }
    // Unowned, as below: `close` ends the port and the source.
    let incoming = Loop.Port(name: name, capacity: 8) { [unowned self] _, parcel in
      take(parcel)
    }
    self.incoming = incoming
    let connection = PortConnection(
      hub, label: "guest '\(name)'", peer: name, capacity: 1 << 16, to: incoming,
      isListeners: false, frozen: .out, largest: limits.message, descriptorLimit: 16
    ) { [weak incoming] end in _ = incoming?.postAlways(GuestFarewell(end: end)) }
    self.connection = connection
    hub.change { _ in connection.begin(ends.ours) }
    try? connection.outgoing.post(parcel: PortMessage(value: first))
    let exit = Loop.DescriptorSource(child!.fd, name: name) { [unowned self] _, _ in exited() }
    exit.isNonBlocking = true
    self.exit = exit
    host.loop.setKeepsAlive(incoming, false)
    host.loop.setKeepsAlive(exit, false)
    settle()
  }

  // MARK: Modes

  override func join(_ mode: ModeName) {
    guard let incoming, let exit, exit.isValid else { return }
    try? host.loop.add(incoming, modes: [mode])
    try? host.loop.add(exit, modes: [mode])
  }

  override func leave(_ mode: ModeName) {
    guard let incoming, let exit, exit.isValid else { return }
    host.loop.remove(incoming, modes: [mode])
    host.loop.remove(exit, modes: [mode])
  }

  override func isServed(by item: Loop.Item) -> Bool { item === incoming || item === exit }

  override func settle() {
    guard child != nil else { return }
    host.loop.setKeepsAlive(source, mayHold && isBusy && !isSuspended)
    // While a function of the host runs, the host has the turn.
    let isAsked = !isSuspended && (!hasBegun || hasCalls && hostCalls.isEmpty)
    if isAsked == (hold != nil) { return }
    hold?.release()
    hold = isAsked ? exit.map { host.loop.holdClock(host.label(of: .item(source)), for: $0) } : nil
    hold?.release(after: Self.patience, on: host.loop)
  }

  override func suspensionChanged() {
    try? child?.send(isSuspended ? SignalNumber.stop : SignalNumber.goOn, toGroup: false)
    if !isSuspended { tell { $0.setField("resume", true) } }
    settle()
  }

  override func obey(_ verdict: GuestVerdict?, _ what: String) {
    // it waits for the verdict
    if case .warn = verdict ?? (what == "stops" ? .end : .warn) {
      return tell { $0.setField("resume", true) }
    }
    super.obey(verdict, what)
  }

  // MARK: Out

  /// A table as a message.
  private func order(
    _ fill: (LuaStack) -> Void
  ) throws(StructuredClone.Obstacle) -> StructuredClone {
    let stack = host.state.stack
    stack.newTable()
    defer { stack.pop() }
    fill(stack)
    let order = try StructuredClone(stack, -1) { host.attachment($0, $1) }
    if order.thawed.size > limits.message {
      throw StructuredClone.Obstacle(path: "the message", what: "", isTooLarge: true)
    }
    return order
  }

  private func tell(_ fill: (LuaStack) -> Void) {
    guard let connection, let order = try? order(fill) else { return }
    try? connection.outgoing.post(parcel: PortMessage(value: order))
  }

  override func begin(_ call: GuestCall, _ wait: CrossingWait) {
    lastCall += 1
    let number = lastCall
    do {
      let value = try order { stack in
        stack.setField("call", bytes: call.name)
        stack.setField("id", Int(number))
        host.setItems(call.arguments, on: stack)
      }
      waits[number] = wait
      // Its end may be on its way; then the call fails.
      wait.cancel = { [weak self] in
        self?.waits[number] = nil
        self?.tell { $0.setField("cancel", Int(number)) }
      }
      try? connection?.outgoing.post(parcel: PortMessage(value: value))
      settle()
    } catch {
      let text = "the arguments are larger than \(limits.message) bytes"
      wait.finish(.failure(.refused(LuaError(message: text))))
    }
  }

  // MARK: In

  private func take(_ parcel: any Parcel) {
    if let message = parcel as? PortMessage {
      receive(message)
    } else if let farewell = parcel.message as? GuestFarewell {
      connectionEnd = farewell.end
      child?.kill()
      exited()
    }
    settle()
    tellEvents()
  }

  private func receive(_ message: PortMessage) {
    host.reading(message.value) { stack in
      if let ticket = message.reply { return callHost(stack, ticket) }
      if let number = stack.rawInteger(-1, "answer") {
        reported.read(stack)
        waits.removeValue(forKey: UInt64(clamping: number))?.finish(host.outcome(on: stack))
        return
      }
      if let text = stack.rawBytes(-1, "output") {
        wrote(text, to: stack.rawInteger(-1, "stream") == 2 ? 2 : 1)
      }
      if let what = stack.rawField(-1, "limit") { note(.limit(String(what.prefix(100)))) }
      if let words = stack.rawField(-1, "status") {
        hasBegun = true
        isRunning = words == "running"
        reported.read(stack)
        if words == "ended" { note(.over) }
      }
      if let failure = host.failure(on: stack) { note(.error(failure)) }
    }
  }

  private func wrote(_ text: [UInt8], to stream: Int32) {
    let second = host.loop.clock.now() / 1_000_000_000
    if case .fits = written.note(written: text.count, in: second, limit: limits.output) {
      text.withUnsafeBytes { note(output: stream, $0) }
    }
  }

  /// It calls a function of the host; the table on top of the stack has the name and the arguments.
  private func callHost(_ stack: LuaStack, _ ticket: ReplyTicket) {
    let values = host.items(on: stack)
    if case .failure(.refused) = values { return answer(ticket, values) }
    guard let name = stack.rawField(-1, "name"), let function = functions[ExactText(name)],
      hostCalls.count < limits.state.handles ?? .max,
      case .success(let copies) = values,
      // Its process counts its own, unless it has been taken over.
      hostCalls.values.reduce(copies.size, { $0 + $1.size }) <= limits.state.memory ?? .max
    else { return ticket.drop() }
    lastCall += 1
    let number = lastCall
    hostCalls[number] = ({}, copies.size)  // it may be over at once
    let modes = host.loop.modes(of: source)
    let cancel = host.run(copies, modes: modes.isEmpty ? [.default] : modes) { stack in
      stack.push(function)
    } whenOver: { [weak self] outcome in
      guard let self else { return }
      hostCalls[number] = nil
      answer(ticket, outcome)
      settle()
    }
    if hostCalls[number] != nil { hostCalls[number]?.cancel = cancel }
  }

  private func answer(_ ticket: ReplyTicket, _ outcome: GuestCallOutcome) {
    if hasEnded || host.isClosing { return }
    let words = "the results are larger than \(limits.message) bytes"
    let value = try? reply(outcome) ?? order { $0.setRaised(words) }
    if let value { _ = ticket.answer(value) } else { ticket.drop() }
  }

  private func reply(_ outcome: GuestCallOutcome) -> StructuredClone? {
    try? order { stack in
      switch outcome {
      case .success(let values): host.setItems(values, on: stack)
      case .failure(.ended): stack.setRaised("the host's function was cancelled")
      case .failure(.refused(let error)): stack.setRaised(error.message)
      case .failure(.raised(let failure)):
        stack.setRaised(failure.message)
        guard let value = failure.value else { return }
        stack.setField("value") { value.push(on: stack, pushAttachment: host.push) }
      }
    }
  }

  override var usage: GuestUsage {
    var usage = reported
    guard let process = child?.usage else { return usage }
    usage.resident = process.resident
    usage.processor = process.nanoseconds
    return usage
  }

  // MARK: The end

  /// The process or the connection has ended; once both have, that is reported.
  private func exited() {
    guard let child else { return }
    if !child.look() { return }
    exit?.disable(.read)
    guard let connectionEnd else { return }
    child.reap()
    note(.error(WorkerFailure(LuaError(message: words(connectionEnd, child.status)))))
    note(.over)
    tellEvents()
  }

  private func words(_ end: PortEnd, _ status: ChildStatus?) -> String {
    if case .failed(let text, _) = end { return "the guest's process was killed: \(text)" }
    guard let signal = status?.signal else {
      return "the guest's process has ended\(status?.code.map { ", with status \($0)" } ?? "")"
    }
    let name = SignalNumber.name(of: signal)
    return "the guest's process was killed by SIG\(name.uppercased())"
      + (name == "sys" ? ": it made a system call that guests may not make" : "")
  }

  override func close() {
    guard let child else { return }
    self.child = nil
    child.kill()
    exit?.invalidate()
    incoming?.invalidate()
    connection?.endSoon()
    hold?.release()
    child.close()
    waits = [:]
    let given = hostCalls.values
    hostCalls = [:]
    for call in given { call.cancel() }
    failCalls()
    tellLast()
  }
}
