// One connection of named ports: messages from a queue to a socket, and from the socket to
// the queue of a port of some state.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem
internal import Synchronization

/// Why a connection is over.
enum PortEnd: Sendable, Equatable {
  /// This side closed it.
  case closed
  /// The peer has ended or closed it.
  case peerEnded
  /// What arrived is not a message, or the system refused something.
  case failed(String, code: String)
}

/// Which way frozen tables go over a connection.
enum FrozenWay {
  case `in`
  case out
}

/// Messages that wait for room in a port.
private struct HeldMessages {
  let port: Loop.Port
  var messages: [PortMessage] = []

  /// How much of the limit a message uses: its value, and its overhead.
  static func cost(_ message: PortMessage) -> Int { message.value.size + 64 }
}

/// A connection. Hub thread only, unless noted otherwise, and therefore unchecked.
final class PortConnection: @unchecked Sendable {
  /// Messages to be sent. Any thread posts; the hub serves it.
  let outgoing: Loop.Port
  /// Any thread.
  let label: String
  /// Whether replies can still be sent. Any thread.
  private let isOpen = Atomic<Bool>(true)
  let hub: Loop
  /// Where messages for the connection's own port go.
  private let incoming: Loop.Port
  private let isListeners: Bool
  /// Frozen tables stay frozen in what is sent.
  let keepsFrozen: Bool
  /// That of the scripts which messages are for; nil: they have no limit.
  private let room: MemoryRoom?
  /// Counts what has arrived of a message.
  private let arriving: MemoryCharge?
  private var whenOver: (@Sendable (PortEnd) -> Void)?

  private var source: Loop.DescriptorSource?
  private var reader = PortFrameReader()
  private var output = PortOutput()
  /// The socket takes nothing at the moment.
  var isBlocked = false
  private var isFinishing = false
  private var linger: Loop.Timer?
  /// The peer has ended: so does this, once what has arrived has found room.
  private var endsWhenDelivered = false
  /// The scripts have no memory for what it could read.
  private var waitsToRead = false
  /// Attempts in a row that failed while no message of the scripts' ports could make room.
  private var hopeless = 0
  private static let mostHopeless = 10
  /// How many descriptors may have arrived without their frame.
  private let descriptorLimit: Int
  /// Descriptors that arrived and belong to incomplete frames.
  var descriptors: [Int32] = []
  /// What waits for replies of the peer, by number.
  private var awaited: [UInt64: ReplyTicket] = [:]
  private var lastRequest: UInt64 = 0
  /// Our ports that the peer can send to, and the peer's ports, by number.
  var exports = PortExports()
  /// Messages that had no room in their port yet, by port: each port keeps its own order.
  private var held: [ObjectIdentifier: HeldMessages] = [:]
  private var heldBytes = 0

  /// How much is read at once, and where the scripts have hardly any memory.
  private static let bufferSize = 1 << 16
  private static let leastBufferSize = 1 << 12

  /// How much is read past full ports, because a reply or a message for another port may follow.
  private static let heldLimit = 1 << 20
  /// How much may wait for a peer that does not read its replies.
  private static var outputLimit: Int { 2 * StructuredClone.sizeLimit }
  private static let requestLimit = 1 << 20
  /// How long a peer may take for the last messages.
  private static let lingering = Duration.seconds(30)

  /// - Parameters:
  ///   - peer: The other end, in words: "process 42".
  ///   - incoming: The port that gets arriving messages.
  ///   - room: For the messages that wait in that port.
  ///   - isListeners: It is one of many, whose messages name their sender.
  ///   - frozen: Which way frozen tables go; the other way, plain ones go in their place.
  ///   - largest: The maximum size of an arriving value; nil: the limit of this process.
  ///   - descriptorLimit: The maximum number of descriptors that arrive with one.
  init(
    _ hub: Loop, label: String, peer: String, capacity: Int, to incoming: Loop.Port,
    room: MemoryRoom? = nil, isListeners: Bool, frozen: FrozenWay? = nil,
    largest: Int? = nil,
    descriptorLimit: Int = 2 * Sockets.mostPassed,
    whenOver: @escaping @Sendable (PortEnd) -> Void
  ) {
    self.hub = hub
    self.label = label
    self.incoming = incoming
    self.room = room
    arriving = room?.apart().makeClaim()
    self.isListeners = isListeners
    self.descriptorLimit = descriptorLimit
    self.whenOver = whenOver
    if let largest { reader.largest = largest }
    keepsFrozen = frozen == .out
    reader.takesFrozen = frozen == .in
    outgoing = Loop.Port(name: peer, capacity: capacity) { _, _ in }
  }

