// Loading a new generation: a transaction. Nothing is served while a file is loaded, so handles
// are made and changed at once, and this is undone if the file fails.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// One reload of a file. Loop thread only.
final class GenerationLoad {
  let number: Int32
  /// The generation that runs until the swap.
  let previousGeneration: Int32
  /// The items of older generations that can be made again, by kind and name.
  private var items: [ExactText: [Loop.Item]] = [:]
  private var timers: [ExactText: [TimerID]] = [:]
  private var kept: Set<ObjectIdentifier> = []
  private var keptTimers: Set<TimerID> = []
  /// What undoes the changes, in the order in which they were made.
  private var undo: [() -> Void] = []
  private let requests: Set<Int32>
  /// How many items, and how many tasks, of older generations have not been made again so far.
  private(set) var oldItems = 0
  let oldTasks: Int
  private let onError: LuaReference?
  private let verdict: ErrorPolicy.Verdict?
  private let limits: LuaLimits
  private let handleLimit: Int
  private let timerLimit: Int

  init(_ runtime: Runtime) {
    previousGeneration = runtime.generations.number
    number = previousGeneration + 1
    requests = Set(runtime.requests.waiting.keys)
    (onError, verdict) = (runtime.errors.onError, runtime.errors.verdict)
    limits = runtime.state.limits
    (handleLimit, timerLimit) = (runtime.handles.limit, runtime.loop.timerLimit)
    oldTasks = runtime.tasks.all.count { $0.generation > 0 }
    oldItems = runtime.handles.items.count { $0.maker.generation > 0 }
    for item in runtime.handles.items where item.maker.generation > 0 && item.maker.ref > 0 {
      let kind = runtime.itemKinds[item]
      let identity = kind.identity(of: item)
      if identity.isEmpty { continue }
      items[ExactText("\(kind.word) \(identity)"), default: []].append(item)
    }
    for id in Self.madeTimers(runtime) {
      let name = runtime.handles.name(ofTimer: id)
      if !name.isEmpty { timers[ExactText(name), default: []].append(id) }
    }
    runtime.generations.number = number
    runtime.errors.onError = nil
  }

  // MARK: Made again

  /// Takes the item of an older generation that is made again under its name.
  func take<Kind: ItemKind>(
    _ kind: Kind.Type, _ identity: String, where fits: (Kind.Item) -> Bool
  ) -> Kind.Item? {
    let key = ExactText("\(kind.word) \(identity)")
    // What is known by a kind's word is of its class.
    let own = { unsafeDowncast($0, to: Kind.Item.self) }
    let place = items[key]?.firstIndex { $0.isValid && fits(own($0)) }
    guard let place, let item = items[key]?.remove(at: place) else { return nil }
    kept.insert(ObjectIdentifier(item))
    oldItems -= 1
    item.maker.generation = number
    return own(item)
  }

  func takeTimer(_ name: String, _ store: TimerStore) -> TimerID? {
    let name = ExactText(name)
    let place = timers[name]?.firstIndex { id in
      store.slot(of: id).map { store.records[$0].callout.payload != 0 } ?? false
    }
    guard let place, let id = timers[name]?.remove(at: place) else { return nil }
    keptTimers.insert(id)
    return id
  }

  func toUndo(_ body: @escaping () -> Void) { undo.append(body) }

  /// The file ends what it has made again: it is not kept after all, but lives until the swap.
  func release(_ item: Loop.Item) -> Bool {
    guard kept.remove(ObjectIdentifier(item)) != nil else { return false }
    oldItems += 1
    item.maker.generation = previousGeneration
    return true
  }

  func release(_ id: TimerID, _ handles: Handles) -> Bool {
    guard keptTimers.remove(id) != nil else { return false }
    handles.setGeneration(ofTimer: id, previousGeneration)
    return true
  }

  // MARK: The end

  /// The file was loaded: what it has not made again ends.
  /// - Returns: How many handles were kept, made, and ended.
  func commit(_ runtime: Runtime) -> (kept: Int, made: Int, ended: Int) {
    runtime.generations.noteLoad(at: runtime.loop.clock.now())
    runtime.generations.load = nil
    undo = []
    var made = -kept.count - keptTimers.count
    var ended = 0
    for task in runtime.tasks.all where task.generation > 0 {
      if task.generation == number { made += 1 } else if end(task, runtime) { ended += 1 }
    }
    for item in runtime.handles.items where item.maker.generation > 0 {
      if item.maker.generation == number {
        made += 1
      } else if item.isValid, runtime.itemKinds[item].endAfterReload(item) {
        item.maker.generation = -number  // this says what ended it
        ended += 1
      }
    }
    for id in Self.madeTimers(runtime) {
      if runtime.handles.generation(ofTimer: id) == number {
        made += 1
      } else {
        runtime.generations.endedTimers[id] = (number, runtime.label(of: .timer(id)))
        runtime.loop.invalidate(id)
        ended += 1
      }
    }
    return (kept.count + keptTimers.count, made, ended)
  }

  /// The file failed: what it made ends, what it changed is undone.
  func rollBack(_ runtime: Runtime) {
    runtime.generations.load = nil
    for body in undo.reversed() { body() }
    undo = []
    for task in runtime.tasks.all where task.generation == number { _ = end(task, runtime) }
    for (ref, request) in runtime.requests.waiting where !requests.contains(ref) {
      runtime.requests.cancel(request)
    }
    for item in runtime.handles.items where item.maker.generation == number && item.isValid {
      item.maker.generation = 0
      runtime.itemKinds[item].undo(item)
    }
    for id in Self.madeTimers(runtime) where runtime.handles.generation(ofTimer: id) == number {
      runtime.loop.invalidate(id)
    }
    runtime.generations.number = previousGeneration
    (runtime.errors.onError, runtime.errors.verdict) = (onError, verdict)
    if runtime.state.limits != limits { runtime.state.setLimits(limits) }
    (runtime.handles.limit, runtime.loop.timerLimit) = (handleLimit, timerLimit)
  }
}

extension GenerationLoad {
  /// The timers that were made while the file was loaded, in any generation.
  private static func madeTimers(_ runtime: Runtime) -> [TimerID] {
    let (loop, handles) = (runtime.loop, runtime.handles)
    return handles.timers(of: loop, madeBy: runtime.context).filter { id in
      runtime.isScriptTimer(loop.timers.records[id.slot].callout)
        && handles.generation(ofTimer: id) > 0
    }
  }

  private func end(_ task: ScriptTask, _ runtime: Runtime) -> Bool {
    task.generation = 0
    guard task.phase != .ended, task.cancellation == nil else { return false }
    runtime.tasks.cancel(task, Cancellation(reason: runtime.values.cancelled))
    return true
  }
}
