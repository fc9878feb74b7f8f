// Clients: one address after another, the next when one has failed or is slow (D27, RFC 8305).

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// The options of a client.
struct ConnectRequest {
  /// In messages: "localhost:80", "/run/app.sock".
  var text = ""
  var traits = StreamTraits()
  var limits: StreamLimits?
  var noDelay = true
  var keepAlive: Int?
  /// Which address the socket gets; nil: the system chooses.
  var localHost: String?
  var tls: TLSRequest?
}

/// One `ml.net.connect`: the first attempt that succeeds is the stream, the others are closed.
final class ConnectWait: NetWait {
  private let request: ConnectRequest
  /// The addresses not tried yet, with families in turn.
  private var rest: [SocketAddress] = []
  private var attempts: [Loop.DescriptorSource] = []
  private var pause: Loop.Timer?
  private var connected: Int32 = -1
  private var family = SocketAddress.Family.unix
  private var refusal: OperatingFailure?
  private var handshake: Handshake?

  /// How long an attempt may take before the next address is tried beside it (RFC 8305,
  /// section 5), and how long before a full Unix socket is tried again.
  private static let attemptDelay = Duration.milliseconds(250)
  private static let retryDelay = Duration.milliseconds(10)

  init(_ runtime: Runtime, _ request: ConnectRequest) {
    self.request = request
    super.init(runtime, "a connection to \(request.text)")
  }

  deinit { if connected >= 0 { runtime.loop.kernel.close(connected) } }

  // MARK: Attempts

  /// Looks the host up, then tries its addresses.
  func start(host: String, port: Int, _ family: Resolver.Family) throws(LoopError) {
    try lookUp(host, family) { [weak self] found in
      guard let self else { return }
      switch found {
      case .success(let addresses): start(addresses.map { $0.with(port: port) })
      case .failure(let failure):
        fail(failure.message, failure.code)
      }
    }
  }

  func start(_ addresses: [SocketAddress]) {
    rest = Self.interleaved(addresses)
    tryNext()
  }

