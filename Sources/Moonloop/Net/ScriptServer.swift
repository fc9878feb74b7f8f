// Listeners: one task for each connection (D25), and an accept loop that survives a lack of
// descriptors.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// What a listener does with its connections.
struct ServerSettings {
  /// What it makes of its connections.
  var limits: StreamLimits?
  var noDelay = true
  var keepAlive: Int?
  var mostConnections = Int.max
  /// Whether it has a handler, which gets each connection.
  var hasHandler = false
  /// Whether its connections are encrypted.
  var tls: TLSRequest?
}

/// What a listener has besides its descriptor. Loop thread only.
final class ScriptServer {
  unowned(unsafe) let runtime: Runtime  // the state holds it, and ends all servers first
  unowned(unsafe) let source: Loop.DescriptorSource  // holds this
  let address: SocketAddress
  var settings = ServerSettings()
  /// What identifies it when it is made again: its name, or the requested addresses.
  var identity = ""
  /// The keys of those.
  var requested: [[UInt8]] = []
  /// What distinguishes the file of a Unix socket from another in its place.
  var fileIdentity: UInt64?
  /// How many of its connections are open.
  private(set) var connections = 0
  /// The task that waits in `server:accept`.
  var accepting: AcceptWait?
  /// Its handshakes, if it has any.
  private(set) lazy var handshakes = ServerHandshakes(self)
  var hasHandler: Bool { settings.hasHandler }
  /// Accepting goes on when this fires: there was a lack of descriptors.
  private var pause: Loop.Timer?
  // What its connections share.
  private lazy var connectionName =
    source.name.isEmpty ? "connection" : "connection of \(source.name)"
  private var sharedModes: [ModeName] = []
  private lazy var connectionEnds = { [weak self] () -> Void in self?.connectionEnded() }
  /// Whether the present lack was reported.
  private var isWantReported = false

  /// The maximum number of connections per event, so that others get their turn (R54).
  private static let batch = 16
  /// How long it waits for descriptors to be closed.
  private static let pauseTime = Duration.milliseconds(100)

  init(_ runtime: Runtime, _ source: Loop.DescriptorSource, _ address: SocketAddress) {
    self.runtime = runtime
    self.source = source
    self.address = address
  }

  /// The server of a source of that kind; nil once it has ended.
  static func of(_ source: Loop.DescriptorSource) -> ScriptServer? {
    source.state(as: ScriptServer.self)
  }

  /// From the next connection on.
  func change(to settings: ServerSettings) {
    self.settings = settings
    settle()
  }

  // MARK: Accepting

  /// A connection is waiting to be accepted.
  func ready() {
    for _ in 0..<Self.batch {
      guard source.isValid, !isPaused else { break }
      guard let fd = acceptOne() else { return }
      take(fd)
    }
    settle()
  }

  var isPaused: Bool {
    if pause != nil { return true }
    let open = settings.tls == nil ? connections : connections + handshakes.count
    // Without a handler, connections wait for `server:accept`.
    if settings.tls != nil, !hasHandler, handshakes.count >= Self.batch { return true }
    return open >= settings.mostConnections
  }

  /// - Returns: nil if there is none now; obstacles to accepting have been dealt with.
  func acceptOne() -> Int32? {
    if runtime.handles.itemCount >= runtime.handles.limit {
      let limit =
        "the limit of \(runtime.handles.limit) handles is reached; see ml.limit"
      if runtime.loop.kernel.isReady(source.fd, for: .read) { rest(limit, "EMFILE") }
      return nil
    }
    do throws(SystemError) {
      let fd = try Sockets.accept(source.fd)
      isWantReported = false
      return fd
    } catch {
      switch error.name {
      case "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM":
        // The system first looks for a free number, and reports a lack even if no connection waits.
        if runtime.loop.kernel.isReady(source.fd, for: .read) {
          rest("\(error.message) (\(error.name))", error.name)
        }
      // The connection or its network has gone already: the next one may be better.
      default: break
      }
      return nil
    }
  }

  /// - Returns: A connection that can be used at once.
  func acceptNow() -> Connection? {
    if settings.tls != nil { return handshakes.takeKept() }
    return isPaused ? nil : acceptOne().map { Connection($0) }
  }

  /// Descriptors or handles are lacking: accepting stops for a while, and goes on by itself.
  private func rest(_ reason: String, _ code: String) {
    if !isWantReported {
      isWantReported = true
      let text =
        "\(runtime.label(of: .item(source))) cannot accept: \(reason); it "
        + "tries again every \(Self.pauseTime); reported once"
      runtime.report(LuaError(message: text, code: code), .item(source))
    }
    guard source.isValid else { return }
    pause = runtime.loop.schedule(
      after: Self.pauseTime, modes: runtime.loopContext.modes(of: .item(source)),
      name: "accept again"
    ) { [weak self] _ in
      self?.pause = nil
      self?.settle()
    }
    settle()
  }

