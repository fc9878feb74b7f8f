// Performs a scenario: makes its objects, then its steps, on the home thread and on others.

import ConformanceFormat
import Glibc
import MoonloopCore
import Synchronization

final class Engine: CallbackReceiver {
  let job: BatchJob
  let world: any World
  /// The factor by which all times of the scenario are stretched.
  let scale: Int64
  /// Set once, before the home thread starts.
  let face: any Face

  struct State {
    /// When the scenario began, on the world's clock.
    var start: Int64 = 0
    /// The threads by the names that actions use.
    var threads: [String: ScenarioThread] = [:]
    /// The scenario's thread for each system thread.
    var running: [UInt: ScenarioThread] = [:]
    /// The thread whose request each thread is serving.
    var actingFor: [UInt: ScenarioThread] = [:]
    /// How often each object was called, in all and for each event.
    var calls: [String: Int] = [:]
    /// The objects that were made.
    var made: Set<String> = []
    /// The thread on whose loop each item was put last.
    var owners: [String: ScenarioThread] = [:]
    /// The near and far ends of the descriptors.
    var descriptors: [String: (near: Int32, far: Int32?)] = [:]
  }
  let state = Mutex(State())
  let specs: [String: ObjectSpec]

  init(
    _ job: BatchJob, world: any World, scale: Int64,
    makeFace: (any CallbackReceiver) -> any Face
  ) {
    self.job = job
    self.world = world
    self.scale = scale
    specs = Dictionary(uniqueKeysWithValues: job.scenario.objects.map { ($0.id, $0) })
    let relay = Relay()
    face = makeFace(relay)
    relay.target.withLock { $0 = self }
  }

  /// Lets the face be made before the engine that it calls back.
  private final class Relay: CallbackReceiver {
    let target = Mutex<Engine?>(nil)
    func called(_ id: String, _ event: Event) {
      target.withLock { $0 }?.called(id, event)
    }
  }

  /// Performs the whole scenario, on the calling thread as home.
  func performAsHome() {
    let home = enter(name: nil)
    state.withLock { $0.start = world.now() }
    for spec in job.scenario.objects where !spec.isDeferred {
      world.spendTime()
      make(spec, by: home)
    }
    for step in job.scenario.steps { perform(step, by: home) }
  }

  // MARK: Time

  /// The time since the scenario began, unstretched.
  func elapsed() -> Int64 { scenarioTime(world.now()) }

  /// A time of the world, or of a loop, as unstretched scenario time.
  func scenarioTime(_ time: Int64) -> Int64 {
    let start = state.withLock { $0.start }
    return (time - start) / scale
  }

  // MARK: Threads

  /// Makes the calling thread one of the scenario's.
  func enter(name: String?) -> ScenarioThread {
    let thread = ScenarioThread(name: name, loop: Loop.current)
    let id = currentThreadID()
    state.withLock { state in
      state.running[id] = thread
      state.threads[name ?? Action.home] = thread
    }
    face.threadBegan(name ?? Action.home, on: thread.loop)
    return thread
  }

  /// The calling thread, whichever thread it acts for.
  var current: ScenarioThread? {
    let id = currentThreadID()
    return state.withLock { $0.running[id] }
  }

  /// Starts another thread, and waits until actions can name it.
  func startThread(named name: String, _ actions: [Action], by starter: ScenarioThread) {
    let isReady = Flag()
    world.startThread(named: name) { [self] in
      let thread = enter(name: name)
      isReady.set()
      for action in actions { perform(action, by: thread) }
      // What was asked of its loop before now is still done; later requests are not.
      thread.isServing.withLock { $0 = false }
      thread.loop.block(until: world.now())
      thread.isDone.set()
    }
    starter.loop.block(until: nil, isReady)
  }

  /// Performs an operation on the thread of a loop and waits for it, as if it took effect at once.
  ///
  /// The loop belongs to its thread, so the operation goes there as a posted change, which a
  /// sleeping loop applies without a wake-up. Its trace entries are the asker's.
  /// - Returns: nil if the thread has ended.
  @discardableResult
  func ask<Answer: Sendable>(
    _ thread: ScenarioThread, by asker: ScenarioThread, _ body: @escaping @Sendable () -> Answer
  ) -> Answer? {
    if thread === asker { return body() }
    let isAnswered = Flag()
    let box = AnswerBox<Answer>()
    let isAsked = thread.isServing.withLock { isServing in
      guard isServing else { return false }
      thread.loop.change { [self] _ in
        act(for: asker) { box.answer.withLock { $0 = body() } }
        isAnswered.set()
      }
      return true
    }
    guard isAsked else { return nil }
    asker.loop.block(until: nil, isAnswered)
    return box.answer.withLock { $0 }
  }

  private func act(for asker: ScenarioThread, _ body: () -> Void) {
    let id = currentThreadID()
    let outer = state.withLock { $0.actingFor.updateValue(asker, forKey: id) }
    body()
    state.withLock { $0.actingFor[id] = outer }
  }

  /// The prefix of the calling thread's entries.
  var prefix: String {
    let id = currentThreadID()
    return state.withLock { $0.actingFor[id] ?? $0.running[id] }?.prefix ?? ""
  }
}

/// Carries an answer back from the thread that gives it.
private final class AnswerBox<Answer: Sendable>: Sendable {
  let answer = Mutex<Answer?>(nil)
}