  /// Families in turn, beginning with that of the first (RFC 8305, section 4).
  private static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
    guard let family = addresses.first?.family else { return [] }
    let first = addresses.filter { $0.family == family }
    let second = addresses.filter { $0.family != family }
    var merged: [SocketAddress] = []
    for place in 0..<max(first.count, second.count) {
      if place < first.count { merged.append(first[place]) }
      if place < second.count { merged.append(second[place]) }
    }
    return merged
  }

  private func tryNext() {
    pause.map(remove)
    pause = nil
    while !isOver, !rest.isEmpty {
      let address = rest.removeFirst()
      do {
        try attempt(address)
        if !isOver && !rest.isEmpty {
          holdClock(atMost: Self.attemptDelay.loopNanoseconds)
          tryNext(after: Self.attemptDelay)
        }
        return
      } catch {
        if error.name == "EAGAIN" && address.family == .unix {  // its backlog is full
          rest.insert(address, at: 0)
          letClockGo()
          return tryNext(after: Self.retryDelay)
        }
        note(error, address)
      }
    }
    if !isOver && attempts.isEmpty { fail() }
  }

  private func tryNext(after delay: Duration) {
    let timer = Loop.Timer(after: delay, name: "connect") { [weak self] _ in
      self?.holdClock()
      self?.tryNext()
    }
    pause = timer
    try? add(timer)
  }

  private func attempt(_ address: SocketAddress) throws(SystemError) {
    let socket = try Sockets.make(address.family)
    if let localHost = request.localHost,
      let local = SocketAddress(numeric: localHost, port: 0), local.family == address.family
    {
      try Sockets.bind(socket.number, local)
    }
    try? configure(socket.number, address.family)
    let isDone = try Sockets.connect(socket.number, address)
    if isDone { return succeed(socket.release(), address) }
    let source = Loop.DescriptorSource(
      socket.release(), closesDescriptor: true, events: .write, name: "connect"
    ) { [weak self] source, _ in self?.decided(source, address) }
    source.isNonBlocking = true
    do { try add(source) } catch {
      source.invalidate()
      if case .system(let refusal, _) = error { throw refusal }
      return
    }
    attempts.append(source)
  }

  private func configure(_ fd: Int32, _ family: SocketAddress.Family) throws(SystemError) {
    if family == .unix { return }
    if request.noDelay { try Sockets.set(fd, .noDelay) }
    if let idle = request.keepAlive { try Sockets.keepAlive(fd, idle) }
  }

  /// The kernel reports the outcome of an attempt.
  private func decided(_ source: Loop.DescriptorSource, _ address: SocketAddress) {
    guard !isOver else { return }
    attempts.removeAll { $0 === source }
    if let error = Sockets.failure(of: source.fd) {
      remove(source)
      note(error, address)
      if pause == nil || !rest.isEmpty { tryNext() }
      return
    }
    let fd = source.releaseDescriptor()
    remove(source)
    succeed(fd, address)
  }

  private func succeed(_ fd: Int32, _ address: SocketAddress) {
    family = address.family
    if let tls = request.tls { return secure(fd, tls) }
    connected = fd
    finish()
  }

  /// The handshake decides.
  private func secure(_ fd: Int32, _ tls: TLSRequest) {
    for attempt in attempts { remove(attempt) }
    pause.map(remove)
    (attempts, pause, rest) = ([], nil, [])
    letClockGo()  // waiting for the peer, as in a read
    guard let session = try? tls.session() else {
      runtime.loop.kernel.close(fd)
      return fail("TLS: no memory", "ENOMEM")
    }
    let handshake = Handshake(runtime, fd, session) { [weak self] failure in
      guard let self else { return }
      if let failure {
        self.handshake?.endGently(in: modes)
        return fail(failure.message, failure.code)
      }
      connected = self.handshake?.take() ?? -1
      finish()
    }
    self.handshake = handshake
    do { try handshake.begin(add) } catch { fail("TLS: \(error)", "EINVAL") }
  }

  private func note(_ error: SystemError, _ address: SocketAddress) {
    let place = address.text == request.text ? "" : " at \(address.text)"
    refusal = OperatingFailure(
      "connect to \(request.text) failed: \(error.message) (\(error.name))\(place)", error.name)
  }

  private func fail(_ text: String, _ code: String) {
    refusal = OperatingFailure("connect to \(request.text) failed: \(text)", code)
    finish()
  }

  private func fail() {
    if refusal == nil {
      refusal = OperatingFailure(
        "connect to \(request.text) failed: the name has no address", "EAI_NODATA")
    }
    finish()
  }

  override func ended() {
    handshake?.end()
    attempts = []
    pause = nil
    rest = []
  }

  // MARK: The answer

  override func push(on stack: LuaStack) -> Int {
    if connected < 0 {
      let failure = refusal ?? OperatingFailure("ml.net.connect: no answer", "EAGAIN")
      return stack.pushFailure(failure.message, failure.code)
    }
    var traits = request.traits
    traits.isNonBlocking = true
    traits.connection = family
    let fd = connected
    connected = -1
    do throws(SystemError) {
      let stream = try runtime.makeStream(fd, traits, on: stack)
      handshake?.handOver(to: stream)
      request.limits?.apply(to: stream)
      return 1
    } catch {
      runtime.loop.kernel.close(fd)
      return stack.pushFailure("ml.net.connect: \(error)", error.name)
    }
  }
}

extension Sockets {
  /// Probes idle peers after this many seconds of silence.
  static func keepAlive(_ fd: Int32, _ seconds: Int) throws(SystemError) {
    try set(fd, .keepAlive)
    try set(fd, .keepIdle, Int32(clamping: seconds))
    try set(fd, .keepInterval, Int32(clamping: max(1, seconds / 3)))
  }
}

private let connectOptions: [StaticString] = [
  "host", "port", "path", "family", "timeout", "local_host", "nodelay", "keepalive", "name",
  "modes", "io_timeout", "line_limit", "buffer_limit", "write_limit", "tls",
]

/// `ml.net.connect { host, port | path, timeout, … }`: a stream, once it is connected.
func netConnect(_ call: HostCall) throws -> Int32 {
  try call.requireRoom()
  let options = try call.options(
    1, connectOptions, example: "{ host = \"localhost\", port = 8080, timeout = 5 }")
  let place = try NetPlace(options, call, isServer: false)
  try call.requireGrant(for: place)
  var request = ConnectRequest()
  request.text = place.text
  request.traits.name = try options.name() ?? place.text
  request.traits.modes = try options.modes()
  request.traits.madeAt = call.stack.position
  request.limits = try StreamLimits(options, timeout: "io_timeout")
  request.noDelay = try options.boolean("nodelay") ?? true
  request.keepAlive = try options.integer("keepalive", in: 1...32767)
  request.localHost = try options.systemText("local_host")
  let family = try options.family()
  let timeout = try options.seconds("timeout", .notNegative)
  request.tls = try call.clientTLS(options, host: try options.systemText("host"))
  let coroutine = try call.requireWaiting()
  let wait = ConnectWait(call.runtime, request)
  do {
    switch place {
    case .address(let address): wait.start([address])
    case .name(let host, let port): try wait.start(host: host, port: port, family)
    }
  } catch {
    wait.end()
    throw error
  }
  return try call.wait(wait, coroutine, timeout)
}
