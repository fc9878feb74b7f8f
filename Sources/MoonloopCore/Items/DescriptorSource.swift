// Version-1 sources on descriptors: signalled by the kernel, level-triggered.

extension Loop {
  /// Watches a descriptor. Counterparts: `CFFileDescriptor`, `CFSocket`.
  ///
  /// While an event is enabled and the descriptor ready for it, the handler is called in every
  /// pass, one event a pass (R29, R61). Disabled events are held back, not lost (R65). The source
  /// leaves the kernel's sets before it closes the descriptor, whichever thread asks.
  public final class DescriptorSource: Item, @unchecked Sendable {  // as `Item`
    /// An event of a descriptor.
    public struct Events: OptionSet, Hashable, Sendable, CustomStringConvertible {
      public let rawValue: UInt8
      public init(rawValue: UInt8) { self.rawValue = rawValue }
      /// There is something to read, the end of file and errors included.
      public static let read = Events(rawValue: 1)
      /// There is space to write.
      public static let write = Events(rawValue: 2)

      public var description: String {
        [contains(.read) ? "read" : nil, contains(.write) ? "write" : nil]
          .compactMap { $0 }.joined(separator: "|")
      }
      package var interest: Interest { Interest(rawValue: rawValue) }
    }
    /// Called with one event.
    public typealias Handler = (_ source: DescriptorSource, _ event: Events) -> Void
    /// Called when the descriptor turns out to be unusable while it is watched.
    public typealias FailureHandler = (_ source: DescriptorSource, _ error: SystemError) -> Void

    // In order of size, as in `Item`.
    /// Whether invalidation closes the descriptor (R66).
    public let closesDescriptor: Bool
    /// The events that stay enabled after their callback; others are disabled by it (R62).
    public var reenabled: Events {
      get {
        requireThread("descriptor.reenabled")
        return reenabledEvents
      }
      set {
        requireThread("descriptor.reenabled")
        reenabledEvents = newValue
      }
    }
    @exclusivity(unchecked) var reenabledEvents: Events
    /// The events that the handler is called with now.
    public var enabled: Events {
      requireThread("descriptor.enabled")
      return enabledEvents
    }
    @exclusivity(unchecked) private var enabledEvents: Events
    /// Whether all of these are enabled. Loop thread only; not checked.
    package func hasEnabled(_ events: Events) -> Bool { enabledEvents.isSuperset(of: events) }
    /// Why it counts as ready. Loop thread only.
    @exclusivity(unchecked) var readiness: Readiness = []
    /// A read found the end of the file, where it stays readable forever.
    @exclusivity(unchecked) package var isAtEnd = false
    /// Reads and writes cannot block; else each is preceded by a question.
    @exclusivity(unchecked) package var isNonBlocking = false
    /// The descriptor; -1 once it was closed. Loop thread only, once it is on a loop.
    public var fd: Int32 {
      requireThread("descriptor.fd")
      return openDescriptor
    }
    @exclusivity(unchecked) private var openDescriptor: Int32
    @exclusivity(unchecked) var callDepth: Int32 = 0
    @exclusivity(unchecked) private(set) var handler: Handler?
    /// Called when the descriptor was closed behind the loop's back; the source is then invalid.
    ///
    /// Setting it binds the source to the calling thread: only a loop of that may have it.
    public var onFailure: FailureHandler? {
      get { use("descriptor.onFailure") { failureHandler } }
      set {
        let old = use("descriptor.onFailure") {
          bindToThread()
          defer { failureHandler = newValue }
          return failureHandler
        }
        withExtendedLifetime(old) {}  // released here, where its end may use the source
      }
    }
    private var failureHandler: FailureHandler?
    /// The token of its registrations; 0: none.
    @exclusivity(unchecked) var token: UInt64 = 0
    /// The loop that it is on. Loop thread only.
    var loop: Loop? { owningLoop }

    /// Makes a source for a descriptor, on no loop yet.
    /// - Parameters:
    ///   - fd: The descriptor; blocking or not, but reads through the source never block.
    ///   - closesDescriptor: Whether invalidation closes it.
    ///   - events: The events that are enabled at first.
    ///   - reenabled: The events that stay enabled after their callback.
    ///   - name: Its name in reports.
    ///   - handler: Called on the thread of the loop.
    /// - SeeAlso: `Loop.makeDescriptorSource`, for closures bound to one thread.
    @_disfavoredOverload
    public convenience init(
      _ fd: Int32, closesDescriptor: Bool = false, events: Events = .read,
      reenabled: Events = .read, name: String = "",
      handler: @escaping @Sendable (_ source: DescriptorSource, _ event: Events) -> Void
    ) {
      let plain: Handler = handler
      self.init(
        fd, closesDescriptor: closesDescriptor, events: events, reenabled: reenabled, name: name,
        handler: plain)
    }

