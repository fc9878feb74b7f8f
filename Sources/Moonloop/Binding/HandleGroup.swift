// How many handles scripts may have.

internal import LuaEmbed

/// The groups that `ml.limit { handles }` limits, each separately. The loop itself limits timers.
enum HandleGroup: String {
  case items = "handles"
  case tasks
  case performs
  case channels = "channels and semaphores"
  case files = "open files"
  case others = "handles of luv and LuaSocket"
  case notifications = "notifications that wait"
}

/// Counts the handles of a group that has no list. Loop thread only.
final class HandleTally {
  private(set) var count = 0

  func add(_ change: Int) { count += change }

  /// Counts as one handle for as long as it lives.
  struct Place: ~Copyable {
    private let tally: HandleTally

    init(_ tally: HandleTally) {
      self.tally = tally
      tally.count += 1
    }

    deinit { tally.count -= 1 }
  }
}

extension HostCall {
  /// Like `requireOpen`; also refuses to make more than `ml.limit` allows.
  /// - Parameter new: How many handles the call makes.
  func requireRoom(for group: HandleGroup = .items, new: Int = 1) throws(ScriptMistake) {
    try requireOpen()
    let runtime = runtime
    let limit = runtime.handles.limit
    if group.count(in: runtime) + new <= limit { return }
    runtime.state.collect()  // perhaps some of them are garbage
    let count = group.count(in: runtime)
    if count + new <= limit { return }
    let excess =
      count < limit ? "would be exceeded: there are \(count), this makes \(new) more" : "is reached"
    throw mistake("the limit of \(limit) \(group.rawValue) \(excess); see ml.limit")
  }
}

extension HandleGroup {
  /// How many there are. During a reload, items that the new generation may make again do not
  /// count: they are either replaced or ended.
  fileprivate func count(in runtime: Runtime) -> Int {
    switch self {
    case .items: runtime.handles.itemCount - (runtime.generations.load?.oldItems ?? 0)
    case .tasks: runtime.tasks.count - (runtime.generations.load?.oldTasks ?? 0)
    case .performs: runtime.requests.count
    case .channels: runtime.handles.channels.count
    case .files: runtime.handles.files.count
    case .others: runtime.handles.others.count
    case .notifications: runtime.handles.notifications.count
    }
  }
}
