// One run of a script: the state, the loop, the signals and the exit status.

internal import Glibc
internal import Moonloop
internal import MoonloopSystem

/// Runs a script with its settings. Main thread only.
final class ScriptRun {
  private(set) var settings: RunSettings
  private(set) var runtime: Runtime! = nil
  /// The argument of `os.exit`.
  private var exitStatus: Int32?
  private var outputHasFailed = false
  /// Whether a recording, a log or a file could not be written whole.
  private var isIncomplete = false
  private let reporter = LuaReporter()
  /// Tells the service manager what the program does.
  private var service: ServiceReports?
  private var traceFile: TraceFile?
  /// The events of the program's own loop in that file.
  private(set) var track: TraceTrack?
  /// Whether the script could be loaded when the program began.
  var wasLoaded = true

  /// Kept until the process ends, which takes the memory of all parts at once.
  // Unsafe: main thread only, as the class.
  nonisolated(unsafe) private static var last: ScriptRun?

  init(_ settings: RunSettings) { self.settings = settings }

  /// - Returns: The exit status.
  func run() -> Int32 {
    if settings.editsLines { LineEditor.captureOutput() }
    let text: ScriptText
    do throws(ScriptFailure) {
      if let recorded = settings.recorded {
        text = recorded
      } else {
        text = try ScriptText(settings.source)
      }
      if let path = settings.record {
        try record(path, text)
      } else if settings.command == nil && settings.recorded == nil && !settings.isConsole
        && settings.guest == nil
      {
        Recording.hold(text)
      }
      try settings.confine()
    } catch {
      writeToStandardError("moonloop: \(error.message)")
      return error.status
    }
    let kernel: LinuxKernel
    let loop: Loop
    do {
      kernel = try LinuxKernel(clock: settings.clock)
      loop = try Loop.makeIsolated("the main loop", kernel)
    } catch {
      writeToStandardError("moonloop: cannot make a loop: \(error)")
      return ExitStatus.failure
    }
    return loop.isolate { loop in
      let state: LuaState
      Recording.seedNextState()
      do throws(LuaError) {
        state =
          settings.ignoresEnvironment
          ? try withoutLuaPaths { () throws(LuaError) in try makeState(loop) }
          : try makeState(loop)
      } catch {
        writeToStandardError("moonloop: \(error.message)")
        return ExitStatus.failure
      }
      runtime = state.runtime
      do throws(ScriptFailure) {
        traceFile = try settings.traceOut.map { path throws(ScriptFailure) in
          let isReplay = !Intake.isPlain && !Intake.isKept
          return try TraceFile(
            path, standsStill: settings.clock == .virtual || settings.runsTests || isReplay)
        }
      } catch {
        writeToStandardError("moonloop: \(error.message)")
        return error.status
      }
      setUp(state, loop, kernel)
      run(text, state, loop)
      end(state)
      #if !DEBUG  // the search for leaks is to see it go
        Self.last = self
      #endif
      return status(state)
    }
  }

  private func makeState(_ loop: Loop) throws(LuaError) -> LuaState {
    var limits = settings.limits
    // A recording is replayed where the limits are others.
    if Intake.isPlain, let most = ProcessMemory.limitForLua {
      limits.memory = min(limits.memory ?? most, most)
    }
    if let guest = settings.guest {
      return try LuaState(on: loop, limits: limits, guest: guest)
    }
    return try LuaState(on: loop, limits: limits)
  }

  // Unowned: the run lives as long as the program.
  private func setUp(_ state: LuaState, _ loop: Loop, _ kernel: LinuxKernel) {
    let errors = runtime.errors
    errors.verdict = settings.verdict
    errors.write = { [unowned self] text in
      flush()  // keeps the order of output
      if LineEditor.isEditing { return LineEditor.print("\(text)\n") }
      reporter.report(Journal.takesErrors ? Journal.marked(text) : text)
    }
    loop.whenIdle(self) { [unowned self] _ in flush() }
    if Intake.isPlain {
      if let slack = settings.timerSlack { loop.timerSlack = slack }
      if let spin = settings.spin { loop.spin = spin }
    }
    if settings.traces { loop.add(watcher: TraceWriter(loop).watcher) }
    if settings.measures { runtime.loopContext.measure() }
    if let traceFile, !settings.runsTests {
      track = TraceTrack(traceFile, loop, runtime)
      track?.attach()
    }
    Recording.join(state)
    state.install(
      LuaProgramHooks(
        exit: { [unowned self] status, closes in exit(status, closes) },
        blocks: { [unowned self] name, site in warn(name, site) },
        warns: { [errors] text in errors.write("moonloop: warning: \(text)") },
        execute: Ending.execute))
    if settings.guest == nil { ScriptArguments(settings).set(on: state) }
    if settings.command != nil {
      let bed = TestBed.open(in: runtime)
      runtime.console.open()
      if settings.runsTests && Intake.isPlain { bed.hearAttention(kernel) }
      if settings.runsTests, let traceFile { trace(bed, traceFile) }
    } else if Intake.isPlain && settings.guest == nil {
      runtime.console.hearAttention(kernel)  // an attached console is not recorded
    }
    if settings.editsLines {
      runtime.console.open()
    }
    if settings.breaksOnErrors { runtime.console.breakOnErrors() }
    let mayStop = settings.runsTests || (settings.command == nil && settings.guest == nil)
    if settings.editsLines || (mayStop && LineEditor.hasTerminal) {
      LineEditor.open(on: state)
    }
    if settings.command == nil && settings.clock == .real { service = ServiceReports(runtime) }
    service?.attach()
    state.onClosed = { Ending.forgetCallouts() }
    Child.keepStatuses()
    Ending.catchSignals(
      waking: kernel,
      callout: { LuaState.calloutFunction(OpaquePointer($0)) },
      stop: { LuaState.interruptFunction(OpaquePointer($0)) },
      visit: { LuaState.visitFunction(OpaquePointer($0)) },
      context: UnsafeMutableRawPointer(state.record))
    if settings.runsTests { Ending.catchHangUp() }  // what tests have started is to end
  }

