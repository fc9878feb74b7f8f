// The graceful end of a connection: its peer reads everything that was written, even if it still
// sends.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// A connection that the script has closed, until the peer has closed it too.
///
/// A socket that is closed with unread input, or gets input later, is reset, and a reset destroys
/// what the peer has not received yet. So the writing side is shut down, which the peer reads as
/// the end of file, and later input is dropped until the peer's own end, for a bounded time and
/// amount. Loop thread only.
final class LingeringClose {
  private unowned(unsafe) let runtime: Runtime  // holds this, and ends it first
  private let fd: Int32
  private lazy var source = Loop.DescriptorSource(
    fd, closesDescriptor: true, name: "closing"
  ) { [weak self] _, _ in self?.drop() }
  private var timer: Loop.Timer?
  private var dropped = 0
  private var droppedBefore = 0
  private var quietChecks = 0

  /// How long a peer may be silent; how often that is checked at most; how much is dropped.
  private static let patience = Duration.seconds(2)
  private static let checksMost = 5
  private static let bytesMost = 16 << 20
  /// How much one event drops, so that others get their turn.
  private static let bytesAtOnce = 1 << 20
  /// The maximum number of lingering connections: beyond it the oldest is closed.
  static let most = 256

  /// - Parameters:
  ///   - fd: Closed by this.
  ///   - dropped: How much input was dropped already.
  init(_ runtime: Runtime, _ fd: Int32, dropped: Int) {
    self.runtime = runtime
    self.fd = fd
    self.dropped = dropped
  }

  /// Waits for the peer's end, where the stream was served and in the common modes.
  func begin(in modes: [ModeName]) {
    let loop = runtime.loop
    source.isNonBlocking = true
    source.onFailure = { [weak self] _, _ in self?.finish() }
    loop.setKeepsAlive(source, false)
    let timer = Loop.Timer(
      at: loop.now.advanced(by: Self.patience), every: Self.patience, name: "closing"
    ) { [weak self] _ in self?.check() }
    loop.setKeepsAlive(timer, false)
    self.timer = timer
    let places = modes.contains(.common) ? modes : modes + [.common]
    do {
      try loop.add(source, modes: places)
      try loop.add(timer, modes: places)
    } catch {
      return finish()
    }
    if dropped > 0 { keepRunning() }
  }

  /// Drops what has arrived.
  private func drop() {
    let outcome = Self.dropInput(of: source, runtime)
    dropped += outcome.count
    if outcome.isOver || dropped > Self.bytesMost { return finish() }
    if dropped > 0 { keepRunning() }
  }

  /// The peer is known to send: a run goes on for it.
  private func keepRunning() { runtime.loop.setKeepsAlive(source, true) }

  private func check() {
    quietChecks += 1
    if dropped == droppedBefore || quietChecks == Self.checksMost { return finish() }
    droppedBefore = dropped
  }

  /// Closes the descriptor.
  func finish() {
    guard source.isValid else { return }
    timer?.invalidate()
    if source.fd >= 0 { _ = Self.dropInput(of: source, runtime) }  // or it is a reset
    source.invalidate()
    runtime.lingering.removeAll { $0 === self }
  }

  fileprivate static func dropInput(
    of source: Loop.DescriptorSource, _ runtime: Runtime
  ) -> (count: Int, isOver: Bool) {
    source.dropInput(runtime.loop.kernel, into: runtime.loop.scratch, atMost: bytesAtOnce)
  }
}

extension Runtime {
  /// Ends a stream whose bytes are all written, so that they arrive.
  func endGently(_ stream: ScriptStream) {
    let source = stream.source
    // Another owner of the descriptor goes on with the connection.
    guard let family = stream.connection, stream.state.bytesWritten > 0,
      stream.state.output.isEmpty, !stream.state.isAtEnd, stream.state.readFailure == nil,
      stream.state.writeFailure == nil, !isClosing,
      (try? Sockets.shut(source.fd, bothWays: family == .unix)) != nil
    else { return end(source) }
    let outcome = LingeringClose.dropInput(of: source, self)
    // What is written to a Unix socket has arrived already, and nothing more can come.
    if family == .unix || outcome.isOver { return end(source) }
    let modes = stream.modes
    let closing = LingeringClose(self, source.releaseDescriptor(), dropped: outcome.count)
    end(source)
    begin(closing, in: modes)
  }

  private func begin(_ closing: LingeringClose, in modes: [ModeName]) {
    if lingering.count >= LingeringClose.most { lingering[0].finish() }
    lingering.append(closing)
    closing.begin(in: modes)
  }

  /// Takes the descriptor of a source whose bytes are all written, and ends it so that they arrive.
  func linger(_ source: Loop.DescriptorSource, in modes: [ModeName]) {
    if isClosing || (try? Sockets.shut(source.fd, bothWays: false)) == nil { return }
    let outcome = LingeringClose.dropInput(of: source, self)
    if outcome.isOver { return }
    begin(LingeringClose(self, source.releaseDescriptor(), dropped: outcome.count), in: modes)
  }

  /// Closes all connections that still wait for their peers.
  func endLingering() {
    for closing in lingering { closing.finish() }
  }
}
