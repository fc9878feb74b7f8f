// A script's stream: which tasks wait for its bytes, and in which modes; the bytes themselves
// are handled by the core.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// What a script's stream has besides its bytes. Loop thread only.
final class ScriptStream {
  // State that every read and write uses is unchecked: no access to it spans a call into Lua.

  /// Input and output.
  let bytes: Loop.Stream
  private let storage: UnsafeMutablePointer<Loop.Stream.State>  // of `bytes`
  /// State that every read and write uses.
  var state: Loop.Stream.State {
    @inline(__always) unsafeAddress { UnsafePointer(storage) }
    @inline(__always) unsafeMutableAddress { storage }
  }
  private let plainRuntime: Unmanaged<Runtime>  // the state holds it, and ends all streams first
  var runtime: Runtime { plainRuntime.takeUnretainedValue() }
  /// Where it is served when no task waits for it: queued bytes, and the handler of events.
  @exclusivity(unchecked) var modes: [ModeName]
  private let modesCharge: MemoryCharge?
  /// The time limits of reads and writes; nil: none.
  var readTimeout: Int64? {
    get { readLimit == .max ? nil : readLimit }
    set { readLimit = newValue ?? .max }
  }
  var writeTimeout: Int64? {
    get { writeLimit == .max ? nil : writeLimit }
    set { writeLimit = newValue ?? .max }
  }
  @exclusivity(unchecked) private var readLimit = Int64.max
  @exclusivity(unchecked) private var writeLimit = Int64.max
  /// The waits, made when first needed.
  @exclusivity(unchecked) private(set) var writer: StreamWriter?
  /// The same for reading, held by hand: set once and released with the stream, so that code that
  /// holds the stream reaches it without counting a reference.
  @exclusivity(unchecked) private(set) var heldReader: Unmanaged<StreamReader>?
  var reader: StreamReader? { heldReader?.takeUnretainedValue() }
  /// The code that the last read reported, if it was not bytes or the end of file.
  @exclusivity(unchecked) var lastFailure: String?
  /// The handler of events, if there is one.
  @exclusivity(unchecked) var events: StreamEvents?
  /// It closes as soon as what is queued is written, or after a time limit.
  @exclusivity(unchecked) var closing: StreamClosing?
  /// Set if it is a connection of this family whose descriptor has no other owner.
  var connection: SocketAddress.Family?
  /// Its descriptor, also once that was closed.
  private let number: Int32
  /// The task that read last, if the maker of the stream asked for it (`whenOver`).
  @exclusivity(unchecked) var lastReader: ScriptTask?
  /// Counts queued bytes as script memory.
  private var charge: MemoryCharge?
  /// Called once when it is closed, in whatever way; set by its maker.
  var whenEnded: (() -> Void)?

  init(
    _ runtime: Runtime, _ source: Loop.DescriptorSource, modes: [ModeName], canRead: Bool,
    canWrite: Bool
  ) {
    plainRuntime = .passUnretained(runtime)
    number = source.fd
    self.modes = modes
    modesCharge = runtime.state.charge(modes)
    bytes = Loop.Stream(source, canRead: canRead, canWrite: canWrite)
    storage = bytes.storage
  }

  deinit { heldReader?.release() }

  /// The stream of a source of that kind; nil once it has ended.
  @inline(__always)
  static func of(_ source: Loop.DescriptorSource) -> ScriptStream? {
    source.state(as: ScriptStream.self)
  }

  /// The same by its handle, which may have ended before the stream.
  @inline(__always)
  static func of(_ handle: LuaHandle) -> ScriptStream? {
    of(handle.item(as: Loop.DescriptorSource.self))
  }

  /// Whether a task waits for it, or a handler takes its events; one for the end alone does not use
  /// it.
  var isUsed: Bool { !(events?.isForEnd ?? true) || isBeingRead || isBeingWritten }

  /// The task of its connection has ended: a handler of events, or another task that waits, keeps
  /// it open.
  func endIfUnused() {
    if source.isValid && !isUsed { runtime.close(self) }
  }

