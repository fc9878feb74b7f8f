// What few tasks have, apart from the task itself, so that a hundred thousand sleeping ones are
// small.

internal import LuaEmbed
internal import MoonloopCore

/// What a task has once it has a scope, an awaiter, a result or a failure.
final class TaskExtras {
  var name = HandleName.none  // a long one, which counts as memory
  var modesCharge: MemoryCharge?
  var waitModes: [ModeName] = []
  var children = TaskChildren()
  var placeInParent = 0
  var placeAmongWaiters = 0
  var failure: TaskFailure?
  var values = TaskValues.none
  var waiters = TaskWaiters()
  var raised: TaskFailure?
  var onError: LuaReference?
  var whenEnded: ((ScriptTask) -> Void)?
}

extension ScriptTask {
  private var made: TaskExtras {
    if let extras { return extras }
    let fresh = TaskExtras()
    extras = fresh
    return fresh
  }

  func setName(_ newName: HandleName) {
    name = newName.text
    if newName.isLong { made.name = newName }
  }

  /// Keeps what counts its modes as memory, if they are many.
  func setCharge(ofModes charge: MemoryCharge?) {
    if let charge { made.modesCharge = charge }
  }

  /// The private modes of the calls that wait for it or an owner of it (D50).
  var waitModes: [ModeName] {
    get { extras?.waitModes ?? [] }
    set { if extras != nil || !newValue.isEmpty { made.waitModes = newValue } }
  }

  var children: TaskChildren {
    get { extras?.children ?? TaskChildren() }
    _modify { yield &made.children }
  }

  var placeAmongWaiters: Int {
    get { extras?.placeAmongWaiters ?? 0 }
    set { made.placeAmongWaiters = newValue }
  }

  var placeInParent: Int {
    get { extras?.placeInParent ?? 0 }
    set { made.placeInParent = newValue }
  }

  var failure: TaskFailure? {
    get { extras?.failure }
    set { if extras != nil || newValue != nil { made.failure = newValue } }
  }

  var values: TaskValues {
    get { extras?.values ?? .none }
    set { made.values = newValue }
  }

  /// The tasks that await it.
  var waiters: TaskWaiters {
    get { extras?.waiters ?? TaskWaiters() }
    _modify { yield &made.waiters }
  }

  /// The failure of another task that was last raised in this one, for its traceback.
  var raised: TaskFailure? {
    get { extras?.raised }
    set { if extras != nil || newValue != nil { made.raised = newValue } }
  }

  var onError: LuaReference? {
    get { extras?.onError }
    set { if extras != nil || newValue != nil { made.onError = newValue } }
  }

  /// Called once when it has ended, in whatever way; set by its maker.
  var whenEnded: ((ScriptTask) -> Void)? {
    get { extras?.whenEnded }
    set { if extras != nil || newValue != nil { made.whenEnded = newValue } }
  }

  func tellOfEnd() {
    connection.take()?.endIfUnused()
    guard let tell = extras?.whenEnded else { return }
    extras?.whenEnded = nil
    tell(self)
  }

  /// Takes all that await it, in the order in which they began to.
  func takeWaiters() -> [ScriptTask] { extras?.waiters.takeAll() ?? [] }
}
