// Performs actions: for each word of the format, which thread does what to which loop or object.

import ConformanceFormat
import MoonloopCore
import Synchronization

extension Engine {
  /// Performs an action of the thread that is calling.
  func perform(_ action: Action, by thread: ScenarioThread) {
    guard let target = state.withLock({ $0.threads[action.loop] }) else {
      fail("the loop of thread '\(action.loop)' is used before the thread was started")
    }
    let loop = target.loop
    // On a machine that is late, what makes it may come after what uses it.
    if let id = action.op.item, !state.withLock({ $0.made.contains(id) }) {
      job.giveUp(adding: "\(id) is used before it is made")
    }
    world.spendTime()
    switch action.op {
    case .run(let mode, let timeout, let returnAfterSource):
      run(mode: mode, timeout: timeout, returnAfterSource: returnAfterSource, by: thread)
    case .runUnconditionally:
      face.runUnconditionally(thread.loop)
      add("run:default->returned")
    case .stop: face.stop(loop)
    case .wake: face.wakeUp(loop)
    case .signal(let id): face.signal(id)
    case .post(let id, let message): face.post(message, to: id)
    case .add(let id, let mode): add(id, to: mode, of: target, by: thread)
    case .remove(let id, let mode):
      ask(target, by: thread) { [face] in face.remove(id, from: mode, of: loop) }
    case .addCommonMode(let mode):
      ask(target, by: thread) { [face] in face.addCommonMode(mode, to: loop) }
    case .invalidate(let id): askOwner(of: id, by: thread) { [face] in face.invalidate(id) }
    case .create(let id):
      if let spec = specs[id] { make(spec, by: thread) }
    case .setNext(let id, let delay):
      let time = world.now() + delay * scale
      askOwner(of: id, by: thread) { [face] in face.setNextFire(id, time) }
    case .setTolerance(let id, let time):
      let stretched = time * scale
      askOwner(of: id, by: thread) { [face] in face.setTolerance(id, stretched) }
    case .fire(let id): askOwner(of: id, by: thread) { [face] in face.fire(id) }
    case .sleep(let time): thread.loop.block(until: world.now() + max(0, time) * scale)
    case .log(let text): add("log:\(text)")
    case .query(let query): perform(query, on: target, by: thread)
    case .thread(let name, let actions): startThread(named: name, actions, by: thread)
    case .join(let name):
      guard let other = state.withLock({ $0.threads[name] }) else {
        fail("thread '\(name)' is joined before it was started")
      }
      thread.loop.block(until: nil, other.isDone)
    case .perform, .performOn, .performAfter, .cancelPerform, .cancelTarget, .mainAsync:
      performBlockAction(action.op, on: target, by: thread)
    case .write, .closePeer, .read, .fill, .drain, .enable, .disable:
      performDescriptorAction(action.op, by: thread)
    }
  }

  /// Adds an entry of the calling thread.
  func add(_ entry: String) { job.trace.add(prefix + entry) }

  private func run(
    mode: String, timeout: Int64?, returnAfterSource: Bool, by thread: ScenarioThread
  ) {
    let result = face.run(
      thread.loop, mode: mode, timeout: timeout.map { $0 * scale },
      returnAfterSource: returnAfterSource)
    add("run:\(mode)->\(result.word)")
  }

  // MARK: Objects

  /// Makes an object and adds it to its modes of the home loop.
  func make(_ spec: ObjectSpec, by thread: ScenarioThread) {
    guard let home = state.withLock({ $0.threads[Action.home] }) else { return }
    var near: Int32?
    if spec.type == .fd {
      let pair = world.socketPair()
      near = pair.near
      state.withLock { $0.descriptors[spec.id] = (pair.near, pair.far) }
    }
    let descriptor = near
    let stretched = spec.stretched(by: scale)
    ask(home, by: thread) { [face] in face.make(stretched, descriptor: descriptor) }
    state.withLock { _ = $0.made.insert(spec.id) }
    for mode in spec.modes { add(spec.id, to: mode, of: home, by: thread) }
  }

