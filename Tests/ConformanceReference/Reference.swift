// Performs a scenario on CFRunLoop: makes its objects, then its steps, on the home thread and on
// others. Core Foundation takes calls on any thread, so each is made where the scenario says.

import ConformanceFormat
import CoreFoundation
import Dispatch
import Glibc

// Sendable: `lock` protects what threads share; Core Foundation's objects protect themselves.
final class Reference: @unchecked Sendable {
  let job: BatchJob
  let scale: Int64
  private let lock = Lock()
  private var start: Int64 = 0
  private var specs: [String: ObjectSpec] = [:]
  private var objects: [String: Object] = [:]
  private var calls: [String: Int] = [:]
  private var loops: [String: CFRunLoop] = [:]
  private var names: [UInt: String] = [:]
  private var ended: Set<String> = []
  private var requests: Requests?

  init(_ job: BatchJob, scale: Int64) {
    self.job = job
    self.scale = scale
    for spec in job.scenario.objects { specs[spec.id] = spec }
  }

  /// Core Foundation on Linux has neither perform requests nor descriptors: both are built here
  /// from its sources and timers, descriptors for reading only.
  static func knows(_ scenario: Scenario) -> Bool {
    func knows(_ action: Action) -> Bool {
      switch action.op {
      case .performOn(_, _, let waits, let aim):
        !waits && aim == nil && action.loop == Action.home
      case .perform(_, _, let aim): aim == nil
      case .setTolerance, .fire, .cancelTarget: false
      case .performAfter, .cancelPerform: action.loop == Action.home
      case .fill, .drain: false
      case .enable(_, let events), .disable(_, let events): events == [.read]
      case .thread(_, let actions): actions.allSatisfy(knows)
      default: true
      }
    }
    return scenario.steps.allSatisfy(knows)
      && scenario.objects.allSatisfy {
        if case .descriptor(let events, _, _) = $0.kind, events != [.read] { return false }
        if case .timer(_, _, let tolerance) = $0.kind, tolerance != 0 { return false }
        return $0.actions.allSatisfy(knows)
      }
  }

  func performAsHome() {
    enter(Action.home)
    requests = Requests(self)
    start = now()
    for spec in job.scenario.objects where !spec.isDeferred { create(spec) }
    for step in job.scenario.steps { perform(step) }
  }

  // MARK: Threads and time

  private func now() -> Int64 { Int64(monotonicNanoseconds()) }

  private func enter(_ name: String) {
    lock.with {
      loops[name] = CFRunLoopGetCurrent()
      names[currentThreadID()] = name
    }
  }

  func add(_ entry: String) {
    let name = lock.with { names[currentThreadID()] } ?? Action.home
    job.trace.add(name == Action.home ? entry : "\(name)|\(entry)")
  }

  private func loop(_ name: String) -> CFRunLoop {
    guard let loop = lock.with({ loops[name] }) else { fail("thread '\(name)' has no loop yet") }
    return loop
  }

  private func block(for nanoseconds: Int64) {
    let end = now() + nanoseconds
    while case let rest = end - now(), rest > 0 {
      _ = poll(nil, 0, Int32(max(1, rest / 1_000_000)))
    }
  }

  private func startThread(_ name: String, _ actions: [Action]) {
    let isReady = DispatchSemaphore(value: 0)
    startSystemThread { [self] in
      enter(name)
      isReady.signal()
      for action in actions { perform(action) }
      lock.with { _ = ended.insert(name) }
    }
    isReady.wait()
  }

  private func slot(_ time: Int64) -> Int64 { Trace.slot(nanoseconds: (time - start) / scale) }

  private func word(_ date: CFAbsoluteTime) -> String {
    if date == 0 { return "none" }
    return "\(slot(now() + Int64((date - CFAbsoluteTimeGetCurrent()) * 1e9)))"
  }

  // MARK: Call-outs

  /// The entry of a callback.
  func tell(_ spec: ObjectSpec, _ detail: String) {
    if spec.isQuiet { return }
    let stamp = spec.isStamped ? "@\(slot(now()))" : ""
    add("\(spec.type.rawValue):\(spec.id)" + (detail.isEmpty ? "" : ":\(detail)") + stamp)
  }

  func called(_ id: String, _ detail: String = "", on activity: String? = nil) {
    guard let spec = lock.with({ specs[id] }) else { return }
    tell(spec, detail)
    let (all, same) = lock.with {
      calls[id, default: 0] += 1
      if let activity { calls["\(id) \(activity)", default: 0] += 1 }
      return (calls[id, default: 0], activity.map { calls["\(id) \($0)", default: 0] } ?? 0)
    }
    for action in spec.actions {
      if let on = action.on, on != activity { continue }
      if let nth = action.nth, nth != (action.on == nil ? all : same) { continue }
      perform(action)
    }
  }