  // MARK: Life

  /// Takes over the socket. The hub calls this first.
  func begin(_ fd: Int32) {
    let source = Loop.DescriptorSource(
      fd, closesDescriptor: true, events: .read, reenabled: .read, name: label
    ) { [self] _, event in
      if event.contains(.write) { flush() } else { read() }
    }
    self.source = source
    outgoing.listen { [self] _, message in send(first: message) }
    do throws(LoopError) {
      try hub.add(source)
      try hub.add(outgoing)
    } catch { end(.failed("\(error)", code: error.code)) }
  }

  /// Sends what is queued, and then closes. Hub thread.
  func finish() {
    guard !isFinishing, source != nil else { return }
    while let message = outgoing.take() as? PortMessage { enqueue(message, to: 0) }
    for (number, port) in exports.numbered {
      while let message = port.take() as? PortMessage { enqueue(message, to: number) }
    }
    isFinishing = true
    isOpen.store(false, ordering: .releasing)
    outgoing.invalidate()
    dropAwaited()
    held = [:]
    source?.disable(.read)
    linger = hub.schedule(after: Self.lingering) { [weak self] _ in self?.end(.closed) }
    flush()
  }

  /// Drops what has not been sent. Any thread.
  func endSoon() { hub.change { [self] _ in end(.closed) } }

  func end(_ reason: PortEnd) {
    guard let source else { return }
    self.source = nil
    linger?.invalidate()
    isOpen.store(false, ordering: .releasing)
    source.invalidate()
    outgoing.invalidate()
    output.removeAll()
    for descriptor in descriptors { _ = Descriptor(owning: descriptor) }
    descriptors = []
    dropAwaited()
    exports.end()
    held = [:]
    let tell = whenOver
    whenOver = nil
    tell?(reason)
  }

  private func dropAwaited() {
    let tickets = awaited
    awaited = [:]
    for ticket in tickets.values { ticket.drop() }
  }

  // MARK: Out

  private func send(first message: any Sendable) {
    if let message = message as? PortMessage { enqueue(message, to: 0) }
    // What was queued meanwhile shares a system call.
    while output.count < 1 << 16, let next = outgoing.take() as? PortMessage {
      enqueue(next, to: 0)
    }
    flush()
  }

  /// A message for a port that the peer had sent.
  func forward(_ message: any Sendable, to target: UInt64) {
    if let message = message as? PortMessage { enqueue(message, to: target) }
    flush()
  }

  private func enqueue(_ message: PortMessage, to target: UInt64) {
    if source == nil { return }  // the ticket is dropped with the message, which answers
    var frame = PortFrame(kind: .message, target: target)
    if let ticket = message.reply {
      if awaited.count >= Self.requestLimit { return ticket.drop() }
      lastRequest += 1
      awaited[lastRequest] = ticket
      frame.kind = .request
      frame.id = lastRequest
    }
    enqueue(&frame, message.value)
  }

  private func enqueue(_ frame: inout PortFrame, _ value: StructuredClone) {
    let (value, frozen) = keepsFrozen ? value.meltedForGuest : (value.thawed, [:])
    var passed: [Int32] = []
    for (place, attachment) in value.attachments.enumerated() {
      switch attachment {
      case .descriptor(let sent):
        guard let descriptor = sent.take() else {
          frame.passed.append(.own(0))  // for no port
          continue
        }
        passed.append(descriptor.release())
        frame.passed.append(.descriptor)
      case .port(let right): frame.passed.append(exports.number(of: right))
      case .frozen: frame.passed.append(.frozen(UInt64(frozen[place]!)))
      }
    }
    frame.body = value.encoded()
    output.append(frame, passed)
  }

  func say(_ kind: PortFrame.Kind, target: UInt64 = 0, id: UInt64 = 0) {
    if source == nil || isFinishing { return }
    output.append(PortFrame(kind: kind, target: target, id: id), [])
    flush()
  }