  /// Whether a task waits to read.
  @inline(__always)
  var isBeingRead: Bool { heldReader?._withUnsafeGuaranteedRef { $0.isBusy } ?? false }

  /// Whether a task waits to write.
  @inline(__always)
  var isBeingWritten: Bool { writer?.isBusy ?? false }

  var source: Loop.DescriptorSource { bytes.source }

  /// Its name in messages.
  var label: String {
    source.name.isEmpty ? "stream on descriptor \(number)" : "stream '\(source.name)'"
  }

  func makeReader() -> StreamReader {
    if let reader { return reader }
    let fresh = StreamReader(self)
    heldReader = .passRetained(fresh)
    return fresh
  }

  func makeWriter() -> StreamWriter {
    if let writer { return writer }
    let fresh = StreamWriter(self)
    writer = fresh
    return fresh
  }

  /// How much may wait to be read without being counted: most reads leave a little.
  private static let uncounted = 1024

  private var inputToCount: Int {
    state.input.count > Self.uncounted ? state.input.count : 0
  }

  /// The queued bytes have changed.
  func chargeQueue() {
    if charge == nil && state.output.isEmpty { return }
    runtime.state.charge(state.output.count + inputToCount, to: &charge)
  }

  /// Keeps received bytes for later reads. Where the memory limit leaves no room for them, what
  /// was received is dropped, and reads fail from now on; a finalizer may even end the stream.
  func keep(_ received: UnsafeRawBufferPointer) {
    bytes.keep(received)
    countInput()
    if charge == nil || runtime.state.hasRoom() || !source.isValid { return }
    bytes.breakReading()
    countInput()
  }

  /// The input has grown or shrunk.
  func countInput() {
    if charge == nil && state.input.count <= Self.uncounted { return }
    runtime.state.count(state.output.count + inputToCount, in: &charge)
  }

  // MARK: Interest

  /// Makes the loop watch for what tasks are waiting for, in their modes.
  func settle() throws(LoopError) {
    if writer == nil && events == nil && state.output.isEmpty {
      // The usual stream: one task reads, or no task does anything.
      let modes = heldReader?._withUnsafeGuaranteedRef { $0.modesToWatch }
      guard let modes = modes ?? nil else {
        return plainRuntime._withUnsafeGuaranteedRef { $0.withLoop { bytes.unwatch($0) } }
      }
      return try bytes.watch(.read, in: modes, on: runtime.loop)
    }
    if let events, events.isForEnd, writer == nil, state.output.isEmpty {
      return try settle(forEnd: events)
    }
    var wanted: Loop.DescriptorSource.Events = []
    var places: [ModeName]?
    if let modes = reader?.modesToWatch {
      wanted = .read
      places = modes
    }
    if let modes = writer?.modesToWatch {
      wanted.insert(.write)
      places = union(places, modes)
    }
    if !state.output.isEmpty {
      wanted.insert(.write)
      places = union(places, modes)
    }
    if let events, !events.isOver {
      wanted.formUnion(events.wanted)
      places = union(places, modes)
    }
    guard let places else { return bytes.unwatch(runtime.loop) }
    try bytes.watch(wanted, in: places, on: runtime.loop)
  }

  /// The same while the one handler is for the end, and nothing is to be written.
  private func settle(forEnd events: StreamEvents) throws(LoopError) {
    var modes = heldReader?._withUnsafeGuaranteedRef { $0.modesToWatch } ?? nil
    if events.awaitsEnd { modes = union(modes, self.modes) }
    guard let modes else { return bytes.unwatch(runtime.loop) }
    try bytes.watch(.read, in: modes, on: runtime.loop)
  }

  private func union(_ some: [ModeName]?, _ more: [ModeName]) -> [ModeName] {
    guard let some, some != more else { return more }
    return some + more.filter { !some.contains($0) }
  }

