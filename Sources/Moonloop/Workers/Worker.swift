// A worker as its owner's state sees it: its handle, its end, and what waits for that.

internal import LuaEmbed
internal import MoonloopCore

/// A worker of this state. Its item is the control port. Loop thread only.
final class Worker {
  let link: WorkerLink
  let loop: Loop
  private unowned let runtime: Runtime  // its item holds this, and ends before it goes
  /// How it ended, once that was reported to its owner.
  private(set) var outcome: WorkerOutcome?
  /// What it returned or failed with, once that was requested.
  fileprivate var values = TaskValues.none
  fileprivate var failure: TaskFailure?
  private var waiters = Queue<WorkerWait>()

  init(_ link: WorkerLink, _ runtime: Runtime) {
    self.link = link
    self.runtime = runtime
    loop = runtime.loop
  }

  /// The worker of its control port; nil once its handle was collected.
  static func of(_ control: Loop.Port) -> Worker? { control.state(as: Worker.self) }

  func stop() { link.stop() }

  /// The handle has ended, or was collected: the worker is not wanted any more. Lua is not touched.
  func handleEnded() {
    if outcome != nil { return }
    outcome = .stopped
    link.stop()
    let port = link.outward
    loop.changeSoon { [weak runtime] in
      if let runtime, !runtime.isClosing, port.isValid { runtime.end(port) }
    }
    finishWaits()
  }

  /// - Returns: Whether any of them wants the outcome.
  @discardableResult
  private func finishWaits() -> Bool {
    var isAwaited = false
    while let wait = waiters.takeFirst() {
      if !wait.isClosing { isAwaited = true }
      wait.finish()
    }
    return isAwaited
  }

  // MARK: The end

  /// Called at the end. Lua may be called.
  func end(_ outcome: WorkerOutcome) {
    self.outcome = outcome
    switch outcome {
    case .returned(let clones):
      values = runtime.values(of: clones)
    case .failed(let failed):
      let error = runtime.error(of: failed)
      failure = TaskFailure(value: runtime.raisedValue(of: failed), error: error)
    case .stopped, .exited: break
    }
    let isAwaited = finishWaits()
    if let failure, !isAwaited { report(failure) }
    closeMessages()
    runtime.workers.forget(self)
  }

  /// Its own handler takes the failure at once; else it may be awaited until the next pass.
  private func report(_ failure: TaskFailure) {
    let (tasks, subject) = (runtime.tasks, Subject.item(link.control))
    let modes = runtime.loopContext.servingModes(of: subject)
    let isLast = runtime.isClosing || modes.isEmpty
    if isLast || runtime.handles.onError(of: link.control) != nil {
      return tasks.reportUnawaited((subject, failure))
    }
    tasks.reportLater(failure, subject, modes)
  }

  /// Messages that were sent before the end are delivered; then the port ends.
  private func closeMessages() {
    let port = link.outward
    guard port.isValid else { return }
    let shape = PortShape.of(port)
    if port.waiting == 0 { return runtime.end(port) }
    shape?.endsWhenEmpty = true
    loop.setKeepsAlive(port, !(shape?.waitsForHandler ?? true) || shape?.receiver != nil)
  }

  fileprivate func add(_ wait: WorkerWait) -> UInt64 { waiters.append(wait) }
  fileprivate func removeWait(_ number: UInt64) { waiters.remove(number) }

  /// In a word, for scripts.
  var status: StaticString {
    switch outcome {
    case nil: link.isStopping ? "stopping" : "running"
    case .returned: "done"
    case .failed: "failed"
    case .stopped, .exited: "stopped"
    }
  }

  /// Pushes what the script returned, or says how it ended. [-0, +n]
  func pushOutcome(on stack: LuaStack) -> Int {
    if case .returned = outcome { return values.push(on: stack) }
    if case .exited(let status) = outcome {
      return stack.pushFailure("\(link.label) has called os.exit(\(status))", "ECANCELED")
    }
    return stack.pushFailure("\(link.label) was stopped", "ECANCELED")
  }

  /// The failure to raise in the caller; it is not reported again.
  func takeFailure() -> TaskFailure? {
    if let failure { runtime.tasks.take(failure) }
    return failure
  }
}

/// A task that waits for the end of a worker.
final class WorkerWait: OtherWait {
  private let worker: Worker
  private unowned let runtime: Runtime  // it ends all waits before it goes
  /// It is the wait of a `<close>`, which wants no outcome.
  let isClosing: Bool
  private var number: UInt64 = 0

