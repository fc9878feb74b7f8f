// Tasks: Lua coroutines that the loop resumes. Every handler is one as soon as it waits (D58).

internal import LuaEmbed
internal import MoonloopCore

/// What a suspended task waits for, and how to give it up.
struct Wait {
  enum Cause {
    /// The end of another task.
    case task(ScriptTask)
    /// A call of the `resume` that `ml.await` gave out.
    case callback(CallbackWait)
    /// A time; zero before a task begins.
    case sleep(nanoseconds: Int64)
    /// Anything else.
    case other(OtherWait)
  }

  var cause: Cause
  /// The timer that ends it; zero if none does.
  var timer = TimerID(rawValue: 0)
  /// The timer was the deadline, and it has come: the task that was called is cancelled, any other
  /// wait is given up.
  var isLate = false
  /// It is not ended by cancelling, and does not raise: a wait in a `__close`.
  var isQuiet = false
  /// How often the deadline was put off.
  var putOffs: UInt8 = 0

  /// Whether the timer is a deadline for something else than time.
  var isDeadline: Bool {
    switch cause {
    case .task, .other: true
    case .callback, .sleep: false
    }
  }

  init(_ cause: Cause, timer: TimerID = TimerID(rawValue: 0)) {
    self.cause = cause
    self.timer = timer
  }
}

/// The results of a wait when the task goes on.
enum Delivery {
  /// None, as after a sleep.
  case nothing
  /// What its wait was for: the outcome of a task, or the values of a callback.
  case answer
  /// The reason for cancelling, raised.
  case cancellation
}

/// One Lua coroutine that the loop resumes: a handler that waits, or a task of `loop:task`.
///
/// Loop thread only.
package final class ScriptTask {
  enum Phase {
    /// It begins in the next pass.
    case prepared
    case running, suspended
    /// Its function is over; it waits for its children.
    case joining
    case ended
  }

  enum Outcome { case none, returned, failed, cancelled }

  // State that each wait uses is unchecked: no access to it spans a call.

  /// The coroutine, while it has one.
  @exclusivity(unchecked) var coroutine: LuaCoroutine?
  @exclusivity(unchecked) var phase = Phase.running
  var outcome = Outcome.none
  /// A task of `loop:task` without an owner: it is not expected to be awaited.
  var isDetached = false
  /// Part of another task's call, which alone gets its failure.
  var isCall = false
  /// A script holds its handle, or may get it later.
  var hasHandle = false
  /// It is cancelled because a child failed: that failure becomes its own.
  var childFailed = false
  /// How it fails is not reported.
  var dropsFailure = false
  /// The timer that resumes it is set; its results are in `delivery`.
  @exclusivity(unchecked) var isReady = false
  /// Whose handler it is; `.chunk` for the main chunk and for `loop:task`.
  @exclusivity(unchecked) var subject: Subject
  /// The modes in which it is resumed (D62).
  @exclusivity(unchecked) var modes: [ModeName]
  var name = ""
  var madeAt = LuaPosition.nowhere
  /// The generation of the file that made it while loading; 0: none.
  var generation: Int32 = 0
  @exclusivity(unchecked) var wait: Wait?
  @exclusivity(unchecked) var delivery = Delivery.nothing
  /// Why it must end; sticky (D21).
  @exclusivity(unchecked) var cancellation: Cancellation?
  /// The task whose scope it was made in, until it ends.
  var parent: ScriptTask?
  /// The connection that it serves: closed when it has ended, unless something else uses it.
  var connection: ScriptStream?
  /// See `ScriptTask+Extras`.
  var extras: TaskExtras?

  init(subject: Subject = .chunk, modes: [ModeName] = []) {
    self.subject = subject
    self.modes = modes
  }

  /// The modes in which it would be resumed now.
  var servingModes: [ModeName] { waitModes.isEmpty ? modes : modes + waitModes }

  /// Whether a task is this one or in its scope, at any depth.
  func owns(_ task: ScriptTask) -> Bool {
    var next: ScriptTask? = task
    while let one = next {
      if one === self { return true }
      next = one.parent
    }
    return false
  }

  /// Calls a closure with this task and all in its scope, owners first, in order of making.
  func forEachInTree(_ body: (ScriptTask) -> Void) {
    var rest = [self]
    while let task = rest.popLast() {
      body(task)
      rest.append(contentsOf: task.children.all.reversed())
    }
  }
}

/// Why a task must end: shared by all tasks that one cancel reaches.
final class Cancellation {
  /// What is raised at every await from now on.
  let reason: LuaReference
  /// The failure of a child that caused it.
  let failure: TaskFailure?

  init(reason: LuaReference, failure: TaskFailure? = nil) {
    self.reason = reason
    self.failure = failure
  }
}

/// How a task failed: what was raised, and what to report.
final class TaskFailure {
  /// The value itself, for the tasks that await it (D57).
  let value: LuaReference
  var error: LuaError
  /// Whether it was delivered: to an awaiter, the owner, or the reports.
  var isTaken = false
  /// It is the failure of a child, passed on by the owner's function.
  var isOfChild = false
  /// The turn that reports it in the next pass, unless the task is awaited before.
  var turn = TimerID(rawValue: 0)

  init(value: LuaReference, error: LuaError) {
    self.value = value
    self.error = error
  }
}

/// What a task returned, kept for those that await it.
enum TaskValues {
  case none
  case one(LuaReference)
  /// A table with this many items.
  case many(LuaReference, Int)

  /// Takes the topmost values off a stack. [-count, +0, raises: -]
  init(popping count: Int, of stack: LuaStack) {
    switch count {
    case 0: self = .none
    case 1: self = .one(LuaReference(popping: stack))
    default:
      stack.newTable(items: Int32(count))
      stack.rotate(-Int32(count) - 1, 1)
      for item in (1...count).reversed() { stack.rawSet(-Int32(item) - 1, item: Int64(item)) }
      self = .many(LuaReference(popping: stack), count)
    }
  }

  /// Pushes them, and returns their number. [-0, +count, raises: -]
  func push(on stack: LuaStack) -> Int {
    switch self {
    case .none: return 0
    case .one(let value):
      stack.push(value)
      return 1
    case .many(let table, let count):
      guard stack.reserve(count + 1) else { return 0 }
      stack.push(table)
      let index = stack.absolute(-1)
      for item in 1...count { _ = stack.rawGet(index, item: Int64(item)) }
      stack.rotate(index, -1)
      stack.pop()
      return count
    }
  }
}
