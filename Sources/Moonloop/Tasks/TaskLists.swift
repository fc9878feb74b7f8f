// The small lists that tasks are in: by coroutine, children of a scope, and which awaits which.

internal import LuaEmbed
internal import MoonloopCore

/// The tasks that have a coroutine, by its index.
struct TaskTable {
  private var tasks: [ScriptTask?] = []
  private(set) var count = 0

  init() {}

  subscript(index: Int32) -> ScriptTask? {
    get { Int(index) < tasks.count ? tasks[Int(index)] : nil }
    set {
      while tasks.count <= Int(index) { tasks.append(nil) }
      count += (newValue == nil ? 0 : 1) - (tasks[Int(index)] == nil ? 0 : 1)
      tasks[Int(index)] = newValue
    }
  }

  /// All of them, in the order of their coroutines.
  var all: [ScriptTask] {
    Steps.note(tasks.count)
    return tasks.compactMap { $0 }
  }
}

/// The children of a scope that have not ended, in order of making; each knows its place.
struct TaskChildren {
  private var places: [ScriptTask?] = []
  private(set) var count = 0

  init() {}

  var isEmpty: Bool { count == 0 }
  var all: [ScriptTask] {
    Steps.note(places.count)
    return places.compactMap { $0 }
  }

  mutating func append(_ task: ScriptTask) {
    task.placeInParent = places.count
    places.append(task)
    count += 1
  }

  mutating func remove(_ task: ScriptTask) {
    places[task.placeInParent] = nil
    count -= 1
    if count == 0 {
      places = []
    } else if places.count > 16 && count * 2 < places.count {
      Steps.note(places.count)
      places = places.filter { $0 != nil }
      for (place, task) in places.enumerated() { task?.placeInParent = place }
    }
  }
}

/// The tasks that await one, usually none or one; each knows its place and leaves in one step.
struct TaskWaiters {
  private var first: ScriptTask?
  private var others: [ScriptTask?] = []
  private var othersCount = 0

  init() {}

  var isEmpty: Bool { first == nil && othersCount == 0 }

  mutating func append(_ task: ScriptTask) {
    if isEmpty {
      first = task
      return
    }
    task.placeAmongWaiters = others.count
    others.append(task)
    othersCount += 1
  }

  mutating func remove(_ task: ScriptTask) {
    if first === task {
      first = nil
      return
    }
    let place = task.placeAmongWaiters
    guard place < others.count, others[place] === task else { return }
    others[place] = nil
    othersCount -= 1
    if others.count > 16 && othersCount * 2 < others.count {
      others = others.filter { $0 != nil }
      for (place, task) in others.enumerated() { task?.placeAmongWaiters = place }
    } else if othersCount == 0 {
      others = []
    }
  }

  /// Takes all, in the order in which they began to wait.
  mutating func takeAll() -> [ScriptTask] {
    if isEmpty { return [] }
    defer { self = TaskWaiters() }
    return ([first] + others).compactMap { $0 }
  }
}

/// Lua values that tasks are often given, made once.
struct CommonValues {
  /// The result of a wait that ended well without other results.
  let isTrue: TaskValues
  /// What is raised in a task that was cancelled without a reason.
  let cancelled: LuaReference

  init(_ stack: LuaStack) {
    stack.push(true)
    isTrue = TaskValues(popping: 1, of: stack)
    cancelled = LuaReference(pushing: "the task was cancelled", on: stack)
  }
}