    /// Makes a descriptor source from a closure that is not Sendable; add it only to loops of the
    /// closure's thread.
    package init(
      _ fd: Int32, closesDescriptor: Bool = false, events: Events = .read,
      reenabled: Events = .read, name: String = "", handler: @escaping Handler
    ) {
      openDescriptor = fd
      self.closesDescriptor = closesDescriptor
      enabledEvents = events
      reenabledEvents = reenabled
      self.handler = handler
      super.init(name: name, isConfined: true)
    }

    /// Enables events (again).
    /// - Note: Loop thread only, also in the handler.
    public func enable(_ events: Events) { set(enabled.union(events)) }

    /// Holds events back until they are enabled again.
    /// - Note: Loop thread only, also in the handler.
    public func disable(_ events: Events) { set(enabled.subtracting(events)) }

    /// Ends the source for good, and closes the descriptor if it owns it (R66); idempotent.
    /// - Note: Loop thread only, once it is on a loop; also in its own handler.
    public override func invalidate() {
      end("descriptor.invalidate") { () -> (Handler?, FailureHandler?) in
        let kernel = loop?.kernel
        loop?.leaveAllModes(self)
        if closesDescriptor && openDescriptor >= 0 {
          (kernel ?? Loop.current.kernel).close(openDescriptor)
          openDescriptor = -1
        }
        return callDepth == 0 ? (handler.take(), failureHandler.take()) : (nil, nil)
      }
    }

    deinit { if isAstray { sendHome((handler, failureHandler)) } }

    /// Gives up the descriptor without closing it; then invalidate the source.
    package func releaseDescriptor() -> Int32 {
      leaveForRelease()
      defer { openDescriptor = -1 }
      return fd
    }

    private func leaveForRelease() {
      guard let loop else { return }
      loop.remove(self, modes: loop.modes(of: self))
    }

    func dropHandler() {
      handler = nil
      failureHandler = nil
    }

    // MARK: Reading and writing
    // On the thread of the loop whose kernel is given; not checked again.

    /// Looks at the descriptor before it is used for the first time.
    /// - Throws: `SystemError`: EBADF if it is not open, EISDIR for a directory.
    package func inspect(_ kernel: any Kernel) throws(SystemError) {
      let traits = try kernel.traits(of: fd)
      if traits.contains(.directory) { throw SystemError(call: "read", code: Errno.isDirectory) }
      isNonBlocking = traits.contains(.nonBlocking)
    }

    /// Reads what is available, at most as much as the buffer takes, and never blocks.
    ///
    /// The mode of the descriptor is left alone, since other processes may share it (a terminal):
    /// unless it is non-blocking, the kernel is asked first.
    /// - Returns: 0 at the end of file.
    /// - Throws: `SystemError`; EAGAIN if nothing is available.
    package func read(
      _ kernel: any Kernel, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
      if !isNonBlocking && !kernel.isReady(openDescriptor, for: .read) {
        throw SystemError(call: "read", code: Errno.wouldBlock)
      }
      if readiness.contains(.read) && callDepth == 0 { readiness.insert(.doubtful) }
      return try kernel.read(openDescriptor, into: buffer)
    }

    /// Writes what can be written now, and never blocks.
    ///
    /// A descriptor that is not non-blocking takes at most 4096 bytes a question: that much fits
    /// into a pipe that is ready at all.
    /// - Returns: How many bytes were written; fewer than all if no more fit.
    /// - Throws: `SystemError` if nothing was written; EAGAIN if nothing fits now.
    package func write(
      _ kernel: any Kernel, _ bytes: UnsafeRawBufferPointer
    ) throws(SystemError) -> Int {
      var done = 0
      while true {
        let rest = bytes.count - done
        let part = isNonBlocking ? rest : min(rest, Self.safeWrite)
        do throws(SystemError) {
          if !isNonBlocking && !kernel.isReady(openDescriptor, for: .write) {
            throw SystemError(call: "write", code: Errno.wouldBlock)
          }
          let piece = UnsafeRawBufferPointer(rebasing: bytes[done..<(done + part)])
          let count = try kernel.write(openDescriptor, piece)
          done += count
          if done == bytes.count || count < part { return done }
        } catch {
          if done > 0 { return done }  // the next write says why
          throw error
        }
      }
    }

