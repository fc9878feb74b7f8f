// Streams: bytes in and out of a descriptor, with bounded buffers. Which tasks wait, and for what,
// is decided by the layer above.

package import MoonloopCore

extension Loop {
  /// Reads and writes the bytes of one descriptor: tries at once, and asks the kernel for readiness
  /// only if something waits or bytes are queued. Loop thread only.
  ///
  /// Counterparts: `CFReadStream`, `CFWriteStream`.
  package final class Stream {
    /// What the loop watches.
    package let source: DescriptorSource
    package let canRead: Bool
    package let canWrite: Bool
    // Beside the other bytes, because there may be many streams.
    /// Whether anything waits for it, or bytes are queued: then it keeps a run open.
    @exclusivity(unchecked) private var isWanted = false
    /// Whether it may keep a run open at all.
    @exclusivity(unchecked) var mayHold = true

    /// What every read and write looks at.
    package struct State: ~Copyable {
      /// Bytes read ahead of what was asked for.
      package var input = StreamInput()
      /// Bytes written but not yet taken by the kernel.
      package var output = StreamBuffer()
      /// A write waits when more than this is queued.
      package var outputLimit = 64 << 10
      /// Whether the end of file was read.
      package fileprivate(set) var isAtEnd = false
      /// Why the reading side is permanently broken.
      package fileprivate(set) var readFailure: SystemError?
      /// Why the writing side is permanently broken.
      package var writeFailure: SystemError?
      /// It was read from since the kernel reported bytes: a task waits until it does so again, so
      /// that a fast sender does not starve other tasks.
      package var isDrained = false
      /// No further writes are allowed: the writing side is shut, or about to be.
      package var isShut = false
      /// It is our side of a pseudo-terminal.
      package var isPseudoTerminal = false
      /// Totals of bytes received and sent.
      package var bytesRead: UInt64 = 0
      package var bytesWritten: UInt64 = 0
    }

    /// By address, so that another module reaches it without a coroutine and without a check of
    /// exclusivity: no access spans a call into Lua. It lasts as long as the stream.
    package let storage: UnsafeMutablePointer<State>
    var state: State {
      @inline(__always) unsafeAddress { UnsafePointer(storage) }
      @inline(__always) unsafeMutableAddress { storage }
    }
    /// What encrypts its bytes; nil: they are as they are.
    @exclusivity(unchecked) package var tls: TLSSession?
    /// Whether nothing can be written yet because both sides have to agree on TLS first. Asked
    /// here: another module would check its access.
    package var isShakingHands: Bool { if let tls { !tls.isReady } else { false } }
    /// Called when nothing more will be read, for the code that made the stream.
    @exclusivity(unchecked) package var whenOver: (() -> Void)?
    /// Whether there is such code. Asked here: another module would check its access.
    package var isAwaited: Bool { whenOver != nil }
    /// The modes that the source is in now.
    @exclusivity(unchecked) private var joined: [ModeName] = []

    package init(_ source: DescriptorSource, canRead: Bool, canWrite: Bool) {
      self.source = source
      self.canRead = canRead
      self.canWrite = canWrite
      storage = .allocate(capacity: 1)
      storage.initialize(to: State())
    }

    deinit {
      storage.deinitialize(count: 1)
      storage.deallocate()
    }

    // MARK: Reading

    /// The result of one try to read.
    package enum Fill {
      /// The number of bytes at the beginning of the buffer.
      case bytes(Int)
      case end
      case nothingNow
      case failed(SystemError)
    }

    /// How much is read at once.
    private static let portion = 64 << 10

    /// Reads what is available into a loop's buffer, without waiting.
    package func fill(by loop: Loop) -> Fill { fill(loop.kernel, loop.scratch) }

    /// Reads what is available into the caller's buffer, without waiting.
    package func fill(
      _ kernel: any Kernel, _ buffer: UnsafeMutableRawBufferPointer
    ) -> Fill {
      if state.isAtEnd { return .end }
      if let failure = state.readFailure { return .failed(failure) }
      if let tls { return fill(kernel, buffer, through: tls) }
      do throws(SystemError) {
        let portion = buffer.portion(Self.portion)
        let count = try source.read(kernel, into: portion)
        if count == 0 {
          endReading()
          return .end
        }
        state.bytesRead &+= UInt64(count)
        state.isDrained = true
        return .bytes(count)
      } catch {
        if error.code == Errno.wouldBlock {
          state.isDrained = true
          return .nothingNow
        }
        // So a pseudo-terminal reports that its last program has gone.
        if state.isPseudoTerminal && error.code == Errno.inputOutput {
          endReading()
          return .end
        }
        endReading(error)
        return .failed(error)
      }
    }

    /// Keeps received bytes for later reads. Where the system has no memory for them, nothing more
    /// can be read.
    package func keep(_ bytes: UnsafeRawBufferPointer) {
      if !state.input.append(bytes) { breakReading() }
    }

    /// There is no memory for what was received: that is dropped, and reads fail from now on.
    package func breakReading() {
      state.input.removeAll()
      endReading(SystemError(call: "read", code: Errno.noMemory))
    }

    /// Nothing more will be read: the end of file has come, or reading has failed.
    package func endReading(_ failure: SystemError? = nil) {
      if let failure { state.readFailure = failure } else { state.isAtEnd = true }
      whenOver?()
    }

    // MARK: Writing

    /// Writes as many bytes as the kernel of a loop takes, and queues the rest.
    /// - Returns: What broke the writing side, now or earlier; nil if nothing did.
    package func send(by loop: Loop, _ bytes: UnsafeRawBufferPointer) -> SystemError? {
      do throws(SystemError) { try send(loop.kernel, bytes) } catch { return error }
      return nil
    }

    /// Writes as many bytes as the kernel takes, and queues the rest.
    /// - Throws: What broke the writing side, now or earlier.
    package func send(
      _ kernel: any Kernel, _ bytes: UnsafeRawBufferPointer
    ) throws(SystemError) {
      if let failure = state.writeFailure { throw failure }
      if bytes.isEmpty { return }
      if let tls { return try send(kernel, bytes, through: tls) }
      var done = 0
      if state.output.isEmpty { done = try write(kernel, bytes) }
      if done < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
        if !state.output.append(rest) { throw writingBroke() }
      }
    }