  /// The same where no caller can get the error: it breaks the stream, and
  /// waiting tasks get it.
  func settleOrBreak() {
    do throws(LoopError) { try settle() } catch {
      let failure = SystemError(call: "epoll_ctl", code: error.systemCode)
      if state.readFailure == nil { bytes.endReading(failure) }
      state.writeFailure = state.writeFailure ?? failure
      state.output.removeAll()
      chargeQueue()
      if let reader, reader.isActive { runtime.answer(reader) }
      if let writer, writer.isActive { runtime.answer(writer) }
    }
  }
}

extension LoopError {
  /// The `errno` of a refusal by the system.
  fileprivate var systemCode: Int32 {
    if case .system(let error, _) = self { error.code } else { 22 }  // EINVAL
  }
}

// MARK: - Waits

/// A wait for one direction of a stream: it lasts as long as the stream, for one task at a time.
class StreamWait: OtherWait {
  // State that every read and write uses is unchecked: no access to it spans a call into Lua.

  /// Its stream, which holds it; not valid once `closed` is set. A plain word, because each wait
  /// uses it.
  private let plainStream: Unmanaged<ScriptStream>
  final var stream: ScriptStream { plainStream.takeUnretainedValue() }
  /// A task waits, or is about to.
  @exclusivity(unchecked) final var isActive = false
  /// It waits, but not for the kernel to report this direction as ready.
  @exclusivity(unchecked) final var isPaused = false
  /// Where that is served.
  @exclusivity(unchecked) final var modes: [ModeName] = []
  /// The copy that has exclusive use of this direction.
  @exclusivity(unchecked) final var copy: StreamCopy?
  /// The stream was closed meanwhile: the message.
  @exclusivity(unchecked) final var closed: String?

  init(_ stream: ScriptStream) {
    plainStream = .passUnretained(stream)
    super.init()
  }

  /// Where the kernel must watch for it; nil: nowhere.
  @inline(__always)
  final var modesToWatch: [ModeName]? { isActive && !isPaused ? modes : nil }

  /// Whether a task waits; a wait that was cancelled when its answer had come is over.
  final var isBusy: Bool {
    guard isActive else { return false }
    if let waiter {
      if case .other(let other)? = waiter.wait?.cause, other === self { return true }
      isActive = false
      self.waiter = nil
      return false
    }
    return true
  }

  override func abandon() {
    isActive = false
    isPaused = false
    waiter = nil
    copy?.release()
    if closed == nil { stream.settleOrBreak() }
  }

  override func join(_ mode: ModeName, _ loop: Loop) {
    modes.append(mode)
    copy?.follow(modes)
    if closed == nil { stream.settleOrBreak() }
  }

  override func leave(_ mode: ModeName, _ loop: Loop) {
    modes.removeAll { $0 == mode }
    copy?.follow(modes)
    if closed == nil { stream.settleOrBreak() }
  }

  /// The wait is over, and its task goes on.
  final func finish() {
    isActive = false
    isPaused = false
    waiter = nil
    if closed == nil { plainStream._withUnsafeGuaranteedRef { $0.settleOrBreak() } }
  }

  final override func push(on stack: LuaStack) -> Int {
    finish()
    if let closed { return stack.pushFailure(closed, "ECANCELED") }
    return pushAnswer(on: stack)
  }

  /// Pushes its outcome.
  func pushAnswer(on stack: LuaStack) -> Int { 0 }
}

/// A task waits to read.
final class StreamReader: StreamWait {
  // State that every read and write uses is unchecked: no access to it spans a call into Lua.

  @exclusivity(unchecked) var formats = StreamFormats()
  /// It waits for a descriptor, not for bytes.
  @exclusivity(unchecked) var receives = false
  private var received: Result<(fd: Int32, bytes: [UInt8]), SystemError>?
  /// It waits for a handshake, and returns this handle.
  var shaken: LuaReference?

  override var what: String {
    if closed != nil { return "a closed stream" }
    if receives { return "a descriptor from \(stream.label)" }
    if shaken != nil { return "the TLS handshake of \(stream.label)" }
    if copy != nil { return "all of \(stream.label) to be copied" }
    return "\(formats.words) of \(stream.label)"
  }

