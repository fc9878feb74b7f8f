// A loop in the runs of Foundation's run loop: that one sleeps and keeps the order, and calls out
// to ours where its own items of the same kind have their turn. docs/hosting.md describes it.

#if canImport(CoreFoundation)
  public import CoreFoundation
  public import Foundation
  public import MoonloopCore

  /// Why a loop cannot be attached to a run loop.
  public enum AttachmentError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The run loop is that of another thread.
    case otherThread
    /// The loop is attached already.
    case attached(String)
    /// The loop runs, by itself.
    case running(String)
    /// The time of the loop is not that of the machine.
    case virtualTime(String)
    /// The thread of the loop has ended, or the isolated loop is over.
    case ended(String)

    public var description: String {
      switch self {
      case .otherThread: "the run loop belongs to another thread; attach the loop of that thread"
      case .attached(let name): "\(name) is attached already; detach it first"
      case .running(let name): "\(name) runs by itself; attach it before its run, or after it"
      case .virtualTime(let name): "\(name) has a time of its own; make it with the real clock"
      case .ended(let name): "\(name) has ended"
      }
    }
  }

  extension Loop {
    /// Has this loop be served in the runs of Foundation's run loop of the same thread.
    ///
    /// Until `detach`, running either of the two runs both: what is in a mode here takes part
    /// in the runs of the mode of that name there, at the steps of a pass where items of its kind
    /// do. `.default` is `kCFRunLoopDefaultMode`; a mode that is common in one is so in the other.
    /// - Parameter host: A run loop of this thread.
    /// - Returns: The attachment. Dropping it has no effect; see `detach`.
    /// - Throws: `AttachmentError`; then nothing has changed.
    /// - Note: Loop thread only.
    @discardableResult
    public func attach(to host: CFRunLoop) throws(AttachmentError) -> RunLoopAttachment {
      requireThread("attach")
      if !CFEqual(host, CFRunLoopGetCurrent()) { throw .otherThread }
      if hasEnded { throw .ended(name) }
      if isHosted { throw .attached(name) }
      if isRunning { throw .running(name) }
      if !hasMachineTime { throw .virtualTime(name) }
      return RunLoopAttachment(self, host)
    }

    /// Attaches the loop to a `RunLoop` of Foundation, which must be the calling thread's.
    /// - Returns: The attachment. Dropping it has no effect; see `detach`.
    /// - Throws: `AttachmentError`; then nothing has changed.
    /// - Note: Loop thread only.
    @discardableResult
    public func attach(to host: RunLoop) throws(AttachmentError) -> RunLoopAttachment {
      requireThread("attach")
      if host !== RunLoop.current { throw .otherThread }
      return try attach(to: CFRunLoopGetCurrent())
    }
  }

  /// That a loop is served in the runs of Foundation's run loop. Made by `Loop.attach(to:)`.
  ///
  /// The loop keeps it; it ends with `detach` or with the loop.
  // Sendable: only `host` is used on other threads, and Core Foundation's calls are made for that.
  public final class RunLoopAttachment: @unchecked Sendable {
    /// The loop that is served.
    public let loop: Loop
    let host: CFRunLoop
    // Loop thread only.
    private var modes: [ModeName: HostedMode] = [:]
    private var newModes: CFRunLoopObserver?
    /// How many observers of the host that tell ours are under way, one inside the other.
    private(set) var tellingDepth = 0
    /// How many of them there are in each mode.
    private(set) var tellers = 1
    /// How many call-outs of the host are under way.
    private var depth = 0
    private var isLeaving = false
    private var returnsAfterSource = false

    init(_ loop: Loop, _ host: CFRunLoop) {
      self.loop = loop
      self.host = host
      loop.beginHosting(by: self)
      // Unowned: the loop holds this until `finish`, which forgets both.
      loop.whenModeIsMade(self) { [unowned self] in map($0) }
      loop.whenEnds(self) { [unowned self] in
        isLeaving = true
        finish()
      }
      watchNewModes()
      for name in loop.modeNames { loop.findMode(name).map(map) }
      wakeUp()  // What is there by now is looked at, if the host runs.
    }

    /// Whether the loop is served there still. Loop thread only.
    public var isAttached: Bool {
      loop.requireThread("isAttached")
      return !isLeaving
    }

    /// From now on the loop is alone again, with all its items. A second call has no effect.
    ///
    /// In a call-out of the loop it takes effect when the outermost one is over.
    /// - Note: Loop thread only.
    public func detach() {
      loop.requireThread("detach")
      if isLeaving { return }
      isLeaving = true
      if depth == 0 { finish() }
    }

    private func finish() {
      if let newModes { CFRunLoopObserverInvalidate(newModes) }
      newModes = nil
      for mode in modes.values { mode.end() }
      modes = [:]
      loop.forgetHooks(of: self)
      loop.forgetEnd(of: self)
      loop.endHosting()
    }

    // MARK: Modes

    private func map(_ mode: Mode) {
      if isLeaving || modes[mode.name] != nil { return }
      modes[mode.name] = HostedMode(mode, self)
    }

    /// A mode that is common in the host is so here, from its first run on.
    private func watchNewModes() {
      let observer = CFRunLoopObserverCreateWithHandler(
        nil, Step.entry.rawValue, true, .min
      ) { [unowned self] _, _ in  // `finish` invalidates it
        guard let name = CFRunLoopCopyCurrentMode(host).map(ModeName.init) else { return }
        if loop.isCommonMode(name) { return }
        let isNew = modes[name] == nil
        loop.addCommonMode(name)
        if isNew { modes[name]?.take(.entry) }
      }
      newModes = observer
      CFRunLoopAddObserver(host, observer, kCFRunLoopCommonModes)
    }

    // MARK: Call-outs

    /// Performs a step of a pass: a run of the host is one of the loop.
    func serve(_ hosted: HostedMode, _ body: (RunFrame) -> Void) {
      if isLeaving { return }
      depth += 1
      // None is known if the loop was attached in the middle of the run.
      let frame =
        loop.hostedFrame(in: hosted.mode)
        ?? loop.beginHostedRun(hosted.mode, returnAfterSource: false)
      body(frame)
      if !isLeaving { loop.passStop(to: self, of: frame) }
      depth -= 1
      if isLeaving && depth == 0 { finish() }
    }

    /// Tells the observers of a mode of an activity.
    func tell(_ activity: Activity, _ hosted: HostedMode) {
      guard loop.isWatched(activity, hosted.mode) else { return }
      tellingDepth += 1
      if tellers == tellingDepth {
        // In a nested run this one is not called: another is.
        tellers += 1
        for mode in modes.values { mode.addTeller() }
      }
      serve(hosted) { _ in loop.tellHosted(activity, hosted.mode) }
      tellingDepth -= 1
    }

    /// The host begins a run.
    func enter(_ hosted: HostedMode) {
      if isLeaving { return }
      _ = loop.beginHostedRun(hosted.mode, returnAfterSource: returnsAfterSource)
      returnsAfterSource = false
    }

    /// The host's run is over.
    func leave(_ hosted: HostedMode) {
      if isLeaving { return }
      loop.endHostedPass()
      loop.hostedFrame(in: hosted.mode).map(loop.endHostedRun)
    }
  }

  // MARK: - The host, as the loop sees it

  extension RunLoopAttachment: LoopHost {
    package func wakeUp() { CFRunLoopWakeUp(host) }

    package func stop() {
      // What is ready by now comes before the stop (R15).
      loop.currentMode.flatMap { modes[$0] }?.arm()
      CFRunLoopStop(host)
    }

    package func run(
      _ name: ModeName, for timeout: Duration?, returnAfterSource: Bool
    ) -> RunResult {
      let mode = modes[name]
      mode?.arm()
      returnsAfterSource = returnAfterSource
      let seconds = timeout.map { max(0, $0 / .seconds(1)) } ?? 1e10
      let result = CFRunLoopRunInMode(name.runLoopMode, seconds, returnAfterSource)
      returnsAfterSource = false
      mode?.rest()
      return RunResult(rawValue: Int(result.rawValue)) ?? .finished
    }
  }

  extension ModeName {
    /// The mode of the host with that name.
    var runLoopMode: CFString {
      if self == .default { return kCFRunLoopDefaultMode }
      let units = Array(rawValue.utf16)
      return CFStringCreateWithCharacters(nil, units, units.count)
    }

    init(_ mode: CFString) {
      if CFEqual(mode, kCFRunLoopDefaultMode) {
        self = .default
        return
      }
      var units = [UniChar](repeating: 0, count: CFStringGetLength(mode))
      CFStringGetCharacters(mode, CFRange(location: 0, length: units.count), &units)
      self.init(String(decoding: units, as: UTF16.self))
    }
  }
#endif
