// What stands in a mode of the host for all that is in the mode of that name of the loop.

#if canImport(CoreFoundation)
  import CoreFoundation
  import MoonloopCore

  /// The steps of a pass of the host, by Core Foundation's numbers of its activities.
  enum Step: CFOptionFlags, CaseIterable {
    case entry = 1
    case beforeTimers = 2
    case beforeSources = 4
    case beforeWaiting = 32
    case afterWaiting = 64
    case exit = 128

    var activity: Activity { Activity(rawValue: UInt32(rawValue)) }
  }

  /// A mode of a hosted loop. Loop thread only.
  ///
  /// Sources of version 0, ready ports, timers and blocks are each served by one item of the same
  /// kind in the host. They are armed when something of ours waits: before the sources, before the
  /// sleep, and after each call-out.
  final class HostedMode {
    let mode: Mode
    private let name: CFString
    /// The two hold each other until the attachment is finished, and so outlive the call-out that
    /// finishes it.
    private let attachment: RunLoopAttachment
    private var host: CFRunLoop { attachment.host }
    private var loop: Loop { attachment.loop }

    /// Performs signalled sources. In the mode while something of ours keeps its runs going, and
    /// between runs, so that a run of the mode gets as far as asking us.
    private var signals: CFRunLoopSource?
    private var holds = false
    /// It has left the mode since the host last slept.
    private var hasLetGo = false
    private var bell: Bell?
    private var descriptors: DescriptorDoor?
    private var timer: CFRunLoopTimer?
    /// The date that it stands for, on the loop's clock.
    private var timerDate: Int64 = 0
    private var hasBlock = false
    private var observers: [CFRunLoopObserver] = []
    private var tellerCount = 0
    private var isCommonThere = false
    /// How many runs of the host in this mode are under way.
    private var runs = 0

    init(_ mode: Mode, _ attachment: RunLoopAttachment) {
      self.mode = mode
      self.attachment = attachment
      name = mode.name.runLoopMode
      // Unowned, as below: `end` invalidates all that is called, before this goes.
      signals = makeSource { [unowned self] in
        serve { _ = loop.performSources(mode, onlyOne: $0.returnAfterSource) }
      }
      observe(order: .min, [.entry, .beforeTimers, .afterWaiting]) { [unowned self] in take($0) }
      observe(order: .max, [.entry, .beforeSources, .beforeWaiting, .afterWaiting, .exit]) {
        [unowned self] step in endTelling(step)
      }
      for _ in 0..<attachment.tellers { addTeller() }
      rest()
    }

    /// Releases everything in the host.
    func end() {
      for observer in observers { CFRunLoopObserverInvalidate(observer) }
      if let signals { CFRunLoopSourceInvalidate(signals) }
      if let timer { CFRunLoopTimerInvalidate(timer) }
      bell?.end()
      descriptors?.end()
      (observers, signals, timer, bell, descriptors) = ([], nil, nil, nil, nil)
    }

    // MARK: The steps of the host

    private func observe(
      order: Int, _ steps: [Step], _ body: @escaping (Step) -> Void
    ) {
      let mask = steps.reduce(0) { $0 | $1.rawValue }
      let observer = CFRunLoopObserverCreateWithHandler(nil, mask, true, order) { _, activity in
        Step(rawValue: CFOptionFlags(activity.rawValue)).map(body)
      }
      guard let observer else { return }
      observers.append(observer)
      CFRunLoopAddObserver(host, observer, name)
    }

    /// Adds an observer that calls ours, for when this many others are under way.
    func addTeller() {
      let level = tellerCount
      tellerCount += 1
      observe(order: 0, Step.allCases) { [unowned self] step in  // as in `init`
        if attachment.tellingDepth == level { attachment.tell(step.activity, self) }
      }
    }

    /// Before observers of the host and ours are called.
    func take(_ step: Step) {
      switch step {
      case .entry:
        runs += 1
        attachment.enter(self)
      case .afterWaiting:
        loop.hostWakes()
        serve { _ in loop.applyPosts() }
      default: serve { loop.beginHostedPass($0) }
      }
    }

    /// After observers of the host and ours were called.
    private func endTelling(_ step: Step) {
      switch step {
      case .beforeWaiting:
        serve { _ in loop.prepareHostedSleep(mode) }
        if attachment.isAttached { sleep() }
      case .exit:
        runs = max(0, runs - 1)
        attachment.leave(self)
        if attachment.isAttached { rest() }
      default: prepare()
      }
    }

    private func serve(_ body: (RunFrame) -> Void) {
      attachment.serve(self, body)
      if attachment.isAttached { arm(asksKernel: false) }
    }

    private func prepare() {
      loop.hostedFrame(in: mode).map { loop.passStop(to: attachment, of: $0) }
      arm(asksKernel: true)
    }

    private func sleep() {
      repeat { prepare() } while !loop.hostSleeps()
      let isWoken = loop.hostedFrame(in: mode).map(loop.isWoken) ?? false
      // The host looks for emptiness only at the end of a pass.
      if hasLetGo || isWoken { CFRunLoopWakeUp(host) }
      hasLetGo = false
    }

    // MARK: What waits

    /// Before the host is run in this mode, or stopped in it.
    func arm() { arm(asksKernel: true) }

    /// Between the runs of the host, the mode is never empty for it.
    func rest() { if runs == 0 && attachment.isAttached { hold(true) } }

    private func hold(_ isHeld: Bool) {
      guard let signals, isHeld != holds else { return }
      holds = isHeld
      if isHeld {
        CFRunLoopAddSource(host, signals, name)
      } else {
        CFRunLoopRemoveSource(host, signals, name)
        hasLetGo = true
      }
    }

    /// Sees to it that the host calls us for what waits.
    private func arm(asksKernel: Bool) {
      guard attachment.isAttached else { return }
      if loop.isCommonMode(mode.name) && !isCommonThere {
        isCommonThere = true
        CFRunLoopAddCommonMode(host, name)
      }
      let work = loop.hostedWork(mode, asksKernel: asksKernel)
      hold(!work.isEmpty || work.hasSources || work.hasSignals)
      if work.hasSignals, let signals { CFRunLoopSourceSignal(signals) }
      if work.hasBlocks { addBlock() }
      armPorts(work)
      armTimer(work.due)
    }

    private func addBlock() {
      if hasBlock { return }
      hasBlock = true
      CFRunLoopPerformBlock(host, name) { [weak self] in
        guard let self, attachment.isAttached else { return }
        hasBlock = false
        serve { _ in loop.performBlocks(mode) }
      }
    }

    private func armPorts(_ work: HostedWork) {
      if work.hasPorts || bell != nil {
        if bell == nil { bell = Bell { [unowned self] in servePort() } }  // as in `init`
        bell?.put(in: host, name, work.hasPorts)
        if work.hasReady { bell?.ring() }
      }
      if descriptors == nil, let fd = work.descriptor {
        descriptors = DescriptorDoor(fd) { [unowned self] in servePort() }  // as in `init`
      }
      descriptors?.put(in: host, name, work.descriptor != nil)
    }

    private func servePort() { serve { _ in loop.serveHostedPort(mode) } }

    /// Has a timer of the host fire when ours are due. It fires once: in a nested run of its
    /// call-out another takes its place.
    private func armTimer(_ due: (date: Int64, now: Int64)?) {
      guard let (date, now) = due else {
        if let timer { CFRunLoopTimerInvalidate(timer) }
        timer = nil
        return
      }
      if timer != nil, date == timerDate || max(date, timerDate) <= now { return }
      timerDate = date
      // Rounded up, because waking too early would be useless.
      let moment = CFAbsoluteTimeGetCurrent() + Double(max(0, date - now)) / 1e9 + 1e-6
      if let timer { return CFRunLoopTimerSetNextFireDate(timer, moment) }
      timer = CFRunLoopTimerCreateWithHandler(nil, moment, 0, 0, 0) { [weak self] _ in
        guard let self else { return }
        timer = nil
        serve { _ in loop.fireHostedTimers(mode) }
      }
      CFRunLoopAddTimer(host, timer, name)
    }
  }
#endif