  // MARK: Actions

  private func object(_ id: String) -> Object {
    guard let object = lock.with({ objects[id] }) else {
      job.giveUp(adding: "\(id) is used before it is made")
    }
    return object
  }

  private func create(_ spec: ObjectSpec) {
    guard spec.type != .block else { return }
    let object = Object(spec, scale: scale, self)
    lock.with { objects[spec.id] = object }
    for mode in spec.modes { object.add(to: loop(Action.home), mode.runLoopMode) }
  }

  func perform(_ action: Action) {
    switch action.op {
    case .run(let mode, let timeout, let returnAfterSource):
      let seconds = timeout.map { Double($0 * scale) / 1e9 } ?? 1e10
      let result = CFRunLoopRunInMode(mode.runLoopMode, seconds, returnAfterSource)
      add("run:\(mode)->\(result.word)")
    case .runUnconditionally:
      CFRunLoopRun()
      add("run:default->returned")
    case .stop: CFRunLoopStop(loop(action.loop))
    case .wake: CFRunLoopWakeUp(loop(action.loop))
    case .signal(let id): object(id).signal()
    case .post(let id, let message): object(id).post(message)
    case .add(let id, let mode): object(id).add(to: loop(action.loop), mode.runLoopMode)
    case .remove(let id, let mode): object(id).remove(from: loop(action.loop), mode.runLoopMode)
    case .addCommonMode(let mode):
      CFRunLoopAddCommonMode(loop(action.loop), mode.runLoopMode)
      if action.loop == Action.home { requests?.modeBecameCommon(mode) }
    case .invalidate(let id): object(id).invalidate()
    case .create(let id): if let spec = specs[id] { create(spec) }
    case .setNext(let id, let delay): object(id).setNext(Double(delay * scale) / 1e9)
    case .perform(let id, let modes, _):
      perform(modes, on: loop(action.loop)) { [self] in called(id) }
    case .performOn(let id, let modes, _, _): requests?.add(id, modes)
    case .performAfter(let id, let delay, let modes):
      requests?.add(id, modes, after: Double(delay * scale) / 1e9)
    case .cancelPerform(let id): requests?.cancel(id)
    case .write(let id, let data): object(id).writeToFarEnd(data)
    case .closePeer(let id): object(id).closeFarEnd()
    case .read(let id, let count): add("read:\(id):\(object(id).read(atMost: count))")
    case .enable(let id, _): object(id).enable(true)
    case .disable(let id, _): object(id).enable(false)
    case .mainAsync(let id): DispatchQueue.main.async { [self] in called(id) }
    case .sleep(let time): block(for: max(0, time) * scale)
    case .log(let text): add("log:\(text)")
    case .query(let query): answer(query, loop(action.loop))
    case .thread(let name, let actions): startThread(name, actions)
    case .join(let name): while !lock.with({ ended.contains(name) }) { block(for: 1) }
    default: fail("an action is not known here")
    }
  }

  private func perform(
    _ modes: [String], on loop: CFRunLoop, _ block: @escaping @Sendable () -> Void
  ) {
    var callbacks = kCFTypeArrayCallBacks
    let array = CFArrayCreateMutable(nil, modes.count, &callbacks)
    for mode in modes {
      let name = mode.runLoopMode
      withExtendedLifetime(name) {
        CFArrayAppendValue(array, Unmanaged.passUnretained(name).toOpaque())
      }
    }
    CFRunLoopPerformBlock(loop, array, block)
  }

  private func answer(_ query: Query, _ loop: CFRunLoop) {
    switch query {
    case .currentMode:
      let mode = CFRunLoopCopyCurrentMode(loop)?.name ?? "none"
      add("query:currentMode=\(mode)")
    case .waiting: add("query:waiting=\(CFRunLoopIsWaiting(loop))")
    case .elapsed: add("query:elapsed=\(slot(now()))")
    case .valid(let id): add("query:valid(\(id))=\(object(id).isValid)")
    case .contains(let id, let mode):
      add("query:contains(\(id),\(mode))=\(object(id).isIn(loop, mode.runLoopMode))")
    case .nextFire(let id): add("query:nextFire(\(id))=\(word(object(id).nextFire))")
    case .nextTimer(let mode):
      let date = CFRunLoopGetNextTimerFireDate(loop, mode.runLoopMode)
      add("query:nextTimer(\(mode))=\(word(date))")
    }
  }
}

extension CFRunLoopRunResult {
  var word: String {
    let words = ["unknown", "finished", "stopped", "timedOut", "handledSource"]
    let index = Int(rawValue)
    return words.indices.contains(index) ? words[index] : words[0]
  }
}

final class Lock {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init() { pthread_mutex_init(mutex, nil) }
  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func with<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}