  init(_ worker: Worker, _ runtime: Runtime, isClosing: Bool = false) {
    self.worker = worker
    self.runtime = runtime
    self.isClosing = isClosing
    super.init()
    number = worker.add(self)
  }

  func finish() { runtime.tasks.answer(self) }

  override var what: String { "the end of \(worker.link.label)" }
  override var failure: TaskFailure? { isClosing ? nil : worker.takeFailure() }
  override func push(on stack: LuaStack) -> Int { worker.pushOutcome(on: stack) }

  override func abandon() {
    waiter = nil
    worker.removeWait(number)
  }

  override func join(_ mode: ModeName, _ loop: Loop) {
    for port in [worker.link.control, worker.link.outward] where port.isValid {
      try? loop.add(port, modes: [mode])
    }
  }

  override func leave(_ mode: ModeName, _ loop: Loop) {
    for port in [worker.link.control, worker.link.outward] { loop.remove(port, modes: [mode]) }
  }
}

/// The workers of a state whose threads have not ended. Loop thread only.
struct Workers {
  /// How many workers enclose this state.
  var depth = 0
  /// How many a state may have at once.
  static let limit = 256
  /// How deep workers may make workers.
  static let depthLimit = 8
  private var all: [Worker] = []

  func of(_ loop: Loop) -> [Worker] { all.filter { $0.loop === loop } }

  /// How many threads exist.
  mutating func count() -> Int {
    all.removeAll { !$0.link.control.isValid && $0.link.hasEnded }
    return all.count
  }

  mutating func add(_ worker: Worker) { all.append(worker) }
  mutating func forget(_ worker: Worker) { all.removeAll { $0 === worker } }
}

extension Runtime {
  /// Writes what something of the scripts has written: where theirs goes.
  func write(_ output: WorkerOutput) {
    if !state.divert(output.stream, output.bytes) { output.write() }
  }

  /// Takes a notice of a worker.
  func deliver(_ control: Loop.Port, notice: any Sendable) {
    guard let worker = Worker.of(control) else { return }
    switch notice as? WorkerNotice {
    case .failed(let failure): report(error(of: failure), .item(control))
    case .wrote(let output): write(output)
    case .ended(let outcome):
      worker.end(outcome)
      if control.isValid { end(control) }
    case nil: break
    }
  }

  /// Asks all workers of the present loop to end. The host of a guest waits for that.
  func stopWorkers() {
    let patience = granted.guest == nil ? WorkerLink.patience : 10_000_000
    for worker in workers.of(loop) { worker.link.stop(patience: patience) }
  }

  /// How long to wait for a worker's end before it is named and left behind; less for those
  /// further in, so that they are named by their own owners. Of a guest's, the first that does not
  /// end uses it up.
  private var workerPatience: Duration { .milliseconds(4000 >> min(workers.depth, 4)) }

  /// Waits for the end of all workers of the present loop, which were asked to end, and takes their
  /// last notices.
  func endWorkers() {
    stopWorkers()
    var patience = workerPatience
    for worker in workers.of(loop) {
      let hasEnded = worker.link.join(timeout: patience)
      if !hasEnded && granted.guest != nil { patience = .zero }
      if worker.link.isRecorded { loop.drainInbox() }  // Its last notices arrive there.
      while let notice = worker.link.control.take() { deliver(worker.link.control, notice: notice) }
      workers.forget(worker)
      if hasEnded { continue }
      errors.noteReported()
      errors.write(
        "moonloop: \(worker.link.label) does not end: \(worker.link.obstacle); it is left behind")
    }
  }

  // MARK: Crossing

  fileprivate func values(of clones: [StructuredClone]) -> TaskValues {
    let stack = state.stack
    guard stack.reserve(clones.count + 2) else { return .none }
    for clone in clones { clone.push(on: stack, pushAttachment: push) }
    return TaskValues(popping: clones.count, of: stack)
  }

  func error(of failure: WorkerFailure) -> LuaError {
    var error = LuaError(
      kind: failure.kind, message: failure.message, code: failure.code,
      traceback: failure.traceback,
      value: failure.value.map { _ in raisedValue(of: failure) })
    error.text = failure.bytes.map { LuaReference(pushing: $0, on: state.stack) }
    return error
  }

  /// What is raised in the owner's state: a copy of what the worker raised.
  func raisedValue(of failure: WorkerFailure) -> LuaReference {
    let stack = state.stack
    if let value = failure.value {
      value.push(on: stack, pushAttachment: push)
    } else if let bytes = failure.bytes {
      bytes.withUnsafeBytes { stack.push(bytes: $0) }
    } else {
      stack.push(failure.message)
    }
    return LuaReference(popping: stack)
  }
}