    private static let safeWrite = 4096  // PIPE_BUF

    /// Reads and drops what is available.
    /// - Parameters:
    ///   - scratch: Where it goes.
    ///   - most: It stops when there is no more, or after this many bytes.
    /// - Returns: How many bytes were dropped, and whether no more can come.
    package func dropInput(
      _ kernel: any Kernel, into scratch: UnsafeMutableRawBufferPointer, atMost most: Int
    ) -> (count: Int, isOver: Bool) {
      var count = 0
      while count < most {
        do throws(SystemError) {
          let some = try read(kernel, into: scratch)
          if some == 0 { return (count, true) }
          count += some
        } catch {
          return (count, error.code != Errno.wouldBlock)
        }
      }
      return (count, false)
    }

    // MARK: Readiness

    /// What a descriptor is ready for, and why; its turn is in `Mode.ready`.
    struct Readiness: OptionSet {
      let rawValue: UInt8
      /// To be delivered.
      static let read = Readiness(rawValue: 1)
      static let write = Readiness(rawValue: 2)
      /// It cannot be polled (a regular file): whatever events are enabled are ready in every pass.
      static let always = Readiness(rawValue: 4)
      /// Its owner holds bytes that it has read ahead: it is readable, though the kernel no longer
      /// knows about them.
      static let readAhead = Readiness(rawValue: 8)
      /// Another handler has read from it while it waited for its turn.
      static let doubtful = Readiness(rawValue: 16)

      init(rawValue: UInt8) { self.rawValue = rawValue }
      @inline(__always)
      init(_ events: Interest) { rawValue = events.rawValue }
    }

    /// What can be delivered now.
    @inline(__always)
    var deliverable: Interest {
      Interest(rawValue: readiness.rawValue).intersection(interest)
    }

    package var isAlwaysReady: Bool { readiness.contains(.always) }

    /// Whether the owner holds bytes that count as readable. Loop thread only.
    package var hasReadAhead: Bool {
      get { readiness.contains(.readAhead) }
      set {
        if newValue { readiness.insert(.readAhead) } else { readiness.remove(.readAhead) }
        if newValue { loop?.noteReadAhead(self) }
      }
    }

    /// The events to ask the kernel for now.
    var interest: Interest { isSuspended ? [] : enabledEvents.interest }

    private func set(_ events: Events) {
      requireThread("descriptor.enable")
      guard isValid, events != enabledEvents else { return }
      enabledEvents = events
      loop?.updateInterest(of: self)
    }

    /// Stops or restarts delivery while a handler is suspended (D59).
    package override func setSuspended(_ suspended: Bool) {
      let before = isSuspended
      super.setSuspended(suspended)
      if isValid && isSuspended != before { loop?.updateInterest(of: self) }
    }

    override func leave(_ loop: Loop, isOwned: Bool) { if isOwned { loop.forgetToken(self) } }
    override func willJoin(_ mode: Mode, of loop: Loop) throws(LoopError) {
      try loop.watch(self, in: mode)
    }
    override func enlist(in mode: Mode) -> Int {
      if !isAlwaysReady { return mode.descriptors.append(self) }
      mode.fileSources[fd] = self
      return mode.files.append(self)
    }
    override func didJoin(_ mode: Mode, of loop: Loop) {
      if hasReadAhead { loop.noteReadAhead(self) }
    }
    override func strike(from mode: Mode, of loop: Loop, at place: Int, moved: (Item, Int) -> Void)
    {
      mode.giveUp(turn: mode.turn(of: self, at: place))
      if isAlwaysReady {
        mode.fileSources[fd] = nil
        mode.files.remove(at: place, moved: moved)
      } else {
        mode.descriptors.remove(at: place, moved: moved)
      }
    }
    override func didLeave(_ mode: Mode, of loop: Loop) { loop.unwatch(self, in: mode) }

    package override var kind: String { "descriptor" }
    public override var label: String {
      name.isEmpty ? "the source on descriptor \(openDescriptor)" : "descriptor '\(name)'"
    }
  }
}

extension Loop {
  /// Reads from a descriptor, as `DescriptorSource.read` does, by this loop's kernel.
  package func read(
    _ source: DescriptorSource, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int { try source.read(kernel, into: buffer) }

  /// Writes to a descriptor, as `DescriptorSource.write` does, by this loop's kernel.
  package func write(
    _ source: DescriptorSource, _ bytes: UnsafeRawBufferPointer
  ) throws(SystemError) -> Int { try source.write(kernel, bytes) }
}