  override func abandon() {
    receives = false
    if shaken != nil, closed == nil {
      stream.breakOff(SystemError(call: "TLS", code: Errno.cancelled))
    }
    shaken = nil
    super.abandon()
  }

  override func pushLate(on stack: LuaStack, _ purpose: String) -> Int {
    if closed == nil { stream.lastFailure = "ETIMEDOUT" }
    return super.pushLate(on: stack, purpose)
  }

  override func pushAnswer(on stack: LuaStack) -> Int {
    if let copy {
      copy.release()
      return copy.push(on: stack)
    }
    if receives { return pushReceived(on: stack) }
    if shaken != nil { return pushShaken(on: stack) }
    return stream.take(formats, on: stack)
  }

  /// Tries to receive a descriptor.
  /// - Returns: Whether there is an answer.
  func receive() -> Bool {
    let scratch = stream.runtime.loop.scratch
    let part = UnsafeMutableRawBufferPointer(rebasing: scratch[0..<4096])
    do throws(SystemError) {
      let (count, fd) = try Sockets.receiveDescriptor(stream.source.fd, into: part)
      if count == 0 && fd < 0 { stream.bytes.endReading() }
      stream.state.bytesRead &+= UInt64(count)
      received = .success((fd, Array(part[0..<count])))
    } catch {
      if error.name == "EAGAIN" { return false }
      received = .failure(error)
    }
    return true
  }

  private func pushReceived(on stack: LuaStack) -> Int {
    receives = false
    defer { received = nil }
    switch received {
    case .success(let (fd, bytes)):
      if fd < 0 && bytes.isEmpty {
        stack.pushNil()
        return 1
      }
      if fd < 0 {
        // bytes alone: a read returns them
        bytes.withUnsafeBytes { stream.keep($0) }
        return stack.pushFailure("\(stream.label): bytes came without a descriptor", "ENOMSG")
      }
      stack.push(Int(fd))
      bytes.withUnsafeBytes { stack.push(bytes: $0) }
      return 2
    case .failure(let error): return stack.push(error, of: stream)
    case nil: return stack.pushFailure("\(stream.label): no answer", "EAGAIN")
    }
  }
}

/// A task waits to write: until no more than `goal` bytes are queued.
final class StreamWriter: StreamWait {
  var goal = 0
  /// The handle of the stream, which a write returns.
  var handle: LuaReference?
  /// A descriptor to be sent first.
  var passed: PassedDescriptor?

  override var what: String {
    if closed != nil { return "a closed stream" }
    if passed != nil { return "room for a descriptor in \(stream.label)" }
    return "\(goal == 0 ? "all to be written" : "space") in \(stream.label)"
  }

  override func abandon() {
    handle = nil
    passed = nil
    super.abandon()
  }

  /// Whether what it waits for has happened, or cannot any more.
  func isDone() -> Bool {
    if let passed {
      if !passed.go(through: stream) { return false }
      if passed.failure != nil { return true }
      self.passed = nil
    }
    return stream.state.writeFailure != nil || stream.state.output.count <= goal
  }

  override func pushAnswer(on stack: LuaStack) -> Int {
    defer { (handle, passed) = (nil, nil) }
    if let failure = passed?.failure { return stack.push(failure, of: stream) }
    if let failure = stream.state.writeFailure { return stack.push(failure, of: stream) }
    if let handle { stack.push(handle) } else { stack.pushNil() }
    return 1
  }
}

extension LuaStack {
  /// Pushes `nil, message, code`. [-0, +3, raises: -]
  func pushFailure(_ message: String, _ code: String) -> Int {
    pushNil()
    push(message)
    push(code)
    return 3
  }

  /// The same for an error of the system. [-0, +3, raises: -]
  func push(_ error: SystemError, of stream: ScriptStream) -> Int {
    pushFailure("\(stream.label): \(stream.words(of: error))", error.name)
  }
}