    /// There is no memory for what is to be written: what follows would not fit what went before.
    func writingBroke() -> SystemError {
      let failure = SystemError(call: "write", code: Errno.noMemory)
      state.writeFailure = failure
      state.output.removeAll()
      return failure
    }

    /// Writes what is queued, as far as the kernel takes it.
    /// - Throws: What broke the writing side; the queue is dropped.
    package func drain(_ kernel: any Kernel) throws(SystemError) {
      if let failure = state.writeFailure { throw failure }
      if state.output.isEmpty { return }
      var done = 0
      do throws(SystemError) {
        done = try state.output.withBytes { bytes throws(SystemError) in try write(kernel, bytes) }
      } catch {
        state.output.removeAll()
        throw error
      }
      state.output.drop(done)
    }

    private func write(
      _ kernel: any Kernel, _ bytes: UnsafeRawBufferPointer
    ) throws(SystemError) -> Int {
      do throws(SystemError) {
        let count = try source.write(kernel, bytes)
        state.bytesWritten &+= UInt64(count)
        return count
      } catch {
        if error.code == Errno.wouldBlock { return 0 }
        state.writeFailure = error
        throw error
      }
    }

    /// Tells the peer that nothing more will come.
    /// - Returns: false if that takes closing the descriptor.
    package func shutWriting() -> Bool {
      do throws(SystemError) {
        try Sockets.shut(source.fd, bothWays: false)
      } catch {
        if error.code == Errno.notSocket { return canRead }
        if state.writeFailure == nil { state.writeFailure = error }
      }
      return true
    }

    // MARK: Interest

    /// Makes the loop watch for what is wanted, in exactly these modes.
    ///
    /// What is no longer wanted stays enabled until it happens, so that waiting for the same thing
    /// again and again costs no system call.
    /// - Throws: If the system refuses to watch the descriptor.
    package func watch(
      _ events: DescriptorSource.Events, in modes: [ModeName], on loop: Loop
    ) throws(LoopError) {
      if !source.hasEnabled(events) { source.enable(events) }
      hold(true, loop)
      if joined == modes { return }
      let old = joined
      joined = modes
      do {
        try loop.add(source, modes: modes)
      } catch {
        joined = []
        loop.remove(source, modes: old + modes)
        throw error
      }
      let gone = old.filter { !modes.contains($0) }
      if !gone.isEmpty { leave(gone, modes, loop) }
    }

    /// Leaving `common` removes it from all common modes, even those that are wanted by name;
    /// leaving one of those by name removes it even if all common modes are wanted.
    private func leave(_ gone: [ModeName], _ modes: [ModeName], _ loop: Loop) {
      let staysCommon = modes.contains(.common) && !gone.contains(.common)
      let gone = staysCommon ? gone.filter { !loop.isCommonMode($0) } : gone
      loop.remove(source, modes: gone)
      if gone.contains(.common) { try? loop.add(source, modes: modes) }
    }

    /// Nothing waits any more and nothing is queued: it keeps no run open.
    package func unwatch(_ loop: Loop) { hold(false, loop) }

    /// An unwanted event has come: it is reported again once it is wanted.
    package func silence(_ event: DescriptorSource.Events) { source.disable(event) }

    private func hold(_ wanted: Bool, _ loop: Loop) {
      if wanted == isWanted { return }
      isWanted = wanted
      loop.setHolds(source, wanted && mayHold)
    }

    /// Sets whether it may keep a run open.
    package func setMayHold(_ mayHold: Bool, _ loop: Loop) {
      self.mayHold = mayHold
      loop.setKeepsAlive(source, isWanted && mayHold)
    }
  }
}