  private func add(
    _ id: String, to mode: String, of target: ScenarioThread, by thread: ScenarioThread
  ) {
    let isIn = ask(target, by: thread) { [face] in
      face.add(id, to: mode, of: target.loop)
      return face.contains(id, in: mode, of: target.loop)
    }
    if isIn == true { state.withLock { $0.owners[id] = target } }
  }

  /// Performs an operation on the thread that an item belongs to, or here if it belongs to none.
  @discardableResult
  func askOwner<Answer: Sendable>(
    of id: String, by thread: ScenarioThread, _ body: @escaping @Sendable () -> Answer
  ) -> Answer? {
    let place = face.place(of: id)
    let owner = state.withLock { state in
      state.owners[id] ?? place.flatMap { state.threads[$0] } ?? thread
    }
    return ask(owner, by: thread, body)
  }

  // MARK: Blocks

  private func performBlockAction(
    _ op: Operation, on target: ScenarioThread, by thread: ScenarioThread
  ) {
    switch op {
    case .perform(let id, let modes, let aim):
      face.perform(id, modes: modes, on: target.loop, aim)
    case .performOn(let id, let modes, waits: false, let aim):
      face.request(id, modes: modes, on: target.loop, aim, then: nil)
    case .performOn(let id, let modes, waits: true, let aim):
      // On the loop's own thread it is performed at once, because waiting would never end.
      if target === thread { return called(id, .plain) }
      let isPerformed = Flag()
      face.request(id, modes: modes, on: target.loop, aim, then: isPerformed)
      thread.loop.block(until: nil, isPerformed)
    case .performAfter(let id, let delay, let modes):
      let delay = delay * scale
      ask(target, by: thread) { [face] in
        face.request(id, modes: modes, after: delay, on: target.loop)
      }
    case .cancelPerform(let id):
      ask(target, by: thread) { [face] in face.cancelRequests(id, on: target.loop) }
    case .cancelTarget(let name):
      ask(target, by: thread) { [face] in face.cancelRequests(ofTarget: name, on: target.loop) }
    case .mainAsync(let id): world.mainAsync { [self] in called(id, .plain) }
    default: break
    }
  }

  // MARK: Descriptors

  private func performDescriptorAction(_ op: Operation, by thread: ScenarioThread) {
    switch op {
    case .write(let id, let data):
      if let far = far(id) { _ = world.write(far, Array(data.utf8)) }
    case .closePeer(let id):
      let far = state.withLock { state in
        let far = state.descriptors[id]?.far
        state.descriptors[id]?.far = nil
        return far
      }
      if let far { world.close(far) }
    case .read(let id, let count):
      let outcome = askOwner(of: id, by: thread) { [face] in face.read(id, atMost: count) }
      add("read:\(id):\((outcome ?? .nothing).word)")
    case .fill(let id):
      guard let near = state.withLock({ $0.descriptors[id]?.near }) else { return }
      let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 4096)
      while world.write(near, bytes) > 0 {}
    case .drain(let id):
      guard let far = far(id) else { return }
      while case .data = world.read(far, atMost: 65536) {}
    case .enable(let id, let events):
      askOwner(of: id, by: thread) { [face] in face.enable(id, events) }
    case .disable(let id, let events):
      askOwner(of: id, by: thread) { [face] in face.disable(id, events) }
    default: break
    }
  }

  private func far(_ id: String) -> Int32? { state.withLock { $0.descriptors[id]?.far } }
}

extension ReadOutcome {
  /// How a read appears in the trace.
  var word: String {
    switch self {
    case .data(let bytes): String(decoding: bytes, as: UTF8.self)
    case .endOfFile: "EOF"
    case .nothing: "none"
    }
  }
}

extension RunResult {
  /// The word of the format.
  var word: String {
    switch self {
    case .finished: "finished"
    case .stopped: "stopped"
    case .timedOut: "timedOut"
    case .handledSource: "handledSource"
    }
  }
}
