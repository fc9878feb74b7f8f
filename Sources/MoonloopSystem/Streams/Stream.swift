// Streams: bytes in and out of a descriptor, with bounded buffers; who waits, and for what, is for
// those who build on it.

package import MoonloopCore

extension Loop {
  /// The byte engine of one descriptor: tries first, and asks the kernel to tell only when somebody
  /// waits or bytes are queued. Loop thread only.
  ///
  /// Counterparts: `CFReadStream`, `CFWriteStream`.
  package final class Stream {
    // What every read and write looks at is unchecked: no access to it spans a call into Lua. Other
    // modules would check all the same, and so read and write it by functions of this one.

    /// What the loop watches.
    package let source: DescriptorSource
    package let canRead: Bool
    package let canWrite: Bool
    /// Read ahead of what was asked for.
    package var input: StreamInput {
      _read { yield storedInput }
      _modify { yield &storedInput }
    }
    @exclusivity(unchecked) private var storedInput = StreamInput()
    /// Written and not taken by the kernel yet.
    package var output: StreamBuffer {
      _read { yield storedOutput }
      _modify { yield &storedOutput }
    }
    @exclusivity(unchecked) private var storedOutput = StreamBuffer()
    /// A write waits when more than so much is queued.
    package var outputLimit: Int {
      get { storedLimit }
      set { storedLimit = newValue }
    }
    @exclusivity(unchecked) private var storedLimit = 64 << 10
    /// The end of file was read.
    package var isAtEnd: Bool {
      get { sawEnd }
      set {
        sawEnd = newValue
        if newValue { whenOver?() }
      }
    }
    @exclusivity(unchecked) private var sawEnd = false
    /// The reading side is broken for good.
    package var readFailure: SystemError? {
      get { brokeReading }
      set {
        brokeReading = newValue
        if newValue != nil { whenOver?() }
      }
    }
    @exclusivity(unchecked) private var brokeReading: SystemError?
    /// Called when nothing will be read any more: for who made the stream for a purpose.
    @exclusivity(unchecked) package var whenOver: (() -> Void)?
    /// The writing side is broken for good.
    package var writeFailure: SystemError? {
      get { brokeWriting }
      set { brokeWriting = newValue }
    }
    @exclusivity(unchecked) private var brokeWriting: SystemError?
    /// A read brought less than it could have: until the kernel says so, there is nothing more.
    package var isDrained: Bool {
      get { sawNothingMore }
      set { sawNothingMore = newValue }
    }
    @exclusivity(unchecked) private var sawNothingMore = false
    /// Nothing may be written any more: the writing side was shut, or is about to be.
    package var isShut: Bool {
      get { storedShut }
      set { storedShut = newValue }
    }
    @exclusivity(unchecked) private var storedShut = false
    /// How many bytes came in and went out.
    @exclusivity(unchecked) package var bytesRead: UInt64 = 0
    @exclusivity(unchecked) package var bytesWritten: UInt64 = 0
    /// The modes that the source is in now.
    @exclusivity(unchecked) private var joined: [ModeName] = []
    /// Whether somebody waits for it, or bytes are queued: then it holds a run.
    @exclusivity(unchecked) private var isWanted = false
    /// Whether it may hold a run at all.
    @exclusivity(unchecked) package var mayHold = true

    package init(_ source: DescriptorSource, canRead: Bool, canWrite: Bool) {
      self.source = source
      self.canRead = canRead
      self.canWrite = canWrite
    }

    // MARK: Reading

    /// What one try to read came to.
    package enum Fill {
      /// So many bytes lie at the beginning of the buffer.
      case bytes(Int)
      case end
      case nothingNow
      case failed(SystemError)
    }

    /// Reads what there is into a buffer of the caller's, without waiting.
    package func fill(
      _ kernel: any Kernel, _ buffer: UnsafeMutableRawBufferPointer
    ) -> Fill {
      if isAtEnd { return .end }
      if let readFailure { return .failed(readFailure) }
      do throws(SystemError) {
        let count = try source.read(kernel, into: buffer)
        if count == 0 {
          isAtEnd = true
          return .end
        }
        bytesRead &+= UInt64(count)
        isDrained = count < buffer.count
        return .bytes(count)
      } catch {
        if error.code == Errno.wouldBlock {
          isDrained = true
          return .nothingNow
        }
        readFailure = error
        return .failed(error)
      }
    }

    // MARK: Writing

    /// Writes bytes as far as the kernel takes them, and queues the rest.
    /// - Throws: What broke the writing side, now or earlier.
    package func send(
      _ kernel: any Kernel, _ bytes: UnsafeRawBufferPointer
    ) throws(SystemError) {
      if let writeFailure { throw writeFailure }
      if bytes.isEmpty { return }
      var done = 0
      if output.isEmpty { done = try write(kernel, bytes) }
      if done < bytes.count {
        output.append(UnsafeRawBufferPointer(rebasing: bytes[done...]))
      }
    }

    /// Writes what is queued, as far as the kernel takes it.
    /// - Throws: What broke the writing side; what was queued is dropped.
    package func drain(_ kernel: any Kernel) throws(SystemError) {
      if let writeFailure { throw writeFailure }
      if output.isEmpty { return }
      var done = 0
      do throws(SystemError) {
        done = try output.withBytes { bytes throws(SystemError) in try write(kernel, bytes) }
      } catch {
        output.removeAll()
        throw error
      }
      output.drop(done)
    }

    private func write(
      _ kernel: any Kernel, _ bytes: UnsafeRawBufferPointer
    ) throws(SystemError) -> Int {
      do throws(SystemError) {
        let count = try source.write(kernel, bytes)
        bytesWritten &+= UInt64(count)
        return count
      } catch {
        if error.code == Errno.wouldBlock { return 0 }
        writeFailure = error
        throw error
      }
    }

    /// Tells the peer that nothing more will come.
    /// - Returns: false if only closing the descriptor can tell that.
    package func shutWriting() -> Bool {
      do throws(SystemError) {
        try Sockets.shut(source.fd, bothWays: false)
      } catch {
        if error.code == Errno.notSocket { return canRead }
        if writeFailure == nil { writeFailure = error }
      }
      return true
    }

    // MARK: Interest

    /// Has the loop watch for what is wanted, in these modes and no others.
    ///
    /// What is not wanted any more stays enabled until it happens: who waits for the same thing
    /// again and again costs no call of the kernel.
    /// - Throws: When the system refuses to watch the descriptor.
    package func watch(
      _ events: DescriptorSource.Events, in modes: [ModeName], on loop: Loop
    ) throws(LoopError) {
      if !source.enabled.isSuperset(of: events) { source.enable(events) }
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

    /// Leaving `common` takes it out of all common modes, those that are wanted by name too; and
    /// leaving one of those by name takes it out, though it is wanted in all common modes.
    private func leave(_ gone: [ModeName], _ modes: [ModeName], _ loop: Loop) {
      let staysCommon = modes.contains(.common) && !gone.contains(.common)
      let gone = staysCommon ? gone.filter { !loop.isCommonMode($0) } : gone
      loop.remove(source, modes: gone)
      if gone.contains(.common) { try? loop.add(source, modes: modes) }
    }

    /// Nobody waits any more, and nothing is queued: no run goes on for it.
    package func unwatch(_ loop: Loop) { hold(false, loop) }

    /// An event has come that nobody wants now: it is heard of again when somebody does.
    package func silence(_ event: DescriptorSource.Events) { source.disable(event) }

    private func hold(_ wanted: Bool, _ loop: Loop) {
      if wanted == isWanted { return }
      isWanted = wanted
      loop.setKeepsAlive(source, wanted && mayHold)
    }

    /// Says whether it may hold a run.
    package func setMayHold(_ mayHold: Bool, _ loop: Loop) {
      self.mayHold = mayHold
      loop.setKeepsAlive(source, isWanted && mayHold)
    }
  }
}