  /// Makes the kernel report connections while they can be accepted.
  func settle() {
    guard source.isValid else { return }
    if (hasHandler || accepting?.isActive ?? false) && !isPaused {
      source.enable(.read)
    } else {
      source.disable(.read)
    }
  }

  // MARK: Connections

  private func take(_ fd: Int32) {
    if let tls = settings.tls { handshakes.begin(fd, tls) } else { give(Connection(fd)) }
  }

  /// A connection can be used.
  func give(_ connection: Connection) {
    if let accepting, accepting.isActive {
      accepting.come(connection)
    } else if hasHandler {
      serve(connection)
    } else {
      handshakes.keep(connection)
    }
  }

  /// A connection that was accepted, with its handshake.
  struct Connection {
    let fd: Int32
    var handshake: Handshake?

    init(_ fd: Int32, _ handshake: Handshake? = nil) {
      self.fd = fd
      self.handshake = handshake
    }
  }

  /// Makes the stream of a connection, and pushes its handle. [-0, +1]
  func makeStream(_ connection: Connection, on stack: LuaStack) -> ScriptStream? {
    let fd = connection.fd
    if address.family != .unix {
      if settings.noDelay { try? Sockets.set(fd, .noDelay) }
      if let keepAlive = settings.keepAlive { try? Sockets.keepAlive(fd, keepAlive) }
    }
    var traits = StreamTraits()
    traits.name = source.name
    traits.isNonBlocking = true
    traits.connection = address.family
    traits.modes = modes
    traits.madeAt = runtime.handles.place(of: source)
    guard let stream = try? runtime.makeStream(fd, traits, on: stack) else { return nil }
    connection.handshake?.handOver(to: stream)
    settings.limits?.apply(to: stream)
    connections += 1
    stream.whenEnded = connectionEnds
    return stream
  }

  /// The server's modes: one array for all its connections, as long as they are the same.
  private var modes: [ModeName] {
    let modes = runtime.loopContext.modes(of: .item(source))
    if modes != sharedModes { sharedModes = modes }
    return sharedModes
  }

  private func connectionEnded() {
    connections -= 1
    if connections == settings.mostConnections - 1 { settle() }
  }

  /// Starts the task of a connection: its handler with the stream and the peer.
  private func serve(_ connection: Connection) {
    let fd = connection.fd
    let stack = runtime.state.stack
    guard stack.reserve(8) else { return runtime.loop.kernel.close(fd) }
    let base = Int32(stack.count)
    stack.push(ref: source.maker.ref)
    stack.pushSlot(1, of: -1)
    guard let stream = makeStream(connection, on: stack) else {
      stack.setCount(base)
      return runtime.loop.kernel.close(fd)
    }
    stack.push(peerOf: fd)
    let task = ScriptTask(subject: .chunk, modes: stream.modes)
    task.name = connectionName
    task.madeAt = runtime.handles.place(of: source)
    task.onError = runtime.handles.onError(of: source)
    task.isDetached = true
    task.connection = stream
    runtime.tasks.prepare(task, in: nil, on: stack, function: base + 2, isScope: false)
    stack.setCount(base)
  }

  // MARK: The end

  func ended() {
    pause?.invalidate()
    pause = nil
    if settings.tls != nil { handshakes.end() }
    if let fileIdentity, Sockets.fileIdentity(address) == fileIdentity {
      Sockets.removeFile(address)
    }
    accepting?.serverEnded()
    accepting = nil
  }
}

/// A task that waits in `server:accept`.
final class AcceptWait: ArrivalWait {
  private let server: ScriptServer
  private var connection: ScriptServer.Connection?

  init(_ server: ScriptServer, _ label: String) {
    self.server = server
    super.init(server.runtime, server.source, label)
  }

  override var what: String { "a connection to \(label)" }
  override var isFinal: Bool { connection != nil }
  override func enterItem() { server.accepting = self }
  override func leaveItem() { if server.accepting === self { server.accepting = nil } }
  override func settleItem() { server.settle() }

  override func abandon() {
    dropConnection()
    super.abandon()
  }

  private func dropConnection() {
    if let connection { runtime.loop.kernel.close(connection.fd) }
    connection = nil
  }

  func come(_ connection: ScriptServer.Connection) {
    self.connection = connection
    goOn()
  }

  func serverEnded() {
    dropConnection()
    if close() { goOn() }
  }

  override func pushArrival(on stack: LuaStack) -> Int {
    guard let connection = connection.take(), server.makeStream(connection, on: stack) != nil else {
      return stack.pushFailure("\(label): the connection was lost", "ECONNABORTED")
    }
    stack.push(peerOf: connection.fd)
    return 2
  }
}
