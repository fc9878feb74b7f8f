// What a worker's thread and its owner share: three ports, and the way to stop it.

internal import LuaEmbed
internal import MoonloopCore
internal import Synchronization

/// What a worker sends its owner beside messages; goes through the control port.
enum WorkerNotice: Sendable {
  /// A handler failed, and the worker goes on.
  case failed(WorkerFailure)
  /// It has written for an owner whose own output goes elsewhere.
  case wrote(WorkerOutput)
  case ended(WorkerOutcome)
}

/// How a worker ended.
enum WorkerOutcome: Sendable {
  /// The script and its loop came to their end; what the script returned.
  case returned([StructuredClone])
  case failed(WorkerFailure)
  /// It was asked to end before that.
  case stopped
  /// It called `os.exit` with this status.
  case exited(Int32)
}

/// An error of a worker, as it crosses to the owner's state.
struct WorkerFailure: Sendable {
  let kind: LuaError.Kind
  let message: String
  /// The message as Lua has it, if that are other bytes, and not too many.
  let bytes: [UInt8]?
  let code: String?
  let traceback: [LuaError.Frame]
  /// What was raised, if it is not a string and can be sent.
  let value: StructuredClone?

  init(_ error: LuaError, bytes: [UInt8]? = nil, value: StructuredClone? = nil) {
    kind = error.kind
    message = error.message
    self.bytes = bytes
    code = error.code
    traceback = error.traceback
    self.value = value
  }
}

/// The shared part of a worker. Any thread.
final class WorkerLink: Sendable {
  let name: String
  /// The worker as text: "worker 'resize' (made at app.lua:3)".
  let label: String
  /// How many workers enclose it, itself included.
  let depth: Int
  /// Messages to the worker; its thread alone adds and ends it.
  let inward: Loop.Port
  /// Messages to the owner, which has the port.
  let outward: Loop.Port
  /// Notices to the owner, which has the port.
  let control: Loop.Port
  /// The owner is recorded: it writes what the worker prints to the standard streams.
  let isRecorded: Bool
  /// Where that arrives.
  private let output: Arrivals?
  /// The same for an owner whose output is redirected: a guest, or a worker of such a one.
  let isForwarded: Bool

  private struct State {
    var thread: LoopThread?
    var script: InterruptHandle?
    var isStopping = false
    /// The last function that was about to block, its place, and in which call-out that was.
    var blocking: (name: String, site: String, callout: UInt64)?
  }
  private let state = Guarded(State())

  /// How long a call-out may go on after a stop before it is interrupted.
  static let patience: Int64 = 300_000_000

  init(
    name: String, label: String, depth: Int, inward: Loop.Port, outward: Loop.Port,
    control: Loop.Port, output: Arrivals?, isForwarded: Bool
  ) {
    self.name = name
    self.label = label
    self.depth = depth
    self.inward = inward
    self.outward = outward
    self.control = control
    self.output = output
    isRecorded = output != nil
    self.isForwarded = isForwarded
  }

  // MARK: The worker's side

  func attach(_ script: InterruptHandle) { state.withLock { $0.script = script } }

  /// The worker's state is about to call something that blocks the thread.
  func note(blocking name: String, site: String) {
    let callout = state.withLock { $0.script }?.callout ?? 0
    state.withLock { $0.blocking = (name, site, callout) }
  }

  /// Passes the worker's output to the owner, which may no longer take messages.
  func write(_ output: WorkerOutput) {
    if isForwarded { return forward(output) }
    if self.output?.post(output) != true { output.write() }
  }

  /// Waits for room, as at a pipe, until the worker is to stop.
  private func forward(_ output: WorkerOutput) {
    while true {
      do throws(LoopError) { return try control.post(WorkerNotice.wrote(output)) } catch {
        guard case .portFull = error, !isStopping,
          let gate = state.withLock({ $0.thread })?.loop.kernel.makeGate()
        else { return }
        control.whenRoom { gate.open() }
        _ = gate.wait(atMost: 10_000_000)  // it may have been told to stop
      }
    }
  }

  /// Reports an error to the owner; beyond a limit they are dropped until the owner has looked.
  func report(_ failure: WorkerFailure) {
    do throws(LoopError) { try control.post(WorkerNotice.failed(failure)) } catch {
      if case .portFull = error { return }
      writeUnheard(failure)
    }
  }

  /// Reports the end to the owner. The worker's thread does this last.
  func finish(_ outcome: WorkerOutcome) {
    inward.invalidate()
    if control.postAlways(WorkerNotice.ended(outcome)) { return }
    if case .failed(let failure) = outcome { writeUnheard(failure) }
  }

  /// The owner does not listen any more: an error is never silent all the same.
  private func writeUnheard(_ failure: WorkerFailure) {
    let error = LuaError(
      kind: failure.kind, message: failure.message, traceback: failure.traceback)
    writeToStandardError("moonloop: error in \(label)\n\(error.report)")
  }

  // MARK: The owner's side

  func begin(_ thread: LoopThread) { state.withLock { $0.thread = thread } }

  /// Whether the worker's loop sleeps now.
  var isWaiting: Bool {
    Intake.flag { state.withLock { $0.thread }?.loop.isWaiting ?? false }
  }

  var isStopping: Bool { state.withLock { $0.isStopping } }
  var hasEnded: Bool { Intake.flag { state.withLock { $0.thread }?.hasEnded ?? true } }

  /// Asks the worker to end: its runs end, and a call-out that goes on is interrupted, again and
  /// again until the thread has ended. Does not wait; idempotent: the first patience counts.
  func stop(patience: Int64 = WorkerLink.patience) { Intake.outside { stopThread(patience) } }

  private func stopThread(_ patience: Int64) {
    let thread = state.withLock { state -> LoopThread? in
      if state.isStopping { return nil }
      state.isStopping = true
      return state.thread
    }
    guard let thread else { return }
    thread.stop()
    if thread.join(timeout: .zero) { return }
    let interrupts: @Sendable () -> Void = { [self] in
      var pause = patience
      while !thread.join(timeout: .nanoseconds(pause)) {
        state.withLock { $0.script }?.interrupt()
        // A call of C that does not return is asked less and less often.
        pause = min(pause == patience ? 20_000_000 : pause * 5 / 4, 1_000_000_000)
      }
    }
    // A system that refuses a thread leaves a busy worker to the limits of its script.
    try? startThread(
      name: "moonloop-stop", stackSize: 256 << 10, blocksSignals: true, interrupts)
  }

  /// The thread, while it has not ended.
  var runningThread: LoopThread? {
    state.withLock { $0.thread }.flatMap { $0.hasEnded ? nil : $0 }
  }

  /// The function that blocks the thread, with its place, if one does.
  var blockedIn: String? {
    let (script, blocking) = state.withLock { ($0.script, $0.blocking) }
    guard let blocking, script?.callout == blocking.callout else { return nil }
    return blocking.name + blocking.site
  }

  func join(timeout: Duration) -> Bool {
    Intake.flag { state.withLock { $0.thread }?.join(timeout: timeout) ?? true }
  }

  /// What a worker that does not end is in, as text.
  var obstacle: String {
    Intake.text {
      blockedIn.map { "it is in \($0), which blocks its thread" }
        ?? "it is in a call of C that does not return"
    }
  }
}