  /// Answers a request of the peer. Any thread.
  /// - Returns: false if the peer has gone.
  private func answer(_ id: UInt64, _ answer: ReplyAnswer) -> Bool {
    guard isOpen.load(ordering: .acquiring) else { return false }
    return hub.change { [weak self] _ in
      guard let self, source != nil else { return }
      switch answer {
      case .value(let value):
        var frame = PortFrame(kind: .reply, id: id)
        enqueue(&frame, value)
        flush()
      case .dropped, .failed: say(.dropped, id: id)
      }
    }
  }

  private func flush() {
    guard let source else { return }
    do throws(SystemError) {
      let isDone = try output.flush(to: source.fd)
      setBlocked(!isDone)
      if isDone {
        if isFinishing { end(.closed) }
      } else {
        source.enable(.write)
        if output.count > Self.outputLimit {
          end(.failed("\(output.count) bytes are waiting, and it does not read", code: "ENOBUFS"))
        }
      }
    } catch {
      switch error.name {
      // What it had sent before can still be read.
      case "EPIPE", "ECONNRESET": writingFailed()
      default: end(.failed("sending failed: \(error.message)", code: error.name))
      }
    }
  }

  private func writingFailed() {
    output.removeAll()
    isOpen.store(false, ordering: .releasing)
    if isFinishing { return end(.closed) }
    outgoing.invalidate()
    read()
  }

  private func setBlocked(_ blocked: Bool) {
    if blocked == isBlocked { return }
    isBlocked = blocked
    for port in [outgoing] + exports.proxies where port.isValid {
      port.setSuspended(blocked)
      if !blocked { hub.deliverHeld(port) }
    }
  }

  // MARK: In

  private var wantsInput: Bool {
    held.isEmpty || (!awaited.isEmpty || exports.areOurs) && heldBytes < Self.heldLimit
  }