  /// Gives each loop of the tests a track of its own.
  private func trace(_ bed: TestBed, _ file: TraceFile) {
    var count = 0
    bed.trace = { [runtime] loop in
      count += 1
      let track = TraceTrack(file, loop, runtime!, number: count)
      track.attach()
      return { track.finish() }
    }
  }

  private func run(_ text: ScriptText, _ state: LuaState, _ loop: Loop) {
    defer { runtime.mainChunk.reportEmptyRuns() }
    prepare(text)
    takeSteps(text, state)
    if runtime.mainChunk.hasFailed { return }
    if settings.isConsole || settings.prompts { return keepRunning(loop) }
    // A faulty configuration may have added items to the loop; do not run those instead.
    if runtime.mainChunk.configurationFailed && !settings.watches { return }
    if runtime.mainChunk.wasLimited && runtime.mainChunk.endsAtLimit { return }
    if Ending.isAskedFor || (runtime.runs.ranLoop && runtime.waitingChunk == nil) { return }
    if settings.forConfigurations.mode != nil {
      runtime.mainChunk.reportEmptiness(of: settings.mode)
    }
    while loop.run(mode: settings.mode, for: settings.timeout) == .finished {
      runtime.mainChunk.reportDeadlock(in: settings.mode)
      if settings.forConfigurations.mode == nil { runtime.mainChunk.reportUnserved() }
      if !settings.watches || Ending.isAskedFor { return }
      runtime.generations.awaitChange(wasLoaded: wasLoaded)
    }
  }

  /// Runs the loop until the prompt closes, even if it is stopped.
  private func keepRunning(_ loop: Loop) {
    while !Ending.isAskedFor && loop.run(mode: settings.mode) != .finished {}
  }

  /// Starts a recording. Tests run without it where it cannot be written.
  private func record(_ path: String, _ text: ScriptText) throws(ScriptFailure) {
    do throws(ScriptFailure) { try Recording.begin(path, text) } catch {
      if !settings.runsTests { throw error }
      isIncomplete = true
      writeToStandardError("moonloop: \(error.message); the tests run without a recording")
    }
  }

  private func end(_ state: LuaState) {
    service?.end()
    if settings.editsLines { LineEditor.close() }
    if settings.command != nil { runtime.bed?.close() }
    if settings.measures { RunSettings.writeMetrics(of: state) }
    state.shutDown()
    flush()
    if let text = Ending.explanation { reporter.report("moonloop: \(text)") }
    finishFiles()
    runtime.errors.others.finish()
    reporter.finish()
  }

  private func status(_ state: LuaState) -> Int32 {
    if let exitStatus {
      return exitStatus == ExitStatus.success && isIncomplete ? ExitStatus.failure : exitStatus
    }
    if Ending.reason > 0 { return ExitStatus.signal(Ending.reason) }
    if runtime.mainChunk.wasRefused { return ExitStatus.usage }
    if runtime.errors.lastStop?.isLimit ?? false { return ExitStatus.limit }
    let hasFailed = runtime.errors.count > 0 || isIncomplete
    return hasFailed || Ending.explanation != nil ? ExitStatus.failure : ExitStatus.success
  }

  private func finishFiles() {
    track?.finish()
    traceFile?.finish()
    if let text = LogSink.finish() {
      isIncomplete = true
      reporter.report("moonloop: \(LuaText.clean(text))")
    }
    let isRecorded = Recording.finish(settings.record == nil ? "loop:record" : "--record")
    if !isRecorded || outputHasFailed || traceFile?.hasFailed ?? false { isIncomplete = true }
  }

  // MARK: What scripts ask for

  private func exit(_ status: Int32, _ closes: Bool) {
    if closes {
      exitStatus = exitStatus ?? status
      Ending.begin()
      Ending.stopCallout()
    } else {
      runtime.tasks.reportUnawaited()
      flush()
      runtime.bed?.close()
      finishFiles()
      Glibc.exit(isIncomplete && status == ExitStatus.success ? ExitStatus.failure : status)
    }
  }

  /// Warns about a blocking call only if something else has to wait for it.
  private func warn(_ name: String, _ site: String) -> Bool {
    let loop = runtime.loop
    guard runtime.tasks.count > 0 || loop.hasItems else {
      return false
    }
    writeToStandardError("moonloop: warning: \(name) blocks the loop until it returns\(site)")
    return true
  }

  // MARK: Standard output

  /// Flushes the output. Reports a failure once; if the reader has gone, we are already ending.
  private func flush() {
    do { try StandardStreams.flushOutput() } catch {
      if Ending.reason == Ending.brokenOutput { return }
      if !outputHasFailed {
        outputHasFailed = true
        Help.reportLostOutput(error)
      }
    }
  }
}
