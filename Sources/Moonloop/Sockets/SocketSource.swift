// Sockets by kind of callback: accept, connect, read, write, data (R151).

public import MoonloopCore
internal import MoonloopSystem

/// Watches a socket, and does what the kind of callback requires. Loop thread only.
///
/// Counterpart: `CFSocket`.
public final class SocketSource {
  /// What is reported for the reading side.
  public enum Reading: Sendable {
    /// That there is something to read, which the handler reads itself; in each pass.
    case read
    /// Each accepted connection.
    case accept
    /// The bytes that arrive.
    case data
  }

  /// The argument of the handler.
  public enum Event: Sendable {
    /// There is something to read, or the end of file.
    case readable
    /// A connection; its descriptor is the handler's.
    case accepted(fd: Int32)
    /// The bytes that arrived, at most 64 KiB; no bytes: the end of file, which comes last.
    case data([UInt8])
    /// The connection attempt is over; nil: it is connected.
    case connected(SystemError?)
    /// There is space to write. Once, until `enableWriting`.
    case writable
    /// Accepting or reading has failed; after a failed read there are no more reads.
    case failed(SystemError)
  }

  /// Called with one event.
  public typealias Handler = (_ socket: SocketSource, _ event: Event) -> Void

  /// The item, to be added to modes, removed and invalidated.
  public private(set) var source: Loop.DescriptorSource! = nil
  /// What is reported for the reading side; nil: nothing.
  public let reading: Reading?

  private let loop: Loop
  private var isConnecting: Bool
  private var wantsToWrite: Bool

  private static let chunk = 64 << 10

  /// Makes a source for a socket, in no mode yet; its item holds it until that is invalidated.
  /// - Parameters:
  ///   - fd: The socket.
  ///   - loop: The loop of this thread.
  ///   - reading: What to report when there is something to read.
  ///   - connects: Whether it is connecting: the outcome is reported, once.
  ///   - writes: Whether space to write is reported after that.
  ///   - closesDescriptor: Whether invalidation closes it.
  ///   - name: Its name in reports.
  ///   - handler: Called on the loop's thread.
  public init(
    _ fd: Int32, on loop: Loop, reading: Reading? = nil, connects: Bool = false,
    writes: Bool = false, closesDescriptor: Bool = false, name: String = "",
    handler: @escaping Handler
  ) {
    self.loop = loop
    self.reading = reading
    isConnecting = connects
    wantsToWrite = writes
    var events: Loop.DescriptorSource.Events = connects || writes ? .write : []
    if reading != nil && !connects { events.insert(.read) }
    // The item holds the source, so what it serves is here.
    source = loop.makeDescriptorSource(
      fd, closesDescriptor: closesDescriptor, events: events, name: name
    ) { [self] _, event in
      if event == .read { readReady(handler) } else { writeReady(handler) }
    }
  }

  /// Reports space to write once more. Loop thread only.
  public func enableWriting() {
    wantsToWrite = true
    source.enable(.write)
  }

  /// Reports no space to write any more.
  func disableWriting() {
    wantsToWrite = false
    if !isConnecting { source.disable(.write) }
  }

  /// Reports the reading side, or stops reporting it; what arrives meanwhile waits. Loop thread
  /// only.
  public func setReading(_ isEnabled: Bool) {
    if !isEnabled { return source.disable(.read) }
    if reading != nil && !isConnecting { source.enable(.read) }
  }

  private func readReady(_ handler: Handler) {
    switch reading {
    case .read: handler(self, .readable)
    case .accept: accept(handler)
    case .data: receive(handler)
    case nil: source.disable(.read)
    }
  }

  private func accept(_ handler: Handler) {
    // The waiting connection may have gone.
    guard loop.kernel.isReady(source.fd, for: .read) else { return }
    do throws(SystemError) {
      handler(self, .accepted(fd: try Sockets.accept(source.fd)))
    } catch {
      if error.name != "EAGAIN" && error.name != "ECONNABORTED" { handler(self, .failed(error)) }
    }
  }

  private func receive(_ handler: Handler) {
    var bytes: [UInt8] = []
    do throws(SystemError) {
      var result = Result<Int, SystemError>.success(0)
      bytes = [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
        result = Result { () throws(SystemError) in
          try source.read(loop.kernel, into: UnsafeMutableRawBufferPointer(buffer))
        }
        count = (try? result.get()) ?? 0
      }
      _ = try result.get()
    } catch {
      if error.name == "EAGAIN" { return }
      source.disable(.read)
      return handler(self, .failed(error))
    }
    if bytes.isEmpty { source.disable(.read) }
    handler(self, .data(bytes))
  }

  private func writeReady(_ handler: Handler) {
    if isConnecting {
      isConnecting = false
      let failure = Sockets.failure(of: source.fd)
      if failure == nil {
        if reading != nil { source.enable(.read) }
        if wantsToWrite { source.enable(.write) }
      }
      return handler(self, .connected(failure))
    }
    if !wantsToWrite { return }
    wantsToWrite = false
    handler(self, .writable)
  }
}