  private func read() {
    for _ in 0..<4 {
      guard let source, wantsInput, !isFinishing, !endsWhenDelivered else { break }
      let size = claimBuffer()
      if size == 0 { return waitToRead() }
      let end = withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
        take(from: source.fd, buffer)
      }
      _ = arriving?.claim(reader.waiting)
      if let end { return inputEnded(end) }
    }
    if source != nil, !wantsInput { source?.disable(.read) }
  }

  /// - Parameter reason: `closed`: there is no more for now.
  private func inputEnded(_ reason: PortEnd) {
    if reason == .closed { return }
    if reason != .peerEnded || held.isEmpty { return end(reason) }
    endsWhenDelivered = true
    isOpen.store(false, ordering: .releasing)
    outgoing.invalidate()
    dropAwaited()
    source?.disable(.read)
  }

  /// Reads once.
  /// - Returns: Why there is no more to read: `closed` means for now.
  private func take(from fd: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> PortEnd? {
    do throws(SystemError) {
      let received = try Sockets.receive(fd, withDescriptorsInto: buffer)
      descriptors += received.descriptors
      if received.count == 0 {
        return reader.waiting == 0
          ? .peerEnded : .failed("it ended within a message", code: "EPIPE")
      }
      if received.isCut || received.descriptors.contains(where: { $0 < 0 }) {
        return .failed("descriptors that it sent could not be taken over", code: "EMFILE")
      }
      if descriptors.count > descriptorLimit {
        return .failed("it sent too many descriptors", code: "EBADMSG")
      }
      reader.append(UnsafeRawBufferPointer(rebasing: buffer[0..<received.count]))
    } catch {
      switch error.name {
      case "EAGAIN": return .closed
      case "ECONNRESET": return .peerEnded
      default: return .failed("receiving failed: \(error.message)", code: error.name)
      }
    }
    do throws(PortDamage) {
      while source != nil, let frame = try reader.next() {
        _ = arriving?.claim(reader.waiting)
        try handle(frame)
      }
    } catch { return .failed("it sent \(error.what)", code: "EBADMSG") }
    return nil
  }

  private func handle(_ frame: PortFrame) throws(PortDamage) {
    switch frame.kind {
    case .message, .request: try receive(frame)
    case .reply:
      let value = try value(of: frame)
      _ = awaited.removeValue(forKey: frame.id)?.answer(value)
    case .dropped: awaited.removeValue(forKey: frame.id)?.drop()
    case .released: exports.released(frame.target)
    case .gone: exports.gone(frame.target)
    }
  }

  private func receive(_ frame: PortFrame) throws(PortDamage) {
    var value = try value(of: frame)
    value.charge = room?.makeClaim()
    let id = frame.id
    var ticket: ReplyTicket?
    if frame.kind == .request {
      ticket = ReplyTicket { [weak self] answer in self?.answer(id, answer) ?? false }
    }
    guard let port = frame.target == 0 ? incoming : exports.port(frame.target), port.isValid else {
      if frame.target != 0 { say(.gone, target: frame.target) }
      return  // a request is dropped with its ticket
    }
    let from =
      isListeners && frame.target == 0 ? PortRight(outgoing, home: 0, isForeign: true) : nil
    let message = PortMessage(value: value, reply: ticket, from: from)
    let key = ObjectIdentifier(port)
    if held[key] == nil {
      let outcome = post(message, to: port)
      if outcome == .posted { return }
      held[key] = HeldMessages(port: port)
      retry(port, after: outcome)
    }
    held[key]?.messages.append(message)
    heldBytes += HeldMessages.cost(message)
  }

  private enum PostOutcome {
    case posted
    /// The port has as many messages as it takes.
    case full
    /// The scripts' limit leaves no memory.
    case noMemory
  }

  /// Puts a message into its port.
  private func post(_ message: PortMessage, to port: Loop.Port) -> PostOutcome {
    if let claim = message.value.charge, !claim.claim(HeldMessages.cost(message)) {
      return .noMemory
    }
    do throws(LoopError) { try port.post(parcel: message) } catch {
      if case .portFull = error { return .full }
    }
    return .posted
  }

  private func retry(_ port: Loop.Port, after outcome: PostOutcome) {
    switch outcome {
    case .posted: break
    // Posted in any case: there may be room here at once, and `retry` may be running.
    case .full: port.whenRoom { [self] in hub.post(.change { [self] _ in retry(port) }) }
    case .noMemory:
      RoomQueue.shared.wait(hub) { [weak self] in
        guard let self, let message = held[ObjectIdentifier(port)]?.messages.first else {
          return true
        }
        if let charge = message.value.charge, !charge.claim(HeldMessages.cost(message)) {
          failed(toClaim: HeldMessages.cost(message))
          return false
        }
        hopeless = 0
        retry(port)
        return true
      }
    }
  }

  /// An attempt failed. Ends the connection once no message that waits could make room for what it
  /// has in part, in several attempts: what the scripts have received may still be on its way out.
  private func failed(toClaim bytes: Int) {
    let canWait = bytes == 0 || !(room?.isUnclaimed ?? false)
    hopeless = canWait ? 0 : hopeless + 1
    if hopeless < Self.mostHopeless { return }
    end(.failed("there is no memory for a message of \(bytes) bytes or more", code: "ENOMEM"))
  }

  /// Claims memory for what has arrived of a message, and for what is read next if there is some.
  /// - Returns: How many bytes that may be; 0: there is no memory.
  private func claimBuffer() -> Int {
    guard let arriving else { return Self.bufferSize }
    if arriving.claim(reader.waiting + Self.bufferSize) { return Self.bufferSize }
    return arriving.claim(reader.waiting) ? Self.leastBufferSize : 0
  }

  private func waitToRead() {
    source?.disable(.read)
    if waitsToRead { return }
    waitsToRead = true
    RoomQueue.shared.wait(hub) { [weak self] in
      guard let self, let source, !isFinishing, !endsWhenDelivered else { return true }
      if claimBuffer() == 0 {
        failed(toClaim: reader.waiting)
        return false
      }
      hopeless = 0
      waitsToRead = false
      source.enable(.read)
      read()
      return true
    }
  }

  private func retry(_ port: Loop.Port) {
    let key = ObjectIdentifier(port)
    guard var waiting = held.removeValue(forKey: key) else { return }
    var done = 0
    var outcome = PostOutcome.posted
    while done < waiting.messages.count {
      outcome = post(waiting.messages[done], to: port)
      if outcome != .posted { break }
      heldBytes -= HeldMessages.cost(waiting.messages[done])
      done += 1
    }
    if done < waiting.messages.count {
      waiting.messages.removeFirst(done)
      held[key] = waiting
      retry(port, after: outcome)
    }
    if endsWhenDelivered {
      if held.isEmpty { end(.peerEnded) }
    } else if wantsInput, !isFinishing {
      source?.enable(.read)
    }
  }
}
